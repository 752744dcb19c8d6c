import json
import re
import shlex
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(workflow.basedir) / "src"))

from snakemake.exceptions import WorkflowError
from snakemake.utils import min_version

from cooperation.config import experiment as configuration
from cooperation.config.conditions import ORACLE_CONDITIONS
from cooperation.config.expected import check_expected
from cooperation.config.interventions import check_conditions, read_interventions
from cooperation.reports.products import products
from cooperation.io.files import InputError
from cooperation.io.plain_yaml import check_file
from cooperation.io.provenance import sources
from cooperation.io.settings import flags

min_version("9.27")

# Snakemake would take the last of keys that stand twice, and names no line.
try:
    for path in ["config.yaml", *workflow.overwrite_configfiles]:
        check_file(str(path))
except InputError as error:
    raise WorkflowError(str(error))


# The settings that the commands read: config.yaml, or what --config and --configfile make of it (`onstart`, Snakefile).
SETTINGS = ".snakemake/config.json" if config else "config.yaml"

# The package is run from its sources, so that no environment has to have it installed; a job ends when its runner does.
# Snakemake formats this text, so braces are doubled.
PACKAGE = (
    shlex.quote(str(Path(workflow.basedir, "src")))
    .replace("{", "{{")
    .replace("}", "}}")
)
shell.prefix(
    f"export PYTHONPATH={PACKAGE} COOPERATION_RUNNER=$PPID COOPERATION_CONFIG={SETTINGS};"
    ' cooperation() {{ python -m cooperation "$@"; }}; '
)


configfile: "config.yaml"


try:
    experiment = configuration.read(config)
    configuration.check_given(experiment)
    check_conditions(experiment)
except InputError as error:
    raise WorkflowError(f"config.yaml or --config: {error}")

DATASET = experiment.dataset
WORLDS = experiment.worlds if experiment.controlled else ()


def data_of(wildcards):
    """The settings of a job's data set."""
    return experiment.datasets[wildcards.dataset]


def threads(wildcards):
    return data_of(wildcards).threads


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
    return either(name for name in used if which(experiment.datasets[name]))


wildcard_constraints:
    dataset=either(experiment.datasets),
    model=either(experiment.models),
    seed=r"\d+",
    shard=r"\d+",
    shards=r"\d+",
    reading=either(configuration.READINGS),


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
        inputs.awaited(file, f"data/{dataset}/raw")
        for files in which(inputs).values()
        for file in files
    ]


def given(dataset, which):
    """The same files as a command reads them, as flags."""
    inputs = experiment.datasets[dataset].inputs
    return shlex.join(inputs.flags(which(inputs), f"data/{dataset}/raw"))


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


def weights(inputs):
    return {"weights": (inputs.weights,)} if inputs.weights else {}


def download(wildcards):
    """Where a file comes from, as flags."""
    inputs, file = data_of(wildcards).inputs, wildcards.file
    source = inputs.downloads[file]
    words = ["--url", *source.addresses, "--size", str(source.size)]
    words += ["--sha256", source.sha256] if source.sha256 else []
    words += ["--have", inputs.copies[file]] if file in inputs.copies else []
    return shlex.join(words)


def extracted(wildcards):
    """All features as they are before normalising: given, or extracted in shares."""
    shards = data_of(wildcards).shards
    shares = "data/{{dataset}}/fc7_{shard}of{shards}.h5"
    return data_of(wildcards).inputs.features or expand(
        shares, shard=range(1, shards + 1), shards=shards
    )


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
    conditions = experiment.conditions_of(wildcards.dataset)[wildcards.model]
    return conditions[wildcards.condition]


def baseline(wildcards):
    """The unperturbed game, where a condition needs it: until a late start, or for what other dialogs' bots say."""
    path = "results/{dataset}/{model}-seed{seed}/{reading}/none.h5"
    return path if condition(wildcards).needs_baseline else []


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
