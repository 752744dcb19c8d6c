import shlex
from dataclasses import replace

# The package is run from its sources, so that no environment has to have it installed.
shell.prefix(f"export PYTHONPATH={shlex.quote(str(Path(workflow.basedir, 'src')))}; ")


wildcard_constraints:
    split="train|val",
    model="|".join(MODELS),
    seed=r"\d+",
    reading="|".join(READINGS),


def flagged(settings):
    return shlex.join(flags(settings))


def training_flags(wildcards):
    training = replace(experiment.data.training[wildcards.model], seed=int(wildcards.seed))
    return flagged(experiment.data.sizes) + " " + flagged(training)


def condition_of(wildcards):
    return experiment.conditions[wildcards.model][wildcards.condition]


def control(wildcards):
    """The condition `none`: what is said until a late start, and what a swap puts in place."""
    if condition_of(wildcards).needs_control:
        return f"{RESULTS}/{wildcards.model}-seed{wildcards.seed}/{wildcards.reading}/none.h5"
    return []


DATA = f"data/{experiment.dataset}"
CHECKPOINTS = f"checkpoints/{experiment.dataset}"
RESULTS = f"results/{experiment.dataset}"
REPORT = f"reports/{experiment.dataset}"
