import csv
import json
import re
import shlex
from dataclasses import replace

# The package is run from its sources, so that no environment has to have it installed. It ends when this process does.
shell.prefix(
    f"export PYTHONPATH={shlex.quote(str(Path(workflow.basedir, 'src')))} COOPERATION_RUNNER=$PPID; "
)


wildcard_constraints:
    model="|".join(MODELS),
    seed=r"\d+",
    shard=r"\d+",
    shards=r"\d+",
    reading="|".join(READINGS),


def flagged(settings):
    return shlex.join(flags(settings))


def raw(name):
    """What says that a raw file is there: itself where a rule makes it, else the note that it was checked."""
    return (
        f"{RAW}/{name}.ready"
        if experiment.data.source == "visdial"
        else f"{RAW}/{name}"
    )


def noted(path):
    """The raw file that `raw` or its note stands for."""
    return path.removesuffix(".ready")


def shard_of(split):
    """The features of a share of a split's pictures, as they are before normalising."""
    return f"{DATA}/fc7_{split}_{{shard}}of{{shards}}.h5"


def extracted(split):
    """The files of all features of a split, as they are before normalising."""
    if experiment.data.source == "authors":
        return [experiment.data.files["images"]]
    shards = experiment.data.shards
    return expand(shard_of(split), shard=range(1, shards + 1), shards=shards)


def download_flags(wildcards):
    source = experiment.data.downloads[wildcards.file]
    words = ["--url", *source.addresses, "--size", str(source.size)]
    words += ["--sha256", source.sha256] if source.sha256 else []
    if wildcards.file in experiment.data.files:
        words += ["--have", experiment.data.files[wildcards.file]]
    return shlex.join(words)


def look_first(_, output):
    """What makes, fetches or adopts raw files begins by looking whether all that is needed can be had.

    It is no rule: where it had to run again, Snakemake would not see what else must. As a function of the output it is
    no setting either, whose change would call for the files to be made again.
    """
    given = config["datasets"][experiment.dataset]
    needs = {
        key: given[key] for key in ("source", "files", "downloads") if key in given
    }
    chosen = {"dataset": experiment.dataset, "datasets": {experiment.dataset: needs}}
    return (
        f"printf %s {shlex.quote(json.dumps(chosen))} |"
        f" python -m cooperation check --config - --folder {shlex.quote(RAW)}"
    )


def training_flags(wildcards):
    training = experiment.data.training[wildcards.model]
    weight = float(wildcards.get("weight", training.image_weight))
    training = replace(training, seed=int(wildcards.seed), image_weight=weight)
    return shlex.join(flags(experiment.data.sizes) + flags(training))


def kind_of(name):
    """What a profile calls this job's kind: a world's are as others, and several train or play."""
    # The longest first, as one name may begin another.
    worlds = sorted(experiment.worlds, key=len, reverse=True)
    kind = re.sub(f"^({'|'.join(map(re.escape, worlds))})_", "", name)
    return re.sub("^(play|train)_.*", r"\1", kind)


def world_config(world):
    """The configuration of a control: another data set, its own conditions, one seed, one reading."""
    return {
        "dataset": world,
        "seeds": [experiment.seeds[0]],
        "readings": ["written"],
        "conditions": {"dialog": config["controls"]["conditions"]},
        "datasets": config["datasets"],
    }


def expectations(_):
    """What is expected of the controls, refused before any job if it is of a game that none of them plays."""
    played = {
        "scripted": ORACLE_CONDITIONS,
        **dict.fromkeys(experiment.worlds, experiment.control_conditions),
    }
    with open(EXPECTED, encoding="utf-8", errors="replace") as file:
        lines = csv.DictReader(file)
        for column in {"world", "conditions"} - set(lines.fieldnames or ()):
            raise WorkflowError(
                f"{EXPECTED}: no column {column!r}; the first line names them"
            )
        for line in lines:
            world, conditions = line.get("world"), line.get("conditions") or ""
            place = f"{EXPECTED}, line {lines.line_num}"
            if world not in played:
                raise WorkflowError(
                    f"{place}: no world {world!r}; take the line out, or choose from {', '.join(played)}"
                )
            for condition in sorted(set(conditions.split()) - set(played[world])):
                raise WorkflowError(
                    f"{place}: {world!r} does not play {condition!r}; choose from {', '.join(played[world])}"
                )
    return EXPECTED


# The smaller first: what is wrong with it shows before the other's hours.
SPLITS = ("val", "train")
DATA = f"data/{experiment.dataset}"
RAW = f"{DATA}/raw"
# VGG-16's, where it isn't to be untrained.
WEIGHTS = [name for name in experiment.data.downloads if name not in ARCHIVES]
CHECKPOINTS = f"checkpoints/{experiment.dataset}"
RESULTS = f"results/{experiment.dataset}"
REPORT = f"reports/{experiment.dataset}"
