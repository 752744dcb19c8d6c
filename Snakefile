"""From raw files to every figure, table and claim of the paper: snakemake --cores 8."""

import sys
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(workflow.basedir) / "src"))

from snakemake.exceptions import WorkflowError
from snakemake.utils import min_version

from cooperation import configuration
from cooperation.configuration import ARCHIVES, CLAIMS, EXPECTED, PUBLISHED
from cooperation.conditions import ORACLE_CONDITIONS, READINGS, Condition
from cooperation.models import MODELS
from cooperation.files import InputError
from cooperation.plain_yaml import check_file
from cooperation.provenance import sources
from cooperation.settings import flags

min_version("9.27")


# Snakemake would take the last of keys that stand twice, and names no line.
try:
    check_file("config.yaml")
except InputError as error:
    raise WorkflowError(str(error))


configfile: "config.yaml"


try:
    experiment = configuration.read(config)
    configuration.check_given(experiment)
except InputError as error:
    raise WorkflowError(f"config.yaml or --config: {error}")


include: "workflow/rules/common.smk"
include: "workflow/rules/steps.smk"
include: "workflow/rules/raw.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/play.smk"
include: "workflow/rules/manual.smk"
include: "workflow/rules/report.smk"


if experiment.weights and TALKERS:

    include: "workflow/rules/weights.smk"


if experiment.controlled:

    include: "workflow/rules/controls.smk"


rule all:
    input:
        rules.summarise.output,
        rules.corpus.output,
        SHOWN_WHY,
        rules.page.output,


# What a profile sets for a kind of rule (set-resources) is meant for all of that kind.
for each in workflow.rules:
    given = workflow.resource_settings.overwrite_resources
    each.resources.update(given.get(each.name, given.get(kind_of(each.name), {})))
