rule play:
    input:
        checkpoint=f"{CHECKPOINTS}/{{model}}-seed{{seed}}.safetensors",
        dialogs=f"{DATA}/dialogs.h5",
        features=f"{DATA}/features.h5",
        control=control,
        code=sources("play"),
    output:
        f"{RESULTS}/{{model}}-seed{{seed}}/{{reading}}/{{condition}}.h5",
    log:
        f"logs/{experiment.dataset}/play_{{model}}-seed{{seed}}_{{reading}}_{{condition}}.log",
    conda:
        "../envs/torch.yaml"
    threads: experiment.data.threads
    params:
        condition=lambda wildcards: flagged(condition_of(wildcards)),
        dataset=experiment.dataset,
        playing=flagged(experiment.data.playing),
        control=lambda _, input: (
            f"--control {shlex.quote(str(input.control))}" if input.control else ""
        ),
    shell:
        "python -m cooperation play --checkpoint {input.checkpoint:q} --dialogs {input.dialogs:q}"
        " --features {input.features:q} {params.control} --out {output:q} --reading {wildcards.reading}"
        " --name {wildcards.condition:q} --dataset {params.dataset:q}"
        " {params.playing} {params.condition} > {log:q} 2>&1"
