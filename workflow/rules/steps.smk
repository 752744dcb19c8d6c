# What jobs of several steps do, as the words of each step. All paths are known beforehand, and no step is a function of
# a job's files, for Snakemake would not notice another setting in it.


def one_after_another(steps):
    """The words of several commands that one process runs."""
    return " then ".join(shlex.join(map(str, step)) for step in steps)


def extractions(wildcards):
    """A share of the pictures of both splits."""
    share = ["--shard", f"{wildcards.shard}/{wildcards.shards}"]
    share += [f"--weights={RAW}/{name}" for name in WEIGHTS]
    share += flags(experiment.data.steps["pictures"])
    steps = []
    for split in SPLITS:
        step = ["extract", "--images", f"{RAW}/{split}2014.zip", "--split", split]
        step += ["--out", shard_of(split).format(**wildcards)]
        steps.append([*step, *share])
    return one_after_another(steps)


def bots_and_images(bots):
    """What all that play are given."""
    given = ["--checkpoint", f"{CHECKPOINTS}/{bots}.safetensors"]
    given += ["--dialogs", f"{DATA}/dialogs.h5", "--features", f"{DATA}/features.h5"]
    return [*given, f"--dataset={experiment.dataset}"]


def control_of(wildcards):
    """The condition none, where a job plays one that needs it: until a late start, or for what a swap puts in place."""
    name = wildcards.get("condition")
    if name and experiment.conditions[wildcards.model][name].needs_control:
        bots = f"{wildcards.model}-seed{wildcards.seed}"
        return f"{RESULTS}/{bots}/{wildcards.reading}/none.h5"
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
        for wildcard in names:
            name = wildcard.format(**wildcards)
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


def sources_of(steps):
    """The package's files that the steps are made of."""
    return sources(*{step[0] for step in steps})


def made(stem):
    """The files of a table, a figure or another product, that which `snakemake --report` shows first."""
    endings = {"table": "html csv md tex", "figure": "svg pdf png"}
    return [
        f"{REPORT}/{stem}.{ending}"
        for ending in endings.get(stem.split("_")[0], "html csv md").split()
    ]


def shown(stem, category, caption=None, **labels):
    """The same as output files of a rule."""
    first, *others = made(stem)
    says = {"caption": f"../report/{caption or stem}.rst", "category": category}
    return [report(first, **says, labels=labels or None), *others]


def shown_each(kind, names, category, caption):
    """The same of several tables or figures."""
    return [
        shown(f"{kind}_{name}", category, caption, **{kind: str(name)})
        for name in names
    ]


def counting(summary):
    """From the results of all conditions to the paper's tables and figures."""
    averaged = ["--summary", summary]
    yield ["summarise", *ALL_RESULTS, "--out", summary]
    yield ["metrics", *averaged, "--out", f"{REPORT}/metrics.json"]
    for table in TABLES:
        out = made(f"table_{table}")
        yield ["table", table, *averaged, "--published", PUBLISHED, "--out", *out]
    for figure in FIGURES:
        yield ["figure", figure, *averaged, "--out", *made(f"figure_{figure}")]


def telling(summary):
    """The paper's statements, the figures of single dialogs, and the page that all is joined in."""
    dialogs = ["--dialogs", f"{DATA}/dialogs.h5"]
    step = ["claims", *ALL_RESULTS, "--claims", CLAIMS, "--published", PUBLISHED]
    step += ["--manual", *ALL_MANUAL] if ALL_MANUAL else []
    yield [*step, *dialogs, "--out", *made("claims")]
    pictures = ["--pictures", noted(PICTURES)] if PICTURES else []
    for name, result in zip(MANUAL, SHOWN_MANUAL, strict=True):
        out = made(f"figure_{name}")
        yield ["figure", name, "--result", result, *dialogs, *pictures, "--out", *out]
    page = ["report", "--summary", summary, *dialogs, "--out", f"{REPORT}/index.html"]
    for what, files in {
        "tables": [f"{REPORT}/table_{table}.csv" for table in TABLES],
        "figures": [f"{REPORT}/figure_{figure}.svg" for figure in FIGURES],
        "claims": [f"{REPORT}/claims.csv"],
        "statistics": [f"{REPORT}/statistics.csv"],
        "why": SHOWN_WHY[:1],
        "why-figure": SHOWN_WHY[1:],
        "results": SHOWN,
        "manual": SHOWN_MANUAL,
        "manual-figures": [f"{REPORT}/figure_{name}.svg" for name in MANUAL],
    }.items():
        page += [f"--{what}", *files] if files else []
    yield page
