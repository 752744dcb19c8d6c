"""config.yaml, read once into frozen settings. Needs nothing but the standard library, since the Snakefile reads it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cooperation.config.conditions import Condition, check_apart, check_name, played_under, read_conditions
from cooperation.config.datasets import Dataset, read_one
from cooperation.config.inputs import check_present
from cooperation.config.rehearsal import SUFFIX, add_rehearsals
from cooperation.config.training import LoadedModel, Model, Training, read_model
from cooperation.game.readings import READINGS
from cooperation.io.files import InputError, at
from cooperation.io.settings import check_seed, known, mapping, names_in

Conditions = Mapping[str, Mapping[str, Condition]]
"""Model → name → condition."""
# Where config.yaml says nothing.
GAME_SEED, BOOTSTRAP_SEED = 1, 0
# The reading under which the controls' worlds are played.
CONTROL_READING = "written"
# The models that the paper's numbers come from, as paper/*.csv name them.
PAPER_MODELS = ("dialog", "round")


@dataclass(frozen=True)
class Game:
    """A game to be played: by bots of a model and a training seed, under a reading and a condition."""

    dataset: str
    model: str
    seed: int
    reading: str
    condition: str

    @property
    def path(self) -> str:
        """The file of its result, relative to the project's folder."""
        return f"results/{self.dataset}/{self.model}-seed{self.seed}/{self.reading}/{self.condition}.h5"


@dataclass(frozen=True)
class ManualGame:
    """A manual intervention to be played under a reading; figure: its name, such as 2; file: what is done (YAML)."""

    dataset: str
    model: str
    seed: int
    reading: str
    figure: str
    file: str

    @property
    def path(self) -> str:
        """Where its result is, from the project's folder."""
        return f"results/{self.dataset}/manual/{self.model}-seed{self.seed}/{self.reading}/figure_{self.figure}.h5"


@dataclass(frozen=True)
class Experiment:
    """What config.yaml asks for.

    seeds: of the trainings; game_seed: of perturbations and swap partners; bootstrap_seed: of the intervals. models:
    by name. conditions: those of the chosen data set. stands_for: name of a model in paper/*.csv → our models that
    stand for it in tables, figures and claims. worlds: data sets of known ground truth, and world_conditions: what is
    played in them.
    """

    dataset: str
    datasets: Mapping[str, Dataset]
    seeds: tuple[int, ...]
    game_seed: int
    bootstrap_seed: int
    readings: tuple[str, ...]
    models: Mapping[str, Model | LoadedModel]
    conditions: Conditions
    stands_for: Mapping[str, tuple[str, ...]]
    worlds: tuple[str, ...] = ()
    world_conditions: Conditions = field(default_factory=dict)

    @property
    def data(self) -> Dataset:
        """The chosen data set."""
        return self.datasets[self.dataset]

    @property
    def controlled(self) -> bool:
        """Whether there are controls' worlds and the chosen data set is none of them."""
        return bool(self.worlds) and self.dataset not in self.worlds

    def training(self, dataset: str, model: str, seed: int) -> Training:
        """How a model's bots are trained on a data set.

        Raises `InputError` where it has no settings for the regime, or the model is loaded.
        """
        chosen = self.models[model]
        if isinstance(chosen, LoadedModel):
            raise InputError(f"models.{model}: is loaded from {chosen.load}, not trained here; give --load")
        return replace(chosen.training(self.datasets[dataset].training, f"datasets.{dataset}.training"), seed=seed)

    def bots_of(self, dataset: str) -> str:
        """The data set whose trainings give a data set's bots: another's, or its own."""
        return self.datasets[dataset].bots or dataset

    def raw(self, dataset: str) -> str:
        """The folder of a data set's raw files, from the project's folder."""
        return f"data/{self.datasets[dataset].raw_of or dataset}/raw"

    @property
    def loaded(self) -> Mapping[str, LoadedModel]:
        """The models that are not trained here, by name."""
        return {name: model for name, model in self.models.items() if isinstance(model, LoadedModel)}

    def conditions_of(self, dataset: str) -> Conditions:
        """What is played on a data set: the chosen one's conditions, or the worlds'."""
        return self.world_conditions if dataset in self.worlds and dataset != self.dataset else self.conditions

    def readings_of(self, dataset: str) -> tuple[str, ...]:
        """The readings that are played on a data set."""
        return self.readings if dataset == self.dataset else (CONTROL_READING,)

    def seeds_of(self, model: str) -> tuple[int, ...]:
        """Seeds of a model's trainings. The results of one that is loaded have the first in their names."""
        return self.seeds[:1] if model in self.loaded else self.seeds

    def games(self, dataset: str) -> list[Game]:
        """All games on a data set, a model's together."""
        readings = self.readings_of(dataset)
        return [
            Game(dataset, model, seed, reading, name)
            for model, conditions in self.conditions_of(dataset).items()
            for name, condition in conditions.items()
            for seed in self.seeds_of(model)
            for reading in readings
            if played_under(condition, reading, readings)
        ]

    def manual_games(self) -> list[ManualGame]:
        """The manual interventions on the chosen data set, played by the bots of each seed, reading by reading."""
        return [
            ManualGame(self.dataset, model, seed, reading, figure, file)
            for reading in self.readings
            for figure, (model, file) in self.data.manual.items()
            if model in self.conditions
            for seed in self.seeds_of(model)
        ]


