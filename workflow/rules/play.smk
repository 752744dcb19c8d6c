def condition_of(wildcards):
    return experiment.conditions[wildcards.model][wildcards.condition]


def control(wildcards):
    """A condition that starts late takes the rounds before from the one without tampering."""
    if condition_of(wildcards).start > 1:
        return f"{RESULTS}/{wildcards.model}-seed{wildcards.seed}/{wildcards.reading}/none.h5"
    return []


rule play:
    input:
        checkpoint=f"{CHECKPOINTS}/{{model}}-seed{{seed}}.safetensors",
        dialogs=f"{DATA}/dialogs.h5",
        features=f"{DATA}/features.h5",
        control=control,
        code=sources("play"),
    output:
        f"{RESULTS}/{{model}}-seed{{seed}}/{{reading}}/{{condition}}.h5",
    params:
        condition=lambda wildcards: flagged(condition_of(wildcards)),
        playing=flagged(experiment.playing),
        control=lambda _, input: f"--control {shlex.quote(str(input.control))}" if input.control else "",
    log:
        f"logs/{experiment.dataset}/play_{{model}}-seed{{seed}}_{{reading}}_{{condition}}.log",
    threads: experiment.threads
    conda:
        "../envs/torch.yaml"
    shell:
        "python -m cooperation play --checkpoint {input.checkpoint:q} --dialogs {input.dialogs:q}"
        " --features {input.features:q} {params.control} --out {output:q} --reading {wildcards.reading}"
        " --name {wildcards.condition:q} --dataset {experiment.dataset:q}"
        " {params.playing} {params.condition} > {log:q} 2>&1"
