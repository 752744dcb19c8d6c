# From results to every table, figure and claim, joined in one page.
CAPTIONS = {
    "table": ("Tables", "table"),
    "figure": ("Figures", "figure"),
    "claims": ("Claims", "claims"),
    "statistics": ("Data", "statistics"),
    "diagnostics": ("Why", "diagnostics"),
    "models": ("Models", "models"),
}


rule report:
    input:
        results=[game.path for game in experiment.games(DATASET)],
        manual=[game.path for game in experiment.manual_games()],
        interventions=sorted({game.file for game in experiment.manual_games()}),
        dialogs=f"data/{DATASET}/dialogs.h5",
        # Manual interventions are shown with their pictures.
        pictures=awaited(DATASET, illustrated),
        paper=configuration.PAPER,
        code=sources("report"),
    output:
        [shown(name) for name in products(experiment)],
    log:
        f"logs/{DATASET}/report.log",
    benchmark:
        f"logs/{DATASET}/report.tsv"
    conda:
        "../envs/report.yaml"
    threads: experiment.data.threads
    params:
        dataset=DATASET,
        about=(experiment.stands_for, experiment.bootstrap_seed),
        conditions={
            model: settings_of(conditions)
            for model, conditions in experiment.conditions.items()
        },
        pictures=given(DATASET, illustrated),
    shell:
        "cooperation report --dataset {params.dataset}"
        " --results results/{params.dataset}"
        " --dialogs {input.dialogs}"
        " {params.pictures}"
        " --out reports/{params.dataset}"
        " > {log} 2>&1"
