# From raw files to dialogs and image features. What a data set's files are is said by `config.inputs`.


# Sources that make their raw files; each makes others.
for source, made in {
    data.source: data.inputs.made for data in experiment.datasets.values()
}.items():
    if made:

        rule:
            name:
                source
            input:
                given=waits(lambda inputs: inputs.of_maker),
                code=sources(source, discovered=[source]),
            output:
                expand("data/{{dataset}}/raw/{file}", file=made),
            log:
                f"logs/{{dataset}}/{source}.log",
            benchmark:
                f"logs/{{dataset}}/{source}.tsv"
            wildcard_constraints:
                dataset=only(lambda data: data.source == source),
            conda:
                "../envs/torch.yaml"
            params:
                source=source,
                given=reads(lambda inputs: inputs.of_maker),
                settings=step("raw"),
            shell:
                "cooperation {params.source} {params.given}"
                " {params.settings}"
                " --out data/{wildcards.dataset}/raw"
                " > {log} 2>&1"


# Snakemake deletes what a rule declares before it makes it anew, and a file of 13 GB that a user put there is theirs. So
# what is declared is a note of the file's hash. Nor does the code count: a file that is there and right stays so, even
# deleted after use.
rule download:
    output:
        "data/{dataset}/raw/{file}.ready",
    log:
        "logs/{dataset}/download_{file}.log",
    benchmark:
        "logs/{dataset}/download_{file}.tsv"
    wildcard_constraints:
        dataset=only(lambda data: data.inputs.downloads),
    retries: 1
    localrule: True
    conda:
        "../envs/torch.yaml"
    params:
        source=download,
        patience=step("raw"),
    shell:
        "cooperation check --dataset {wildcards.dataset} > {log} 2>&1 &&"
        " cooperation download {params.source} {params.patience}"
        " --out data/{wildcards.dataset}/raw/{wildcards.file}"
        " --note {output}"
        " >> {log} 2>&1"


rule encode:
    input:
        files=waits(lambda inputs: inputs.of_reader),
        code=lambda wildcards: sources("encode", discovered=[data_of(wildcards).source]),
    output:
        "data/{dataset}/dialogs.h5",
    log:
        "logs/{dataset}/encode.log",
    benchmark:
        "logs/{dataset}/encode.tsv"
    conda:
        "../envs/torch.yaml"
    params:
        source=lambda wildcards: data_of(wildcards).source,
        files=reads(lambda inputs: inputs.of_reader),
        settings=step("text"),
    shell:
        "cooperation encode {params.source} {params.files}"
        " {params.settings}"
        " --out {output}"
        " > {log} 2>&1"


# A share of the pictures of both splits: a killed run goes on with the shares that are missing, and a cluster makes them
# side by side.
rule extract:
    input:
        pictures=waits(lambda inputs: inputs.of_extraction),
        weights=waits(weights),
        dialogs=few,
        code=sources("extract"),
    output:
        "data/{dataset}/fc7_{shard}of{shards}.h5",
    log:
        "logs/{dataset}/extract_{shard}of{shards}.log",
    benchmark:
        "logs/{dataset}/extract_{shard}of{shards}.tsv"
    conda:
        "../envs/torch.yaml"
    threads: threads
    params:
        pictures=reads(lambda inputs: inputs.of_extraction),
        weights=reads(weights),
        dialogs=lambda wildcards, input: "--dialogs " * bool(input.dialogs),
        settings=step("extraction"),
        device=device,
    shell:
        "{params.device}cooperation extract {params.pictures} {params.weights}"
        " {params.dialogs}{input.dialogs}"
        " --shard {wildcards.shard}/{wildcards.shards}"
        " {params.settings}"
        " --out {output}"
        " > {log} 2>&1"


rule normalise:
    input:
        features=extracted,
        lists=lists,
        code=sources("normalise"),
    output:
        "data/{dataset}/features.h5",
    log:
        "logs/{dataset}/normalise.log",
    benchmark:
        "logs/{dataset}/normalise.tsv"
    conda:
        "../envs/torch.yaml"
    params:
        settings=step("features"),
        splits=splits,
        others=by_others,
    shell:
        "cooperation normalise {input.features:q}"
        " {params.settings}{params.splits}{params.others}"
        " --out {output}"
        " > {log} 2>&1"
