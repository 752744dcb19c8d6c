ALL_RESULTS = [
    f"{RESULTS}/{model}-seed{seed}/{reading}/{condition}.h5"
    for model, conditions in experiment.conditions.items()
    for condition in conditions
    for seed in experiment.seeds
    for reading in experiment.readings
    if experiment.plays(model, reading, condition)
]
# Those that have at least one of the conditions that are played.
with open(PUBLISHED, encoding="utf-8") as file:
    TABLES = sorted(
        {
            row["table"]
            for row in csv.DictReader(file)
            if row["condition"] in experiment.conditions.get(row["model"], {})
        }
    )
FIGURES = ["1a", "1b"] if "dialog" in experiment.conditions else []
# The diagnostics are about `dialog`, too.
SHOWN_WHY = [f"{REPORT}/diagnostics.csv", f"{REPORT}/figure_why.svg"] if FIGURES else []
# The page shows one dialog of the first model under these, and says how each model was trained.
SHOWN = [
    f"{RESULTS}/{model}-seed{experiment.seeds[0]}/{experiment.readings[0]}/{condition}.h5"
    for model, shown_under in {
        "dialog": ("none", "image-from1", "answer-from1-p1"),
        "round": ("none",),
    }.items()
    for condition in shown_under
    if condition in experiment.conditions.get(model, {})
]
# The picture of a manual intervention's dialog is in it, where there are pictures.
PICTURES = raw("val2014.zip") if MANUAL and experiment.data.source != "authors" else []
COUNTING = list(counting(f"{REPORT}/mpr.csv"))
TELLING = list(telling(f"{REPORT}/mpr.csv"))


# Short steps share a job, for each of them is over sooner than Python's packages are imported.
rule summarise:
    input:
        results=ALL_RESULTS,
        published=PUBLISHED,
        code=sources_of(COUNTING),
    output:
        f"{REPORT}/mpr.csv",
        # For dvc metrics.
        f"{REPORT}/metrics.json",
        shown_each("table", TABLES, "Tables", "table"),
        shown_each("figure", FIGURES, "Figures", "figure"),
    log:
        f"logs/{experiment.dataset}/summarise.log",
    benchmark:
        f"logs/{experiment.dataset}/summarise.tsv"
    conda:
        "../envs/report.yaml"
    threads: experiment.data.threads
    params:
        steps=one_after_another(COUNTING),
    shell:
        "python -m cooperation {params.steps} > {log:q} 2>&1"


rule diagnose:
    input:
        results=ALL_RESULTS,
        code=sources("diagnose"),
    output:
        shown("diagnostics", "Why", what="tables"),
        shown("figure_why", "Why", "diagnostics", what="figure"),
    log:
        f"logs/{experiment.dataset}/diagnose.log",
    benchmark:
        f"logs/{experiment.dataset}/diagnose.tsv"
    conda:
        "../envs/report.yaml"
    threads: experiment.data.threads
    shell:
        "python -m cooperation diagnose {input.results:q} --out {output:q} > {log:q} 2>&1"


# Alone, for it can be had before anything is trained.
rule corpus:
    input:
        dialogs=f"{DATA}/dialogs.h5",
        claims=CLAIMS,
        code=sources("corpus"),
    output:
        shown("statistics", "Data"),
    log:
        f"logs/{experiment.dataset}/corpus.log",
    benchmark:
        f"logs/{experiment.dataset}/corpus.tsv"
    conda:
        "../envs/report.yaml"
    params:
        dataset=experiment.dataset,
    shell:
        "python -m cooperation corpus --dialogs {input.dialogs:q} --claims {input.claims:q}"
        " --dataset={params.dataset:q} --out {output:q} > {log:q} 2>&1"


rule page:
    input:
        results=ALL_RESULTS,
        manual=ALL_MANUAL,
        summary=f"{REPORT}/mpr.csv",
        tables=[f"{REPORT}/table_{table}.csv" for table in TABLES],
        figures=[f"{REPORT}/figure_{figure}.svg" for figure in FIGURES],
        why=SHOWN_WHY,
        statistics=f"{REPORT}/statistics.csv",
        dialogs=f"{DATA}/dialogs.h5",
        pictures=PICTURES,
        claims=CLAIMS,
        published=PUBLISHED,
        code=sources_of(TELLING),
    output:
        f"{REPORT}/index.html",
        shown("claims", "Claims"),
        shown_each("figure", MANUAL, "Figures", "manual"),
    log:
        f"logs/{experiment.dataset}/page.log",
    benchmark:
        f"logs/{experiment.dataset}/page.tsv"
    conda:
        "../envs/report.yaml"
    threads: experiment.data.threads
    params:
        steps=one_after_another(TELLING),
    shell:
        "python -m cooperation {params.steps} > {log:q} 2>&1"