KEYS = ("dataset", "seeds", "readings", "models", "conditions", "datasets")
OPTIONAL = ("rehearsal", "game_seed", "bootstrap_seed", "paper", "controls")
# What the paper says: its values, its statements, the lines of its figures, and the interventions that they are about.
PUBLISHED, CLAIMS, FIGURES, INTERVENTIONS = PAPER = (
    "paper/published.csv",
    "paper/claims.csv",
    "paper/figures.csv",
    "paper/interventions.csv",
)
# What the controls should give, and the interventions that this is about.
EXPECTED, WORLD_INTERVENTIONS = CONTROLS = ("workflow/controls.csv", "workflow/interventions.csv")


def read(config: Mapping[str, Any]) -> Experiment:
    """Check a whole configuration; raises `InputError` that names the first wrong key and the choices."""
    _refuse_old_keys(config)
    for key in config:
        known(key, (*KEYS, *OPTIONAL), "config")
    missing = [key for key in KEYS if key not in config]
    if missing:
        raise InputError(f"config: the key {missing[0]!r} is missing; see config.yaml")
    found = {
        name: read_one(given, f"datasets.{name}") for name, given in mapping(config["datasets"], "datasets").items()
    }
    for name in found:
        check_name(name, "datasets", "data set")
    check_apart(found, "datasets")
    chosen = _chosen(config)
    found = add_rehearsals(found, chosen)
    known(chosen, found, "dataset")
    _check_bots(found)
    readings = names_in(config["readings"], str, "readings", "[written]")
    for reading in readings:
        known(reading, READINGS, "readings")
    models = _models(config["models"])
    conditions = _conditions(config["conditions"], models, readings, "conditions")
    experiment = Experiment(
        chosen,
        found,
        _seeds(config["seeds"]),
        _seed(config, "game_seed", GAME_SEED),
        _seed(config, "bootstrap_seed", BOOTSTRAP_SEED),
        readings,
        models,
        conditions,
        _stands_for(config.get("paper"), models),
        *_worlds(config.get("controls"), found, [name for name, one in models.items() if isinstance(one, Model)]),
    )
    for dataset in (experiment.dataset, *experiment.worlds):
        _check_variants(experiment, dataset)
        for model, played in experiment.conditions_of(dataset).items():
            if model in experiment.loaded:
                _check_loaded(played, f"conditions.{model}")
    trained = [name for name in models if name not in experiment.loaded]
    for name, (model, _) in experiment.data.manual.items():
        known(model, trained, f"datasets.{experiment.dataset}.manual, figure {name}")
    return experiment


def read_dataset(config: Mapping[str, Any]) -> tuple[str, Dataset]:
    """The chosen data set's name and settings; nothing else of the configuration is checked.

    Raises `InputError` that names the first wrong key and the choices.
    """
    datasets = mapping(config.get("datasets"), "datasets")
    name = str(config.get("dataset"))
    known(name, datasets, "dataset")
    check_name(name, "datasets", "data set")
    return name, read_one(datasets[name], f"datasets.{name}")


def _chosen(config: Mapping[str, Any]) -> str:
    """The chosen data set, or its rehearsal."""
    asked, name = config.get("rehearsal", False), str(config["dataset"])
    if not isinstance(asked, bool):
        raise InputError(f"rehearsal: {asked!r} is neither true nor false")
    return name + SUFFIX if asked and not name.endswith(SUFFIX) else name


def check_given(experiment: Experiment) -> None:
    """Raise `InputError` for a missing file that no rule makes.

    Snakemake looks for such files only where it is to make something of them. For raw files, which may be too large to
    come with a clone, it is the same here.
    """
    place, made = f"datasets.{experiment.dataset}", Path("data", experiment.dataset)
    if not all((made / name).exists() for name in ("dialogs.h5", "features.h5")):
        check_present(experiment.data.inputs, place, experiment.raw(experiment.dataset))
    for path in dict.fromkeys(game.file for game in experiment.manual_games()):
        if not Path(path).is_file():
            raise InputError(
                f"{path}: no such file; write it, as paper/manual/README.md says, or correct {place}.manual"
            )
    for model in experiment.conditions:
        if model in experiment.loaded and not Path(experiment.loaded[model].file).is_file():
            raise InputError(f"{experiment.loaded[model].file}: no such file; write it, or correct models.{model}.load")
    for path in (*PAPER, *(CONTROLS if experiment.controlled else ())):
        if not Path(path).is_file():
            raise InputError(f"{path}: no such file, but it is a part of this project; git checkout -- {path}")


