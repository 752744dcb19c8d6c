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
    shell:
        "(cooperation verify --dataset {wildcards.dataset} &&"
        " cooperation train"
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
    shell:
        "cooperation play --dataset {wildcards.dataset}"
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
            shell:
                "cooperation play --dataset {wildcards.dataset}"
                " --model {params.model} --training-seed {wildcards.seed}"
                " --checkpoint {input.checkpoint}"
                " --dialogs {input.dialogs}"
                " --features {input.features}"
                " --reading {params.readings}"
                " --seed {params.seed} {params.playing}"
                " --out results/{wildcards.dataset}/{params.model}-seed{wildcards.seed}"
                " > {log} 2>&1"


# Bots of a builder's own: all conditions under all readings one after another, so that their model is loaded once and
# conditions that are the same in both readings are played once.
for model, own in experiment.loaded.items():
    games = [game for game in experiment.games(DATASET) if game.model == model]
    if games:

        rule:
            name:
                f"play_{model}"
            input:
                bots=own.file,
                dialogs=f"data/{DATASET}/dialogs.h5",
                features=f"data/{DATASET}/features.h5",
                pictures=lambda _: awaited(DATASET, seen),
                code=sources("play"),
            output:
                [game.path for game in games],
            log:
                f"logs/{DATASET}/play_{model}.log",
            benchmark:
                f"logs/{DATASET}/play_{model}.tsv"
            conda:
                "../envs/torch.yaml"
            threads: experiment.data.threads
            params:
                dataset=DATASET,
                model=model,
                load=shlex.join(["--load", own.load, *options(own)]),
                pictures=given(DATASET, seen),
                settings=settings_of(experiment.conditions[model]),
                readings=experiment.readings,
                playing=shlex.join(flags(experiment.data.playing)),
                seed=experiment.game_seed,
                out=f"results/{DATASET}/{model}-seed{games[0].seed}",
            shell:
                "cooperation play --dataset {params.dataset}"
                " --model {params.model}"
                " {params.load}"
                " --dialogs {input.dialogs}"
                " --features {input.features}"
                " {params.pictures}"
                " --reading {params.readings}"
                " --seed {params.seed} {params.playing}"
                " --out {params.out}"
                " > {log} 2>&1"


# Figures 2 to 5: single dialogs without and with a manual intervention, played by the bots of the first seed. A rule
# chooses a dialog by its ranks in one reading, so that all readings play the same.
for model in dict.fromkeys(game.model for game in experiment.manual_games()):
    figures = [game for game in experiment.manual_games() if game.model == model]
    bots = f"{model}-seed{experiment.seeds[0]}"

    rule:
        name:
            f"intervene_{model}"
        input:
            manual=sorted({game.file for game in figures}),
            checkpoint=f"checkpoints/{experiment.bots_of(DATASET)}/{bots}.safetensors",
            dialogs=f"data/{DATASET}/dialogs.h5",
            features=f"data/{DATASET}/features.h5",
            baseline=f"results/{DATASET}/{bots}/{experiment.readings[0]}/none.h5",
            code=sources("intervene", discovered=[]),
        output:
            [game.path for game in figures],
        log:
            f"logs/{DATASET}/intervene_{model}.log",
        benchmark:
            f"logs/{DATASET}/intervene_{model}.tsv"
        conda:
            "../envs/torch.yaml"
        params:
            dataset=DATASET,
            model=model,
            trained=experiment.seeds[0],
            readings=experiment.readings,
            seed=experiment.game_seed,
            out=lambda wildcards, output: Path(output[0]).parents[1],
        shell:
            "cooperation intervene --all --dataset {params.dataset}"
            " --model {params.model} --training-seed {params.trained}"
            " --checkpoint {input.checkpoint}"
            " --dialogs {input.dialogs}"
            " --features {input.features}"
            " --baseline {input.baseline}"
            " --reading {params.readings}"
            " --seed {params.seed}"
            " --out {params.out}"
            " > {log} 2>&1"
