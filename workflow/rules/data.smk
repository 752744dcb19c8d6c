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

    # A killed run goes on with the shards that are missing, and a cluster makes them side by side.
    rule extract:
        input:
            images=raw("{split}2014.zip"),
            weights=list(map(raw, WEIGHTS)),
            code=sources("extract"),
        output:
            f"{DATA}/fc7_{{split}}_{{shard}}of{{shards}}.h5",
        log:
            f"logs/{experiment.dataset}/extract_{{split}}_{{shard}}of{{shards}}.log",
        benchmark:
            f"logs/{experiment.dataset}/extract_{{split}}_{{shard}}of{{shards}}.tsv"
        conda:
            "../envs/torch.yaml"
        threads: experiment.data.threads
        params:
            images=lambda _, input: noted(input.images),
            weights=lambda _, input: shlex.join(
                f"--weights={noted(note)}" for note in input.weights
            ),
            flags=flagged(experiment.data.steps["pictures"]),
        shell:
            "python -m cooperation extract --images {params.images:q} --split {wildcards.split} --out {output:q}"
            " --shard {wildcards.shard}/{wildcards.shards} {params.weights} {params.flags} > {log:q} 2>&1"


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
