# Figures 2 to 5: one dialog without and with a manual intervention, played by the bots of the first seed.
MANUAL = experiment.manual
MANUAL_FIGURES = [
    f"{REPORT}/figure_{name}.{ending}"
    for name in MANUAL
    for ending in ("pdf", "svg", "png")
]
ALL_MANUAL = [
    f"{RESULTS}/manual-seed{experiment.seeds[0]}/{reading}/figure_{name}.h5"
    for reading in experiment.readings
    for name in MANUAL
]
# The page and the figures show the first reading; the claims are checked in all.
SHOWN_MANUAL = ALL_MANUAL[: len(MANUAL)]


wildcard_constraints:
    manual="|".join(MANUAL) or "none",


# The games of a reading share a job, for reading the features takes longer than a game of one dialog.
rule intervene:
    input:
        manual=list(MANUAL.values()),
        checkpoint=f"{CHECKPOINTS}/dialog-seed{{seed}}.safetensors",
        dialogs=f"{DATA}/dialogs.h5",
        features=f"{DATA}/features.h5",
        # By the ranks of one reading, so that a rule chooses the same dialog for all.
        control=f"{RESULTS}/dialog-seed{{seed}}/{experiment.readings[0]}/none.h5",
        code=sources("intervene"),
    output:
        [
            f"{RESULTS}/manual-seed{{seed}}/{{reading}}/figure_{name}.h5"
            for name in MANUAL
        ],
    log:
        f"logs/{experiment.dataset}/intervene_seed{{seed}}_{{reading}}.log",
    benchmark:
        f"logs/{experiment.dataset}/intervene_seed{{seed}}_{{reading}}.tsv"
    conda:
        "../envs/torch.yaml"
    params:
        candidates=experiment.data.playing.candidates,
        dataset=experiment.dataset,
    shell:
        "python -m cooperation intervene --manual {input.manual:q} --checkpoint {input.checkpoint:q}"
        " --dialogs {input.dialogs:q} --features {input.features:q} --control {input.control:q} --out {output:q}"
        " --reading {wildcards.reading} --dataset {params.dataset:q}"
        " --candidates {params.candidates} > {log:q} 2>&1"


rule manual_figure:
    input:
        result=f"{RESULTS}/manual-seed{experiment.seeds[0]}/{experiment.readings[0]}/figure_{{manual}}.h5",
        dialogs=f"{DATA}/dialogs.h5",
        pictures=[] if experiment.data.source == "authors" else raw("val2014.zip"),
        code=sources("figure"),
    output:
        report(
            f"{REPORT}/figure_{{manual}}.svg",
            caption="../report/manual.rst",
            category="Figures",
            labels={"figure": "{manual}"},
        ),
        multiext(f"{REPORT}/figure_{{manual}}", ".pdf", ".png"),
    log:
        f"logs/{experiment.dataset}/manual_figure_{{manual}}.log",
    benchmark:
        f"logs/{experiment.dataset}/manual_figure_{{manual}}.tsv"
    conda:
        "../envs/report.yaml"
    params:
        pictures=lambda _, input: (
            f"--pictures {shlex.quote(noted(str(input.pictures)))}"
            if input.pictures
            else ""
        ),
    shell:
        "python -m cooperation figure {wildcards.manual} --result {input.result:q} --dialogs {input.dialogs:q}"
        " {params.pictures} --out {output:q} > {log:q} 2>&1"
