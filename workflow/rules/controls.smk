# Worlds and bots whose ground truth is known. The worlds are data sets like others.
rule scripted:
    input:
        code=sources("scripted"),
    output:
        expand(
            "results/{world}/{condition}.h5",
            world=ORACLE_WORLDS,
            condition=ORACLE_CONDITIONS,
        ),
    log:
        "logs/controls/scripted.log",
    benchmark:
        "logs/controls/scripted.tsv"
    conda:
        "../envs/torch.yaml"
    shell:
        "cooperation scripted --out results > {log} 2>&1"


rule expected_and_found:
    input:
        results=[game.path for world in WORLDS for game in experiment.games(world)],
        scripted=rules.scripted.output,
        expected=expected,
        interventions=configuration.WORLD_INTERVENTIONS,
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
    params:
        seed=experiment.bootstrap_seed,
    shell:
        "cooperation controls"
        " --results results"
        " --expected {input.expected}"
        " --interventions {input.interventions}"
        " --out {output}"
        " > {log} 2>&1"


# The target: what is found stays to be read where it is not what was expected.
rule controls:
    input:
        **rules.expected_and_found.input,
        table=rules.expected_and_found.output,
    log:
        "logs/controls/confirm.log",
    benchmark:
        "logs/controls/confirm.tsv"
    conda:
        "../envs/report.yaml"
    shell:
        "cooperation confirm"
        " --results results"
        " --expected {input.expected}"
        " --interventions {input.interventions}"
        " > {log} 2>&1"
