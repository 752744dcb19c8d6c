"""From raw files to every figure, table and claim of the paper: snakemake --cores 8."""


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/bots.smk"
include: "workflow/rules/report.smk"


if experiment.controlled:

    include: "workflow/rules/controls.smk"


rule all:
    input:
        rules.report.output,


onstart:
    # What the commands read where the settings are not those of config.yaml alone.
    if SETTINGS != "config.yaml":
        with open(SETTINGS, "w", encoding="utf-8") as file:
            json.dump(config, file, indent=1)
    # A partition that does not exist, or a limit, would be noticed after the jobs before it, and by each of its own.
    if workflow.executor_plugin.name == "slurm":
        from slurm_preflight import refusals

        to_come = workflow.dag.needrun_jobs()
        if refused := refusals(to_come, workflow.executor_settings):
            raise WorkflowError("SLURM refuses these jobs:", *refused)


onerror:
    from slurm_reasons import reasons

    for file in map(Path, log):
        print(*reasons(file), sep="\n", file=sys.stderr)
