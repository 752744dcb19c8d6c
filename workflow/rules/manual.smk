# Figures 2 to 5: one dialog without and with a manual intervention, played by the bots of the first seed.
MANUAL = experiment.manual
MANUAL_BOTS = f"dialog-seed{experiment.seeds[0]}"
MANUAL_CONTROL = f"{RESULTS}/{MANUAL_BOTS}/{experiment.readings[0]}/none.h5"
# The claims are checked in all readings; the page and the figures show the first.
MANUAL_RESULTS = {
    reading: [
        f"{RESULTS}/manual-seed{experiment.seeds[0]}/{reading}/figure_{name}.h5"
        for name in MANUAL
    ]
    for reading in experiment.readings
}
ALL_MANUAL = [path for paths in MANUAL_RESULTS.values() for path in paths]
SHOWN_MANUAL = MANUAL_RESULTS[experiment.readings[0]]


# All in one job, for reading the features takes longer than a game of one dialog.
rule intervene:
    input:
        manual=list(MANUAL.values()),
        checkpoint=f"{CHECKPOINTS}/{MANUAL_BOTS}.safetensors",
        dialogs=f"{DATA}/dialogs.h5",
        features=f"{DATA}/features.h5",
        # By the ranks of one reading, so that a rule chooses the same dialog for all.
        control=MANUAL_CONTROL,
        code=sources("intervene"),
    output:
        ALL_MANUAL,
    log:
        f"logs/{experiment.dataset}/intervene.log",
    benchmark:
        f"logs/{experiment.dataset}/intervene.tsv"
    conda:
        "../envs/torch.yaml"
    params:
        steps=interventions(MANUAL_BOTS, MANUAL_CONTROL),
    shell:
        "python -m cooperation {params.steps} > {log:q} 2>&1"
