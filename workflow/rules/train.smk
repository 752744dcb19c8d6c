from dataclasses import replace


def training_flags(wildcards):
    training = replace(experiment.training[wildcards.model], seed=int(wildcards.seed))
    return flagged(experiment.sizes) + " " + flagged(training)


rule train:
    input:
        dialogs=f"{DATA}/dialogs.h5",
        features=f"{DATA}/features.h5",
        code=sources("train"),
    output:
        f"{CHECKPOINTS}/{{model}}-seed{{seed}}.safetensors",
    params:
        flags=training_flags,
    log:
        f"logs/{experiment.dataset}/train_{{model}}-seed{{seed}}.log",
    threads: experiment.threads
    conda:
        "../envs/torch.yaml"
    shell:
        "python -m cooperation train --dialogs {input.dialogs:q} --features {input.features:q} --out {output:q}"
        " {params.flags} > {log:q} 2>&1"
