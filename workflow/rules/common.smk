import json
import os
import re
import shlex
import sys
from functools import partial
from pathlib import Path

sys.path[:0] = [str(Path(workflow.basedir) / name) for name in ("src", "workflow")]
from snakemake.exceptions import WorkflowError
from snakemake.logging import logger
from snakemake.utils import min_version, update_config

from cooperation.config import experiment as configuration
from cooperation.config.conditions import ORACLE_CONDITIONS, ORACLE_WORLDS
from cooperation.config.expected import check_expected
from cooperation.config.training import files_of
from cooperation.config.interventions import check_conditions, read_interventions
from cooperation.reports.products import products
from cooperation.io.files import InputError
from cooperation.io.plain_yaml import read_if_there
from cooperation.io.provenance import sources
from cooperation.io.settings import flags, typed
from cooperation.io.stopping import Stopped
from dvc_links import unlink_memory
from plan import Plan
from slurm_reasons import Reasons

min_version("9.27")
stopping = Stopped()
logger.addFilter(stopping)
logger.addFilter(Reasons())

# Snakemake would take the last of keys that stand twice, and names no line.
written = {}
try:
    for path in ["config.yaml", *workflow.overwrite_configfiles]:
        update_config(written, read_if_there(str(path)))
except InputError as error:
    raise WorkflowError(str(error))


# Snakemake reads these as names of wildcards, in paths of its own, too.
if re.search("[{}]", workflow.basedir):
    raise WorkflowError(
        f"{workflow.basedir}: Snakemake reads braces in a path as something else; move the project to another folder"
    )

# Jobs find the Python that runs Snakemake, also where its environment was not entered.
found = os.get_exec_path()
if str(Path(sys.executable).parent) not in found:
    os.environ.update(PATH=os.pathsep.join([str(Path(sys.executable).parent), *found]))

# The settings that the commands read: config.yaml, or what --config and --configfile make of it (`onstart`, Snakefile).
SETTINGS = ".snakemake/config.json" if config else "config.yaml"

# The package is run from its sources, so that no environment has to have it installed; a job ends when its runner does.
# Snakemake formats this text, so braces are doubled.
PACKAGE = shlex.quote(str(Path(workflow.basedir, "src")))
shell.prefix(
    f"export PYTHONPATH={PACKAGE} COOPERATION_RUNNER=$PPID COOPERATION_CONFIG={SETTINGS};"
    ' cooperation() {{ python -m cooperation "$@"; }}; '
)


configfile: "config.yaml"


config.update(typed(config, written))


try:
    experiment = configuration.read(config)
    configuration.check_given(experiment)
    check_conditions(experiment)
except InputError as error:
    raise WorkflowError(f"config.yaml or --config: {error}")

DATASET = experiment.dataset
WORLDS = experiment.worlds if experiment.controlled else ()
logger.addFilter(Plan(workflow, experiment.data.sizes))


def data_of(wildcards):
    """The settings of a job's data set."""
    return experiment.datasets[wildcards.dataset]


def threads(wildcards):
    return data_of(wildcards).threads


def device(wildcards, resources):
    """A job for which a profile asks for a GPU uses it or fails, unless who runs the workflow chose the device."""
    asked = resources.get("gpu") or "gpu" in str(resources.get("gres", ""))
    return "COOPERATION_DEVICE=${COOPERATION_DEVICE:-cuda} " if asked else ""


def settings_of(conditions):
    """What a job's conditions are, by name, for Snakemake to compare."""
    return {name: condition.settings for name, condition in conditions.items()}


def kinds_of(conditions):
    """Files of the kinds that conditions use, by name: others' edits play nothing again."""
    names = (condition.settings.get("kind", "") for condition in conditions)
    return {name.replace("-", "_") for name in names}


def either(names):
    """A pattern for a wildcard; without names it fits nothing."""
    return "|".join(map(re.escape, names)) or "(?!)"


def only(which):
    """A pattern for the data sets, of those that are used here, for which `which` holds."""
    used = dict.fromkeys([DATASET, experiment.bots_of(DATASET), *WORLDS])
    used |= {experiment.datasets[name].raw_of or name: None for name in used}
    return either(name for name in used if which(experiment.datasets[name]))


wildcard_constraints:
    dataset=either(experiment.datasets),
    model=either(experiment.models),
    seed=r"\d+",
    shard=r"\d+",
    shards=r"\d+",
    reading=either(configuration.READINGS),
    condition=either(
        dict.fromkeys(
            name
            for dataset in (DATASET, *WORLDS)
            for conditions in experiment.conditions_of(dataset).values()
            for name in conditions
        )
    ),


def step(name):
    """The settings of a step that makes a data set, as flags; a data set may not need the step."""
    return lambda wildcards: " ".join(
        shlex.join(flags(settings))
        for key, settings in data_of(wildcards).steps.items()
        if key == name
    )


def awaited(dataset, which):
    """The files of a data set that a job waits for: those themselves, or the notes that downloads were checked."""
    inputs = experiment.datasets[dataset].inputs
    return [
        inputs.awaited(file, experiment.raw(dataset))
        for files in which(inputs).values()
        for file in files
    ]


def given(dataset, which):
    """The same files as a command reads them, as flags."""
    inputs = experiment.datasets[dataset].inputs
    return shlex.join(inputs.flags(which(inputs), experiment.raw(dataset)))


def waits(which):
    """The files that a job waits for, of its data set."""
    return lambda wildcards: awaited(wildcards.dataset, which)


def reads(which):
    """The same files as a command reads them, as flags."""
    return lambda wildcards: given(wildcards.dataset, which)


