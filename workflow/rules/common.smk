import shlex


# The package is run from its sources, so that no environment has to have it installed.
shell.prefix(f"export PYTHONPATH={shlex.quote(str(Path(workflow.basedir, 'src')))}; ")


wildcard_constraints:
    split="train|val",
    model="|".join(experiments.MODELS),
    seed=r"\d+",
    reading="|".join(experiments.READINGS),


def flagged(settings):
    return shlex.join(flags(settings))


DATA = f"data/{experiment.dataset}"
CHECKPOINTS = f"checkpoints/{experiment.dataset}"
RESULTS = f"results/{experiment.dataset}"
REPORT = f"reports/{experiment.dataset}"
