rule train:
    input:
        dialogs=f"{DATA}/dialogs.h5",
        features=f"{DATA}/features.h5",
        code=sources("train"),
    output:
        f"{CHECKPOINTS}/{{model}}-seed{{seed}}.safetensors",
    log:
        f"logs/{experiment.dataset}/train_{{model}}-seed{{seed}}.log",
    benchmark:
        f"logs/{experiment.dataset}/train_{{model}}-seed{{seed}}.tsv"
    conda:
        "../envs/torch.yaml"
    threads: experiment.data.threads
    params:
        flags=training_flags,
    shell:
        "python -m cooperation train --dialogs {input.dialogs:q} --features {input.features:q} --out {output:q}"
        " {params.flags} > {log:q} 2>&1"