def _check_variants(experiment: Experiment, dataset: str) -> None:
    """Raise `InputError` where two models that play are trained alike, so that one would be trained for nothing."""
    seen: dict[Training, str] = {}
    for model in experiment.conditions_of(dataset):
        if model in experiment.loaded:
            continue
        other = seen.setdefault(experiment.training(dataset, model, experiment.seeds[0]), model)
        if other != model:
            raise InputError(f"models.{model}: trained as {other!r} is on {dataset}; let it differ, or leave it out")


def _check_bots(datasets: Mapping[str, Dataset]) -> None:
    """Raise `InputError` where a data set's bots are of none, or are trained otherwise there than is said here."""
    for name, data in datasets.items():
        if not data.bots:
            continue
        place = f"datasets.{name}"
        known(data.bots, [other for other, one in datasets.items() if not one.bots], f"{place}.bots")
        own = datasets[data.bots]
        for key in ("training", "sizes"):
            if getattr(data, key) != getattr(own, key):
                raise InputError(f"{place}.{key}: is not that of {data.bots}, whose bots play here; leave it the same")
        if getattr(data.steps["features"], "normalisation", "") == "standardise":
            raise InputError(f"{place}.features: standardise needs train images, and {data.bots} has them; take l2")


def _refuse_old_keys(config: Mapping[str, Any]) -> None:
    """Raise `InputError` with the new spelling of a key that is written as it once was."""
    if "weights" in config:
        weights = config["weights"] if isinstance(config["weights"], list) else [1]
        listed = ", ".join(f"w{weight}: {{regime: dialog, image_weight: {weight}}}" for weight in weights)
        raise InputError(f"config: weights is now written models: {{{listed}}}, with conditions for each")
    given = config.get("controls")
    if isinstance(given, Mapping) and isinstance(given.get("conditions"), Mapping) and "none" in given["conditions"]:
        raise InputError("config: controls.conditions is now written controls: {conditions: {dialog: {none: {}, …}}}")


def _models(given: Any) -> Mapping[str, Model | LoadedModel]:
    for name in mapping(given, "models"):
        check_name(name, "models", "model")
    check_apart(given, "models")
    return {name: read_model(settings, f"models.{name}") for name, settings in given.items()}


def _check_loaded(conditions: Mapping[str, Condition], place: str) -> None:
    """Raise `InputError` for a condition that bots of a builder's own can't play."""
    for name, condition in conditions.items():
        with at(f"{place}.{name}"):
            condition.check_text()


def _conditions(given: Any, models: Iterable[str], readings: tuple[str, ...], above: str) -> Conditions:
    found: dict[str, Mapping[str, Condition]] = {}
    for model, conditions in mapping(given, above).items():
        known(model, models, above)
        found[model] = read_conditions(conditions, f"{above}.{model}")
        for name, condition in found[model].items():
            for reading in readings:
                if played_under(condition, reading, readings):
                    with at(f"{above}.{model}.{name}"):
                        condition.check_reading(reading)
    return found


def _seeds(given: Any) -> tuple[int, ...]:
    found = names_in(given, int, "seeds", "[1, 2, 3]")
    for seed in found:
        check_seed(seed, "seeds")
    return found


def _seed(config: Mapping[str, Any], key: str, default: int) -> int:
    value = config.get(key, default)
    if type(value) is not int:
        raise InputError(f"{key}: {value!r} is not a whole number; the default is {default}")
    check_seed(value, key)
    return value


def _stands_for(given: Any, models: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """Name of a model in paper/*.csv → our models that stand for it; by default that of the same name."""
    if given is None:
        return {name: (name,) for name in PAPER_MODELS if name in models}
    found = {}
    for name, listed in mapping(given, "paper").items():
        known(name, PAPER_MODELS, "paper")
        found[name] = names_in(listed, str, f"paper.{name}", "[dialog]")
        for model in found[name]:
            known(model, models, f"paper.{name}")
    return found


def _worlds(given: Any, datasets: Mapping[str, Dataset], models: Iterable[str]) -> tuple[tuple[str, ...], Conditions]:
    """The worlds of the controls, and the conditions that are played in them."""
    if given is None:
        return (), {}
    for key in mapping(given, "controls"):
        known(key, ("worlds", "conditions"), "controls")
    worlds = names_in(given.get("worlds"), str, "controls.worlds", "[nothing]")
    for world in worlds:
        known(world, datasets, "controls.worlds")
    return worlds, _conditions(given.get("conditions"), models, (CONTROL_READING,), "controls.conditions")
