"""From raw files to games: what a data set needs, be it the chosen one or a world of the controls."""

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
    for path in ["config.yaml", *workflow.overwrite_configfiles]:
        check_file(str(path))
except InputError as error:
    raise WorkflowError(str(error))


configfile: "config.yaml"


try:
    experiment = configuration.read(config)
    configuration.check_given(experiment)
except InputError as error:
    raise WorkflowError(f"config.yaml or --config: {error}")


include: "rules/common.smk"
include: "rules/steps.smk"
include: "rules/raw.smk"
include: "rules/data.smk"
include: "rules/train.smk"
include: "rules/play.smk"
