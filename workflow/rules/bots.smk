# From dialogs and features to trained bots and their games.


rule train:
    input:
        dialogs="data/{dataset}/dialogs.h5",
        features="data/{dataset}/features.h5",
        code=sources("train"),
    output:
        "checkpoints/{dataset}/{model}-seed{seed}.safetensors",
    log:
        "logs/{dataset}/train_{model}-seed{seed}.log",
    benchmark:
        "logs/{dataset}/train_{model}-seed{seed}.tsv"
    conda:
        "../envs/torch.yaml"
    threads: threads
    params:
        training=trained,
        device=device,
    shell:
        "(cooperation verify --dataset {wildcards.dataset} > /dev/null &&"
        " {params.device}cooperation train"
        " --dialogs {input.dialogs}"
        " --features {input.features}"
        " {params.training}"
        " --out {output})"
        " > {log} 2>&1"


# One condition under one reading.
rule play:
    input:
        checkpoint=checkpoint,
        dialogs="data/{dataset}/dialogs.h5",
        features="data/{dataset}/features.h5",
        baseline=baseline,
        code=lambda wildcards: sources(
            "play", discovered=kinds_of([condition(wildcards)])
        ),
    output:
        "results/{dataset}/{model}-seed{seed}/{reading}/{condition}.h5",
    log:
        "logs/{dataset}/play_{model}-seed{seed}_{reading}_{condition}.log",
    benchmark:
        "logs/{dataset}/play_{model}-seed{seed}_{reading}_{condition}.tsv"
    wildcard_constraints:
        dataset=only(lambda data: data.jobs == "condition"),
        model=either(
            name for name in experiment.models if name not in experiment.loaded
        ),
    conda:
        "../envs/torch.yaml"
    threads: threads
    params:
        settings=lambda wildcards: condition(wildcards).settings,
        baseline=lambda wildcards, input: "--baseline " * bool(input.baseline),
        playing=played,
        seed=experiment.game_seed,
        device=device,
    shell:
        "{params.device}cooperation play --dataset {wildcards.dataset}"
        " --model {wildcards.model} --training-seed {wildcards.seed}"
        " --condition {wildcards.condition}"
        " --checkpoint {input.checkpoint}"
        " --dialogs {input.dialogs}"
        " --features {input.features}"
        " {params.baseline}{input.baseline}"
        " --reading {wildcards.reading}"
        " --seed {params.seed} {params.playing}"
        " --out results/{wildcards.dataset}/{wildcards.model}-seed{wildcards.seed}"
        " > {log} 2>&1"


# All conditions of a model under all readings, where starting a job costs more than a game: of the chosen data set, and
# of the controls' worlds.
for prefix, datasets in {"play": [DATASET], "play_worlds": WORLDS}.items():
    together = [name for name in datasets if experiment.datasets[name].jobs == "model"]
    games = experiment.games(together[0]) if together else []
    games = [game for game in games if game.model not in experiment.loaded]
    for model in dict.fromkeys(game.model for game in games):
        conditions = experiment.conditions_of(together[0])[model]

        rule:
            name:
                f"{prefix}_{model}"
            input:
                checkpoint=partial(checkpoint, model=model),
                dialogs="data/{dataset}/dialogs.h5",
                features="data/{dataset}/features.h5",
                code=sources("play", discovered=kinds_of(conditions.values())),
            output:
                [
                    f"results/{{dataset}}/{model}-seed{{seed}}/{game.reading}/{game.condition}.h5"
                    for game in games
                    if (game.model, game.seed) == (model, games[0].seed)
                ],
            log:
                f"logs/{{dataset}}/play_{model}-seed{{seed}}.log",
            benchmark:
                f"logs/{{dataset}}/play_{model}-seed{{seed}}.tsv"
            wildcard_constraints:
                dataset=either(together),
            conda:
                "../envs/torch.yaml"
            threads: threads
            params:
                model=model,
                settings=settings_of(conditions),
                readings=experiment.readings_of(together[0]),
                playing=played,
                seed=experiment.game_seed,
                device=device,
            shell:
                "{params.device}cooperation play --dataset {wildcards.dataset}"
                " --model {params.model} --training-seed {wildcards.seed}"
                " --checkpoint {input.checkpoint}"
                " --dialogs {input.dialogs}"
                " --features {input.features}"
                " --reading {params.readings}"
                " --seed {params.seed} {params.playing}"
                " --out results/{wildcards.dataset}/{params.model}-seed{wildcards.seed}"
                " > {log} 2>&1"