def seen(inputs):
    """The pictures that are guessed, where there are any."""
    return {"pictures": inputs.of_extraction["val"]} if inputs.of_extraction else {}


def illustrated(inputs):
    """The pictures that manual interventions are shown with, where there are any."""
    return seen(inputs) if experiment.manual_games() else {}


def options(model):
    """What bots of a builder's own are made with, as flags."""
    return ["--options", json.dumps(model.options)] if model.options else []


def files_of_bots(model):
    """Files of a builder's own that the bots' options name, but for those that the workflow makes."""
    made = Path("data", DATASET)
    return [
        str(path) for path in files_of(model.options) if not path.is_relative_to(made)
    ]


def weights(inputs):
    return {"weights": (inputs.weights,)} if inputs.weights else {}


def captions(inputs):
    """COCO's captions, where texts of manual interventions may use them."""
    return {"captions": (inputs.captions,)} if inputs.captions else {}


def download(wildcards):
    """Where a file comes from, as flags."""
    inputs, file = data_of(wildcards).inputs, wildcards.file
    source = inputs.downloads[file]
    words = ["--url", *source.addresses, "--size", str(source.size)]
    words += ["--sha256", source.sha256] if source.sha256 else []
    words += ["--holds", str(source.holds)] if source.holds else []
    words += ["--have", inputs.copies[file]] if file in inputs.copies else []
    return shlex.join(words)


def extracted(wildcards):
    """All features as they are before normalising: given, or extracted in shares."""
    shards = data_of(wildcards).shards
    shares = "data/{{dataset}}/fc7_{shard}of{shards}.h5"
    return data_of(wildcards).inputs.features or expand(
        shares, shard=range(1, shards + 1), shards=shards
    )


def few(wildcards):
    """The dialogs whose pictures alone are wanted; nothing where all are."""
    chosen = (
        "text" in data_of(wildcards).steps and data_of(wildcards).steps["text"].first
    )
    return f"data/{wildcards.dataset}/dialogs.h5" if chosen else []


def lists(wildcards):
    """The dialogs whose images' features others made, and the lists of their ids; nothing where there are none."""
    inputs = data_of(wildcards).inputs
    dialogs = [f"data/{wildcards.dataset}/dialogs.h5"] if inputs.given else []
    return [
        *dialogs,
        *awaited(wildcards.dataset, lambda _: dict([inputs.ids or ("", ())])),
    ]


def by_others(wildcards):
    """How others' features are read, as flags."""
    inputs, raw = data_of(wildcards).inputs, experiment.raw(wildcards.dataset)
    words = (
        ["--dialogs", f"data/{wildcards.dataset}/dialogs.h5"] if inputs.given else []
    )
    found = [inputs.path(file, raw) for file in (inputs.ids or ("", ()))[1]]
    words += ["--ids", *found] if found else []
    words += [word for pair in inputs.arrays.items() for word in pair]
    return "".join(f" {shlex.quote(word)}" for word in words)


def checkpoint(wildcards, model=None):
    """The bots that play on a data set: trained on it, or on another."""
    model, dataset = model or wildcards.model, experiment.bots_of(wildcards.dataset)
    return f"checkpoints/{dataset}/{model}-seed{wildcards.seed}.safetensors"


def splits(wildcards):
    """The splits whose features are made, as a flag; nothing where it is both."""
    found = data_of(wildcards).inputs.splits
    return "" if len(found) == 2 else f" --splits {found[0]}"


def trained(wildcards):
    """How a model's bots are trained, as flags."""
    how = experiment.training(wildcards.dataset, wildcards.model, int(wildcards.seed))
    return shlex.join(flags(data_of(wildcards).sizes) + flags(how))


def played(wildcards):
    """How games are played, as flags."""
    return shlex.join(flags(data_of(wildcards).playing))


def condition(wildcards):
    conditions = experiment.conditions_of(wildcards.dataset).get(wildcards.model, {})
    if wildcards.condition not in conditions:
        raise WorkflowError(
            f"{wildcards.model} has no condition {wildcards.condition!r} on {wildcards.dataset};"
            f" choose from {', '.join(conditions) or 'another model'}"
        )
    return conditions[wildcards.condition]


def baseline(wildcards):
    """The unperturbed game, where a condition needs it: until a late start, or for what other dialogs' bots say."""
    path = "results/{dataset}/{model}-seed{seed}/{reading}/none.h5"
    return path if condition(wildcards).needs_baseline else []


def baselines(model, folder):
    """The unperturbed game of a builder's bots under each reading, where a condition needs it; folder: of results."""

    def needed(wildcards):
        one = experiment.conditions[model][wildcards.condition]
        found = [f"{folder}/{reading}/none.h5" for reading in experiment.readings]
        return found if one.needs_baseline else []

    return needed


def chosen(model):
    """What a job of a builder's bots plays, for Snakemake to compare: one condition, or all."""
    every = settings_of(experiment.conditions[model])
    return lambda wildcards: every.get(wildcards.get("condition"), every)


def shown(name):
    """A file of the report, with what `snakemake --report` says of it: one form of each table and figure."""
    path, stem = f"reports/{DATASET}/{name}", Path(name).stem
    kind = stem.split("_")[0]
    if kind not in CAPTIONS or not name.endswith((".html", ".svg")):
        return path
    category, caption = CAPTIONS[kind]
    return report(path, f"../report/{caption}.rst", category, labels={kind: stem})


def expected(_):
    """What must come out, refused before any job where it is of a game that no world plays."""
    try:
        check_expected(
            configuration.EXPECTED,
            read_interventions(configuration.WORLD_INTERVENTIONS),
            experiment,
        )
    except InputError as error:
        raise WorkflowError(str(error))
    return configuration.EXPECTED
