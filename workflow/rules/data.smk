if experiment.data.source == "authors":

    rule adopt:
        input:
            **experiment.data.files,
            code=sources("adopt"),
        output:
            f"{DATA}/dialogs.h5",
        log:
            f"logs/{experiment.dataset}/adopt.log",
        benchmark:
            f"logs/{experiment.dataset}/adopt.tsv"
        conda:
            "../envs/torch.yaml"
        params:
            check=look_first,
        shell:
            "{{ {params.check} && python -m cooperation adopt --data {input.data:q} --params {input.params:q}"
            " --images {input.images:q} --out {output:q}; }} > {log:q} 2>&1"

else:

    rule encode:
        input:
            train=raw("visdial_0.9_train.zip"),
            val=raw("visdial_0.9_val.zip"),
            code=sources("encode"),
        output:
            f"{DATA}/dialogs.h5",
        log:
            f"logs/{experiment.dataset}/encode.log",
        benchmark:
            f"logs/{experiment.dataset}/encode.tsv"
        conda:
            "../envs/torch.yaml"
        params:
            train=lambda _, input: noted(input.train),
            val=lambda _, input: noted(input.val),
            flags=flagged(experiment.data.steps["text"]),
        shell:
            "python -m cooperation encode --train {params.train:q} --val {params.val:q} --out {output:q}"
            " {params.flags} > {log:q} 2>&1"

    # A killed run goes on with the shards that are missing, and a cluster makes them side by side. One job for a share of
    # both splits, for importing torchvision takes as long as hundreds of small pictures.
    rule extract:
        input:
            images=[raw(f"{split}2014.zip") for split in SPLITS],
            weights=list(map(raw, WEIGHTS)),
            code=sources("extract"),
        output:
            [shard_of(split) for split in SPLITS],
        log:
            f"logs/{experiment.dataset}/extract_{{shard}}of{{shards}}.log",
        benchmark:
            f"logs/{experiment.dataset}/extract_{{shard}}of{{shards}}.tsv"
        conda:
            "../envs/torch.yaml"
        threads: experiment.data.threads
        params:
            steps=extractions,
        shell:
            "python -m cooperation {params.steps} > {log:q} 2>&1"


rule normalise:
    input:
        train=extracted("train"),
        val=extracted("val"),
        code=sources("normalise"),
    output:
        f"{DATA}/features.h5",
    log:
        f"logs/{experiment.dataset}/normalise.log",
    benchmark:
        f"logs/{experiment.dataset}/normalise.tsv"
    conda:
        "../envs/torch.yaml"
    params:
        flags=flagged(experiment.data.steps["features"]),
    shell:
        "python -m cooperation normalise --train {input.train:q} --val {input.val:q} --out {output:q}"
        " {params.flags} > {log:q} 2>&1"
