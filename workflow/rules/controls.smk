# Worlds whose truth is known: the same rules up to the games, once for each, and the scripted bots.
for world in experiment.worlds:
    of_world = f"{world}_"

    module:
        name: world
        snakefile:
            "../games.smk"
        config:
            world_config(world)

    use rule * from world as of_world*


rule scripted:
    input:
        code=sources("scripted"),
    output:
        expand("results/scripted/{condition}.h5", condition=ORACLE_CONDITIONS),
    log:
        "logs/controls/scripted.log",
    benchmark:
        "logs/controls/scripted.tsv"
    conda:
        "../envs/torch.yaml"
    shell:
        "python -m cooperation scripted --out {output:q} > {log:q} 2>&1"


rule expected_and_found:
    input:
        results=expand(
            "results/{world}/dialog-seed{seed}/written/{condition}.h5",
            world=experiment.worlds,
            seed=experiment.seeds[0],
            condition=experiment.control_conditions,
        ),
        scripted=rules.scripted.output,
        expected=expectations,
        code=sources("controls"),
    output:
        multiext("reports/controls/controls", ".csv", ".md", ".html"),
    log:
        "logs/controls/controls.log",
    benchmark:
        "logs/controls/controls.tsv"
    conda:
        "../envs/report.yaml"
    threads: experiment.data.threads
    shell:
        "python -m cooperation controls {input.results:q} {input.scripted:q} --expected {input.expected:q}"
        " --out {output:q} > {log:q} 2>&1"


# The target: what is found stays to be read where it is not what was expected.
rule controls:
    input:
        "reports/controls/controls.csv",
    log:
        "logs/controls/confirm.log",
    benchmark:
        "logs/controls/confirm.tsv"
    conda:
        "../envs/report.yaml"
    shell:
        "python -m cooperation confirm {input:q} > {log:q} 2>&1"
