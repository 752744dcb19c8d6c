# Bots trained with other weights of the image loss.
use rule train as train_weighted with:
    output:
        f"{CHECKPOINTS}/weights/{{weight}}/{{model}}-seed{{seed}}.safetensors",
    log:
        f"logs/{experiment.dataset}/train_{{model}}-seed{{seed}}_weight{{weight}}.log",
    benchmark:
        f"logs/{experiment.dataset}/train_{{model}}-seed{{seed}}_weight{{weight}}.tsv"


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
    benchmark:
        f"logs/{experiment.dataset}/weights.tsv"
    conda:
        "../envs/report.yaml"
    threads: experiment.data.threads
    shell:
        "python -m cooperation weights {input.results:q} --out {output:q} > {log:q} 2>&1"
