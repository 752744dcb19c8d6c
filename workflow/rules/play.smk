# Rules that play: name → folder of the bots, model, and the conditions that each job plays under each reading.
GAMES = {name: ("", *of_job) for name, of_job in experiment.jobs().items()}
# The weights of the image loss: bots trained with each, who talk themselves or hear people talk.
TALKERS = [
    name
    for name, condition in experiment.conditions.get("dialog", {}).items()
    if condition in (Condition(), Condition(script="dialog"))
]
if experiment.weights and TALKERS:
    talking = {experiment.readings[0]: TALKERS}
    GAMES["play_weighted"] = ("weights/{weight}/", "dialog", talking)


for rule_name, (folder, model, readings) in GAMES.items():
    bots = f"{folder}{model}-seed{{seed}}"
    played = [
        f"{bots}/{reading}/{name}"
        for reading, names in readings.items()
        for name in names
    ]
    stem = "_".join(
        [rule_name, *re.findall("(?:seed)?{.*?}", played[0].removeprefix(folder))]
    )

    rule:
        name:
            rule_name
        input:
            checkpoint=f"{CHECKPOINTS}/{bots}.safetensors",
            dialogs=f"{DATA}/dialogs.h5",
            features=f"{DATA}/features.h5",
            control=control_of,
            code=sources("play"),
        output:
            [f"{RESULTS}/{path}.h5" for path in played],
        log:
            f"logs/{experiment.dataset}/{folder}{stem}.log",
        benchmark:
            f"logs/{experiment.dataset}/{folder}{stem}.tsv"
        conda:
            "../envs/torch.yaml"
        threads: experiment.data.threads
        params:
            steps=lambda wildcards, of_job=(bots, model, readings): games(
                wildcards, *of_job
            ),
        shell:
            "python -m cooperation {params.steps} > {log:q} 2>&1"
