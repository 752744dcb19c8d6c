ALL_RESULTS = [
    f"{RESULTS}/{model}-seed{seed}/{reading}/{condition}.h5"
    for model, conditions in experiment.conditions.items()
    for condition in conditions
    for seed in experiment.seeds
    for reading in experiment.readings
    if experiment.plays(model, reading, condition)
]
# Of the models that play.
TABLES = [
    table
    for table, model in {1: "dialog", 2: "round"}.items()
    if model in experiment.conditions
]
FIGURES = ["1a", "1b"] if "dialog" in experiment.conditions else []
# The diagnostics are about `dialog`, too.
SHOWN_WHY = [f"{REPORT}/diagnostics.csv", f"{REPORT}/figure_why.svg"] if FIGURES else []
# The page shows one dialog under these.
SHOWN = [
    f"{RESULTS}/dialog-seed{experiment.seeds[0]}/{experiment.readings[0]}/{condition}.h5"
    for condition in ("none", "image-from1", "answer-from1-p1")
    if condition in experiment.conditions.get("dialog", {})
]


TABLE_FILES = {
    f"table_{table}": shown(
        f"table_{table}",
        "Tables",
        ["html", "csv", "md", "tex"],
        "table",
        table=str(table),
    )
    for table in TABLES
}
FIGURE_FILES = shown_figures(FIGURES, "figure") | shown_figures(MANUAL, "manual")


# All that is counted, in one job, for each of its steps is over sooner than Python's packages are there.
rule summarise:
    input:
        results=ALL_RESULTS,
        manual=ALL_MANUAL,
        dialogs=f"{DATA}/dialogs.h5",
        published=PUBLISHED,
        claims=CLAIMS,
        code=sources("summarise", "metrics", "table", "claims", "corpus"),
    output:
        **TABLE_FILES,
        summary=f"{REPORT}/mpr.csv",
        # For dvc metrics.
        metrics=f"{REPORT}/metrics.json",
        claims=shown("claims", "Claims", ["html", "csv", "md"]),
        statistics=shown("statistics", "Data", ["html", "csv", "md"]),
    log:
        f"logs/{experiment.dataset}/summarise.log",
    benchmark:
        f"logs/{experiment.dataset}/summarise.tsv"
    conda:
        "../envs/report.yaml"
    threads: experiment.data.threads
    params:
        steps=counting,
    shell:
        "python -m cooperation {params.steps} > {log:q} 2>&1"


rule diagnose:
    input:
        results=ALL_RESULTS,
        code=sources("diagnose"),
    output:
        report(
            f"{REPORT}/diagnostics.html",
            caption="../report/diagnostics.rst",
            category="Why",
            labels={"what": "tables"},
        ),
        report(
            f"{REPORT}/figure_why.svg",
            caption="../report/diagnostics.rst",
            category="Why",
            labels={"what": "figure"},
        ),
        multiext(f"{REPORT}/diagnostics", ".csv", ".md"),
        multiext(f"{REPORT}/figure_why", ".pdf", ".png"),
    log:
        f"logs/{experiment.dataset}/diagnose.log",
    benchmark:
        f"logs/{experiment.dataset}/diagnose.tsv"
    conda:
        "../envs/report.yaml"
    threads: experiment.data.threads
    shell:
        "python -m cooperation diagnose {input.results:q} --out {output:q} > {log:q} 2>&1"


rule page:
    input:
        summary=f"{REPORT}/mpr.csv",
        tables=[f"{REPORT}/table_{table}.csv" for table in TABLES],
        claims=[f"{REPORT}/claims.csv"],
        statistics=[f"{REPORT}/statistics.csv"],
        why=SHOWN_WHY,
        results=SHOWN,
        manual=SHOWN_MANUAL,
        dialogs=f"{DATA}/dialogs.h5",
        pictures=(
            raw("val2014.zip")
            if MANUAL and experiment.data.source != "authors"
            else []
        ),
        code=sources("figure", "report"),
    output:
        **FIGURE_FILES,
        page=f"{REPORT}/index.html",
    log:
        f"logs/{experiment.dataset}/page.log",
    benchmark:
        f"logs/{experiment.dataset}/page.tsv"
    conda:
        "../envs/report.yaml"
    params:
        steps=drawing,
    shell:
        "python -m cooperation {params.steps} > {log:q} 2>&1"
