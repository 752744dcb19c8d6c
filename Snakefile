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
    unlink_memory()
    if workflow.executor_plugin.name == "slurm":
        import slurm_preflight

        slurm_preflight.check(workflow)
    # What the commands read where the settings are not those of config.yaml alone.
    if SETTINGS != "config.yaml":
        with open(SETTINGS, "w", encoding="utf-8") as file:
            json.dump(config, file, indent=1)


onerror:
    if stopping.stopped:
        print("stopped; the same command goes on", file=sys.stderr)
