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
        "cooperation train"
        " --dialogs {input.dialogs}"
        " --features {input.features}"
        " {params.training}"
        " --out {output}"
        " > {log} 2>&1"


# One condition under one reading.
rule play:
    input:
        checkpoint=rules.train.output,
        dialogs="data/{dataset}/dialogs.h5",
        features="data/{dataset}/features.h5",
        baseline=baseline,
        code=sources("play"),
    output:
        "results/{dataset}/{model}-seed{seed}/{reading}/{condition}.h5",
    log:
        "logs/{dataset}/play_{model}-seed{seed}_{reading}_{condition}.log",
    benchmark:
        "logs/{dataset}/play_{model}-seed{seed}_{reading}_{condition}.tsv"
    wildcard_constraints:
        dataset=only(lambda data: data.jobs == "condition"),
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
        " --model {wildcards.model}"
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
    for model in dict.fromkeys(game.model for game in games):

        rule:
            name:
                f"{prefix}_{model}"
            input:
                checkpoint=f"checkpoints/{{dataset}}/{model}-seed{{seed}}.safetensors",
                dialogs="data/{dataset}/dialogs.h5",
                features="data/{dataset}/features.h5",
                code=sources("play"),
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
                settings=settings_of(experiment.conditions_of(together[0])[model]),
                readings=experiment.readings_of(together[0]),
                playing=played,
                seed=experiment.game_seed,
            shell:
                "cooperation play --dataset {wildcards.dataset}"
                " --model {params.model}"
                " --checkpoint {input.checkpoint}"
                " --dialogs {input.dialogs}"
                " --features {input.features}"
                " --reading {params.readings}"
                " --seed {params.seed} {params.playing}"
                " --out results/{wildcards.dataset}/{params.model}-seed{wildcards.seed}"
                " > {log} 2>&1"


# Figures 2 to 5: single dialogs without and with a manual intervention, played by the bots of the first seed. A rule
# chooses a dialog by its ranks in one reading, so that all readings play the same.
for model in dict.fromkeys(game.model for game in experiment.manual_games()):
    figures = [game for game in experiment.manual_games() if game.model == model]
    bots = f"{DATASET}/{model}-seed{experiment.seeds[0]}"

    rule:
        name:
            f"intervene_{model}"
        input:
            manual=sorted({game.file for game in figures}),
            checkpoint=f"checkpoints/{bots}.safetensors",
            dialogs=f"data/{DATASET}/dialogs.h5",
            features=f"data/{DATASET}/features.h5",
            baseline=f"results/{bots}/{experiment.readings[0]}/none.h5",
            code=sources("intervene"),
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
            readings=experiment.readings,
            seed=experiment.game_seed,
            out=lambda wildcards, output: Path(output[0]).parents[1],
        shell:
            "cooperation intervene --all --dataset {params.dataset}"
            " --model {params.model}"
            " --checkpoint {input.checkpoint}"
            " --dialogs {input.dialogs}"
            " --features {input.features}"
            " --baseline {input.baseline}"
            " --reading {params.readings}"
            " --seed {params.seed}"
            " --out {params.out}"
            " > {log} 2>&1"
