# What jobs of several steps do. Snakemake compares parameters with those of the last time unless they are functions
# of the job's files; so whatever has settings in it is none.


def one_after_another(steps):
    """The words of several commands that one process runs."""
    return " then ".join(shlex.join(map(str, step)) for step in steps)


def bots_and_images(bots):
    """What all that play are given."""
    given = ["--checkpoint", f"{CHECKPOINTS}/{bots}.safetensors"]
    given += ["--dialogs", f"{DATA}/dialogs.h5", "--features", f"{DATA}/features.h5"]
    return [*given, "--dataset", experiment.dataset]


def control_of(wildcards):
    """The condition none, where a job plays one that needs it: until a late start, or for what a swap puts in place."""
    name = wildcards.get("condition")
    if name and experiment.conditions[wildcards.model][name].needs_control:
        return f"{RESULTS}/{{model}}-seed{{seed}}/{{reading}}/none.h5".format(
            **wildcards
        )
    return []


def games(wildcards, bots, model, readings):
    """What a job plays: a step under each reading."""
    bots, model = bots.format(**wildcards), model.format(**wildcards)
    control = control_of(wildcards)
    steps = []
    for reading, names in readings.items():
        reading = reading.format(**wildcards)
        step = ["play", *bots_and_images(bots), "--reading", reading]
        step += ["--control", control] if control else []
        step += ["--out", f"{RESULTS}/{bots}/{reading}"]
        step += flags(experiment.data.playing)
        for name in (name.format(**wildcards) for name in names):
            condition = asdict(experiment.conditions[model][name])
            step.append(f"--condition={name}={json.dumps(condition)}")
        steps.append(step)
    return one_after_another(steps)


def interventions(bots, control):
    """What the job of all manual interventions plays: a step under each reading."""
    step = ["intervene", "--manual", *MANUAL.values(), *bots_and_images(bots)]
    step += ["--control", control, "--candidates", experiment.data.playing.candidates]
    return one_after_another(
        [*step, "--reading", reading, "--out", *results]
        for reading, results in MANUAL_RESULTS.items()
    )


def counting(_, input, output):
    """The steps from the results of all conditions to tables, verdicts and statistics."""
    averaged = ["--summary", output.summary]
    published = ["--published", input.published]
    claims = ["--claims", input.claims]
    dialogs = ["--dialogs", input.dialogs]
    manual = ["--manual", *input.manual] if input.manual else []
    tables = [
        ["table", table, *averaged, *published, "--out", *output[f"table_{table}"]]
        for table in TABLES
    ]
    return one_after_another(
        [
            ["summarise", *input.results, "--out", output.summary],
            ["metrics", *averaged, "--out", output.metrics],
            *tables,
            ["claims", *input.results, *claims, *published, *dialogs, *manual]
            + ["--out", *output.claims],
            ["corpus", *dialogs, *claims, "--dataset", experiment.dataset]
            + ["--out", *output.statistics],
        ]
    )


def drawing(_, input, output):
    """The steps that draw the figures and join all in the page."""
    summary = ["--summary", input.summary]
    dialogs = ["--dialogs", input.dialogs]
    pictures = ["--pictures", noted(input.pictures)] if input.pictures else []
    drawn_from = {figure: summary for figure in FIGURES} | {
        name: ["--result", result, *dialogs, *pictures]
        for name, result in zip(MANUAL, input.manual)
    }
    files = {figure: output[f"figure_{figure}"] for figure in drawn_from}
    figures = [
        ["figure", figure, *source, "--out", *files[figure]]
        for figure, source in drawn_from.items()
    ]
    page = ["report", *summary, *dialogs, "--out", output.page]
    for what, given in {
        "tables": input.tables,
        "figures": [files[figure][0] for figure in FIGURES],
        "claims": input.claims,
        "statistics": input.statistics,
        "why": input.why[:1],
        "why-figure": input.why[1:],
        "results": input.results,
        "manual": input.manual,
        "manual-figures": [files[figure][0] for figure in MANUAL],
    }.items():
        page += [f"--{what}", *given] if given else []
    return one_after_another([*figures, page])


def shown(stem, category, endings, caption=None, **labels):
    """The files of one thing by their endings; `snakemake --report` shows the first."""
    first, *others = (f"{REPORT}/{stem}.{ending}" for ending in endings)
    caption = f"../report/{caption or stem}.rst"
    return [report(first, caption=caption, category=category, labels=labels), *others]


def shown_figures(names, caption):
    return {
        f"figure_{name}": shown(
            f"figure_{name}", "Figures", ["svg", "pdf", "png"], caption, figure=name
        )
        for name in names
    }
