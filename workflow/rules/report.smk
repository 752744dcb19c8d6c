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


rule summarise:
    input:
        results=ALL_RESULTS,
        code=sources("summarise"),
    output:
        f"{REPORT}/mpr.csv",
    log:
        f"logs/{experiment.dataset}/summarise.log",
    benchmark:
        f"logs/{experiment.dataset}/summarise.tsv"
    conda:
        "../envs/report.yaml"
    threads: experiment.data.threads
    shell:
        "python -m cooperation summarise {input.results:q} --out {output:q} > {log:q} 2>&1"


# For dvc metrics.
rule metrics:
    input:
        summary=f"{REPORT}/mpr.csv",
        code=sources("metrics"),
    output:
        f"{REPORT}/metrics.json",
    log:
        f"logs/{experiment.dataset}/metrics.log",
    benchmark:
        f"logs/{experiment.dataset}/metrics.tsv"
    conda:
        "../envs/report.yaml"
    shell:
        "python -m cooperation metrics --summary {input.summary:q} --out {output:q} > {log:q} 2>&1"


rule table:
    input:
        summary=f"{REPORT}/mpr.csv",
        published=PUBLISHED,
        code=sources("table"),
    output:
        report(
            f"{REPORT}/table_{{table}}.html",
            caption="../report/table.rst",
            category="Tables",
            labels={"table": "{table}"},
        ),
        multiext(f"{REPORT}/table_{{table}}", ".csv", ".md", ".tex"),
    log:
        f"logs/{experiment.dataset}/table_{{table}}.log",
    benchmark:
        f"logs/{experiment.dataset}/table_{{table}}.tsv"
    conda:
        "../envs/report.yaml"
    shell:
        "python -m cooperation table {wildcards.table} --summary {input.summary:q}"
        " --published {input.published:q} --out {output:q} > {log:q} 2>&1"


rule figure:
    input:
        summary=f"{REPORT}/mpr.csv",
        code=sources("figure"),
    output:
        report(
            f"{REPORT}/figure_{{figure}}.svg",
            caption="../report/figure.rst",
            category="Figures",
            labels={"figure": "{figure}"},
        ),
        multiext(f"{REPORT}/figure_{{figure}}", ".pdf", ".png"),
    log:
        f"logs/{experiment.dataset}/figure_{{figure}}.log",
    benchmark:
        f"logs/{experiment.dataset}/figure_{{figure}}.tsv"
    wildcard_constraints:
        figure="1a|1b",
    conda:
        "../envs/report.yaml"
    shell:
        "python -m cooperation figure {wildcards.figure} --summary {input.summary:q} --out {output:q} > {log:q} 2>&1"


rule claims:
    input:
        results=ALL_RESULTS,
        claims=CLAIMS,
        published=PUBLISHED,
        dialogs=f"{DATA}/dialogs.h5",
        manual=ALL_MANUAL,
        code=sources("claims"),
    output:
        report(
            f"{REPORT}/claims.html",
            caption="../report/claims.rst",
            category="Claims",
        ),
        multiext(f"{REPORT}/claims", ".csv", ".md"),
    log:
        f"logs/{experiment.dataset}/claims.log",
    benchmark:
        f"logs/{experiment.dataset}/claims.tsv"
    conda:
        "../envs/report.yaml"
    threads: experiment.data.threads
    shell:
        "python -m cooperation claims {input.results:q} --claims {input.claims:q} --published {input.published:q}"
        " --dialogs {input.dialogs:q} --manual {input.manual:q} --out {output:q} > {log:q} 2>&1"


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


rule corpus:
    input:
        dialogs=f"{DATA}/dialogs.h5",
        claims=CLAIMS,
        code=sources("corpus"),
    output:
        report(
            f"{REPORT}/statistics.html",
            caption="../report/statistics.rst",
            category="Data",
        ),
        multiext(f"{REPORT}/statistics", ".csv", ".md"),
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
        " --dataset {params.dataset:q} --out {output:q} > {log:q} 2>&1"


rule page:
    input:
        claims=f"{REPORT}/claims.csv",
        statistics=f"{REPORT}/statistics.csv",
        why=SHOWN_WHY,
        summary=f"{REPORT}/mpr.csv",
        tables=expand(f"{REPORT}/table_{{table}}.csv", table=TABLES),
        figures=expand(f"{REPORT}/figure_{{figure}}.svg", figure=FIGURES),
        results=SHOWN,
        manual=SHOWN_MANUAL,
        manual_figures=[path for path in MANUAL_FIGURES if path.endswith(".svg")],
        dialogs=f"{DATA}/dialogs.h5",
        code=sources("report"),
    output:
        f"{REPORT}/index.html",
    log:
        f"logs/{experiment.dataset}/page.log",
    benchmark:
        f"logs/{experiment.dataset}/page.tsv"
    conda:
        "../envs/report.yaml"
    params:
        why=shlex.join(
            word for pair in zip(["--why", "--why-figure"], SHOWN_WHY) for word in pair
        ),
    shell:
        "python -m cooperation report --summary {input.summary:q} --tables {input.tables:q} --figures {input.figures:q}"
        " --claims {input.claims:q} --statistics {input.statistics:q} {params.why}"
        " --results {input.results:q} --dialogs {input.dialogs:q}"
        " --manual {input.manual:q} --manual-figures {input.manual_figures:q} --out {output:q} > {log:q} 2>&1"
