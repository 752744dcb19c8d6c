# Rules that play: name → folder of the bots, model, and the conditions that each job plays.
GAMES = {name: ("", *of_job) for name, of_job in experiment.jobs().items()}
# The weights of the image loss: bots trained with each, who talk themselves or hear people talk.
TALKERS = [
    name
    for name, condition in experiment.conditions.get("dialog", {}).items()
    if condition in (Condition(), Condition(script="dialog"))
]
if experiment.weights and TALKERS:
    GAMES["play_weighted"] = ("weights/{weight}/", "dialog", TALKERS)


def conditions_of(model, names, wildcards):
    """Name → settings of the conditions that a job plays."""
    conditions = experiment.conditions[model.format(**wildcards)]
    return {
        name: conditions[name] for name in (name.format(**wildcards) for name in names)
    }


def condition_flags(conditions):
    return shlex.join(
        f"--condition={name}={json.dumps(asdict(condition))}"
        for name, condition in conditions.items()
    )


for rule_name, (folder, model, names) in GAMES.items():
    bots = f"{folder}{model}-seed{{seed}}"
    wildcard = [part for part in (model, *names) if "{" in part]
    stem = "_".join([rule_name, *wildcard, "seed{seed}", "{reading}"])

    rule:
        name:
            rule_name
        input:
            checkpoint=f"{CHECKPOINTS}/{bots}.safetensors",
            dialogs=f"{DATA}/dialogs.h5",
            features=f"{DATA}/features.h5",
            # The condition none: what is said until a late start, and what a swap puts in place.
            control=lambda wildcards, bots=bots, model=model, names=names: (
                f"{RESULTS}/{bots}/{{reading}}/none.h5".format(**wildcards)
                if "none" not in names
                and any(
                    condition.needs_control
                    for condition in conditions_of(model, names, wildcards).values()
                )
                else []
            ),
            code=sources("play"),
        output:
            [f"{RESULTS}/{bots}/{{reading}}/{name}.h5" for name in names],
        log:
            f"logs/{experiment.dataset}/{folder}{stem}.log",
        benchmark:
            f"logs/{experiment.dataset}/{folder}{stem}.tsv"
        conda:
            "../envs/torch.yaml"
        threads: experiment.data.threads
        params:
            conditions=lambda wildcards, model=model, names=names: condition_flags(
                conditions_of(model, names, wildcards)
            ),
            out=lambda _, output: Path(output[0]).parent,
            dataset=experiment.dataset,
            playing=flagged(experiment.data.playing),
            control=lambda _, input: (
                f"--control {shlex.quote(str(input.control))}" if input.control else ""
            ),
        shell:
            "python -m cooperation play --checkpoint {input.checkpoint:q} --dialogs {input.dialogs:q}"
            " --features {input.features:q} {params.control} --out {params.out:q} --reading {wildcards.reading}"
            " --dataset {params.dataset:q} {params.playing} {params.conditions} > {log:q} 2>&1"
