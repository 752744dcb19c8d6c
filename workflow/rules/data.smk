RAW = f"{DATA}/raw"


if experiment.data.source == "miniature":

    rule miniature:
        input:
            code=sources("miniature"),
        output:
            expand(f"{RAW}/visdial_0.9_{{split}}.zip", split=["train", "val"]),
            expand(f"{RAW}/{{split}}2014.zip", split=["train", "val"]),
        log:
            f"logs/{experiment.dataset}/miniature.log",
        conda:
            "../envs/torch.yaml"
        params:
            out=lambda _, output: Path(output[0]).parent,
            flags=flagged(experiment.data.steps["raw"]),
        shell:
            "python -m cooperation miniature --out {params.out:q} {params.flags} > {log:q} 2>&1"


if experiment.data.source == "genuine":

    rule genuine:
        input:
            dialogs=experiment.data.files["dialogs"],
            code=sources("genuine"),
        output:
            expand(f"{RAW}/visdial_0.9_{{split}}.zip", split=["train", "val"]),
            expand(f"{RAW}/{{split}}2014.zip", split=["train", "val"]),
        log:
            f"logs/{experiment.dataset}/genuine.log",
        conda:
            "../envs/torch.yaml"
        params:
            out=lambda _, output: Path(output[0]).parent,
            flags=flagged(experiment.data.steps["raw"]),
        shell:
            "python -m cooperation genuine --dialogs {input.dialogs:q} --out {params.out:q} {params.flags}"
            " > {log:q} 2>&1"


rule encode:
    input:
        train=f"{RAW}/visdial_0.9_train.zip",
        val=f"{RAW}/visdial_0.9_val.zip",
        code=sources("encode"),
    output:
        f"{DATA}/dialogs.h5",
    log:
        f"logs/{experiment.dataset}/encode.log",
    conda:
        "../envs/torch.yaml"
    params:
        flags=flagged(experiment.data.steps["text"]),
    shell:
        "python -m cooperation encode --train {input.train:q} --val {input.val:q} --out {output:q}"
        " {params.flags} > {log:q} 2>&1"


rule extract:
    input:
        images=f"{RAW}/{{split}}2014.zip",
        code=sources("extract"),
    output:
        f"{DATA}/fc7_{{split}}.h5",
    log:
        f"logs/{experiment.dataset}/extract_{{split}}.log",
    conda:
        "../envs/torch.yaml"
    threads: experiment.data.threads
    params:
        flags=flagged(experiment.data.steps["pictures"]),
    shell:
        "python -m cooperation extract --images {input.images:q} --split {wildcards.split} --out {output:q}"
        " {params.flags} > {log:q} 2>&1"


rule normalise:
    input:
        train=f"{DATA}/fc7_train.h5",
        val=f"{DATA}/fc7_val.h5",
        code=sources("normalise"),
    output:
        f"{DATA}/features.h5",
    log:
        f"logs/{experiment.dataset}/normalise.log",
    conda:
        "../envs/torch.yaml"
    params:
        flags=flagged(experiment.data.steps["features"]),
    shell:
        "python -m cooperation normalise --train {input.train:q} --val {input.val:q} --out {output:q}"
        " {params.flags} > {log:q} 2>&1"