# Bots of a builder's own: a job plays all conditions, or one, under all readings one after another, so that conditions
# that are the same in both are played once.
for model, own in experiment.loaded.items():
    conditions = experiment.conditions_of(DATASET).get(model, {})
    folder = f"results/{DATASET}/{model}-seed{experiment.seeds[0]}"
    apart = experiment.data.jobs == "condition"
    each = "_{condition}" if apart else ""
    if conditions:

        rule:
            name:
                f"play_{model}"
            input:
                bots=[own.file, *files_of_bots(own)],
                dialogs=f"data/{DATASET}/dialogs.h5",
                features=f"data/{DATASET}/features.h5",
                pictures=lambda _: awaited(DATASET, seen),
                baseline=baselines(model, folder) if apart else [],
                code=sources("play"),
            output:
                expand(
                    f"{folder}/{{reading}}/{{condition}}.h5",
                    reading=experiment.readings,
                    condition="{condition}" if apart else conditions,
                ),
            log:
                f"logs/{DATASET}/play_{model}{each}.log",
            benchmark:
                f"logs/{DATASET}/play_{model}{each}.tsv"
            wildcard_constraints:
                condition=either(conditions),
            conda:
                "../envs/torch.yaml"
            threads: experiment.data.threads
            params:
                dataset=DATASET,
                model=model,
                load=shlex.join(["--load", own.load, *options(own)]),
                pictures=given(DATASET, seen),
                settings=chosen(model),
                condition="--condition {condition}" if apart else "",
                baseline=lambda wildcards, input: "--baseline " * bool(input.baseline),
                readings=experiment.readings,
                playing=shlex.join(flags(experiment.data.playing)),
                seed=experiment.game_seed,
                out=folder,
                device=device,
            shell:
                "{params.device}cooperation play --dataset {params.dataset}"
                " --model {params.model}"
                " {params.load}"
                " {params.condition}"
                " --dialogs {input.dialogs}"
                " --features {input.features}"
                " {params.pictures}"
                " {params.baseline}{input.baseline}"
                " --reading {params.readings}"
                " --seed {params.seed} {params.playing}"
                " --out {params.out}"
                " > {log} 2>&1"


# Figures 2 to 5: single dialogs without and with a manual intervention, played by the bots of each seed. A rule
# chooses a dialog by its ranks in one reading, so that all readings play the same.
for model in dict.fromkeys(game.model for game in experiment.manual_games()):
    figures = [game for game in experiment.manual_games() if game.model == model]
    bots = f"{model}-seed{{seed}}"

    rule:
        name:
            f"intervene_{model}"
        input:
            manual=sorted({game.file for game in figures}),
            checkpoint=f"checkpoints/{experiment.bots_of(DATASET)}/{bots}.safetensors",
            dialogs=f"data/{DATASET}/dialogs.h5",
            features=f"data/{DATASET}/features.h5",
            baseline=f"results/{DATASET}/{bots}/{experiment.readings[0]}/none.h5",
            captions=awaited(DATASET, captions),
            code=sources("intervene", discovered=[]),
        output:
            [
                f"results/{DATASET}/manual/{model}-seed{{seed}}/{game.reading}/figure_{game.figure}.h5"
                for game in figures
                if game.seed == figures[0].seed
            ],
        log:
            f"logs/{DATASET}/manual_{model}-seed{{seed}}.log",
        benchmark:
            f"logs/{DATASET}/manual_{model}-seed{{seed}}.tsv"
        conda:
            "../envs/torch.yaml"
        params:
            dataset=DATASET,
            model=model,
            readings=experiment.readings,
            seed=experiment.game_seed,
            out=lambda wildcards, output: Path(output[0]).parents[1],
            captions=given(DATASET, captions),
            device=device,
        shell:
            "{params.device}cooperation intervene --all --dataset {params.dataset}"
            " --model {params.model} --training-seed {wildcards.seed}"
            " --checkpoint {input.checkpoint}"
            " --dialogs {input.dialogs}"
            " --features {input.features}"
            " --baseline {input.baseline}"
            " {params.captions}"
            " --reading {params.readings}"
            " --seed {params.seed}"
            " --out {params.out}"
            " > {log} 2>&1"
