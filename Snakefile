"""From raw files to every figure, table and claim of the paper: snakemake --cores 8."""


include: "workflow/games.smk"
include: "workflow/rules/manual.smk"
include: "workflow/rules/report.smk"


if experiment.weights and TALKERS:

    include: "workflow/rules/weights.smk"


if experiment.controlled:

    include: "workflow/rules/controls.smk"


rule all:
    input:
        rules.summarise.output,
        rules.corpus.output,
        rules.diagnose.output if FIGURES else [],
        rules.page.output,


# What a profile sets for a kind of rule (set-resources) is meant for all of that kind.
for each in workflow.rules:
    given = workflow.resource_settings.overwrite_resources
    each.resources.update(given.get(each.name, given.get(kind_of(each.name), {})))
