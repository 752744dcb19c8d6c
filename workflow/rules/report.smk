ALL_RESULTS = [
    f"{RESULTS}/{model}-seed{seed}/{reading}/{condition}.h5"
    for model, conditions in experiment.conditions.items()
    for condition in conditions
    for seed in experiment.seeds
    for reading in experiment.readings
]


rule report:
    input:
        ALL_RESULTS,
    output:
        f"{REPORT}/index.html",
    shell:
        "touch {output}"
