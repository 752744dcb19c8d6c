# The weight of the image loss: bots trained with each, who talk themselves or hear people talk.
TALKERS = [
    name
    for name, condition in experiment.conditions.get("dialog", {}).items()
    if condition in (Condition(), Condition(script="dialog"))
]


use rule train as train_weighted with:
    output:
        f"{CHECKPOINTS}/weights/{{weight}}/{{model}}-seed{{seed}}.safetensors",
    log:
        f"logs/{experiment.dataset}/train_{{model}}-seed{{seed}}_weight{{weight}}.log",
    params:
        flags=weighted_flags,


use rule play as play_weighted with:
    input:
        checkpoint=rules.train_weighted.output[0],
        dialogs=f"{DATA}/dialogs.h5",
        features=f"{DATA}/features.h5",
        control=[],
        code=sources("play"),
    output:
        f"{RESULTS}/weights/{{weight}}/{{model}}-seed{{seed}}/{{reading}}/{{condition}}.h5",
    log:
        f"logs/{experiment.dataset}/play_{{model}}-seed{{seed}}_{{reading}}_{{condition}}_weight{{weight}}.log",


rule weights:
    input:
        results=expand(
            f"{RESULTS}/weights/{{weight:g}}/dialog-seed{{seed}}/{experiment.readings[0]}/{{condition}}.h5",
            weight=experiment.weights,
            seed=experiment.seeds,
            condition=TALKERS,
        ),
        code=sources("weights"),
    output:
        multiext(f"{REPORT}/weights", ".csv", ".md", ".html"),
    log:
        f"logs/{experiment.dataset}/weights.log",
    conda:
        "../envs/report.yaml"
    threads: experiment.data.threads
    shell:
        "python -m cooperation weights {input.results:q} --out {output:q} > {log:q} 2>&1"
