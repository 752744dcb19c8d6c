if experiment.data.source == "miniature":

    rule miniature:
        input:
            code=sources("miniature"),
        output:
            expand(f"{RAW}/{{archive}}", archive=ARCHIVES),
        log:
            f"logs/{experiment.dataset}/miniature.log",
        benchmark:
            f"logs/{experiment.dataset}/miniature.tsv"
        conda:
            "../envs/torch.yaml"
        params:
            check=look_first,
            out=lambda _, output: Path(output[0]).parent,
            flags=flagged(experiment.data.steps["raw"]),
        shell:
            "{{ {params.check} && python -m cooperation miniature --out {params.out:q} {params.flags}; }} > {log:q} 2>&1"


if experiment.data.source == "genuine":

    rule genuine:
        input:
            dialogs=experiment.data.files["dialogs"],
            code=sources("genuine"),
        output:
            expand(f"{RAW}/{{archive}}", archive=ARCHIVES),
        log:
            f"logs/{experiment.dataset}/genuine.log",
        benchmark:
            f"logs/{experiment.dataset}/genuine.tsv"
        conda:
            "../envs/torch.yaml"
        params:
            check=look_first,
            out=lambda _, output: Path(output[0]).parent,
            flags=flagged(experiment.data.steps["raw"]),
        shell:
            "{{ {params.check} && python -m cooperation genuine --dialogs {input.dialogs:q} --out {params.out:q}"
            " {params.flags}; }} > {log:q} 2>&1"


if experiment.data.source == "visdial":

    # Snakemake deletes what a rule declares before it makes it anew, and a file of 13 GB that a user put there is
    # theirs. So what is declared is a note of the file's hash. Nor does the code count: a file that is there and right
    # stays so, even deleted after use.
    rule download:
        output:
            f"{RAW}/{{file}}.ready",
        log:
            f"logs/{experiment.dataset}/download_{{file}}.log",
        benchmark:
            f"logs/{experiment.dataset}/download_{{file}}.tsv"
        wildcard_constraints:
            file="|".join(map(re.escape, experiment.data.downloads)),
        retries: 1
        localrule: True
        conda:
            "../envs/torch.yaml"
        params:
            check=look_first,
            file=lambda _, output: noted(output[0]),
            source=download_flags,
            patience=flagged(experiment.data.steps["raw"]),
        shell:
            "{{ {params.check} && python -m cooperation download --out {params.file:q} {params.source}"
            " {params.patience}; }} > {log:q} 2>&1 && cp {params.file:q}.sha256 {output:q}"
