"""config.yaml, read once into frozen settings. Needs nothing but the standard library, since the Snakefile reads it."""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from cooperation.conditions import (
    CONTROL,
    READINGS,
    Condition,
    Playing,
    check_apart,
    check_control_settings,
    check_name,
)
from cooperation.files import InputError
from cooperation.models import MODELS, Sizes, Training
from cooperation.preparation import Encoding, Extraction, Genuine, Normalisation, Patience, Source, World
from cooperation.settings import check_seed, checked, known, mapping

Value = TypeVar("Value")


@dataclass(frozen=True)
class Dataset:
    """One data set and the models for it.

    source: where it comes from, one of `SOURCES`; files: paths of files that the user has, by name; downloads: where
    the others come from, by name; shards: jobs that share all pictures; threads: of a job that extracts, trains
    or plays; jobs: what a job plays, one of `JOBS`; steps: settings of the steps that make the data set; training:
    model → how it is trained; manual: name of a figure (2 to 5, or another) → file of its manual intervention.
    """

    source: str
    files: Mapping[str, str]
    downloads: Mapping[str, Source]
    shards: int
    threads: int
    jobs: str
    steps: Mapping[str, Any]
    sizes: Sizes
    training: Mapping[str, Training]
    playing: Playing
    manual: Mapping[str, str]


@dataclass(frozen=True)
class Experiment:
    """What config.yaml asks for.

    conditions: model → name → condition. weights: of the image loss, for the sweep. worlds: data sets whose truth is
    known; control_conditions: what is played in them.
    """

    dataset: str
    data: Dataset
    seeds: tuple[int, ...]
    readings: tuple[str, ...]
    conditions: Mapping[str, Mapping[str, Condition]]
    weights: tuple[float, ...] = ()
    worlds: tuple[str, ...] = ()
    control_conditions: Mapping[str, Condition] = field(default_factory=dict)

    @property
    def manual(self) -> Mapping[str, str]:
        """Name of a figure → file of its manual intervention; the bots of the model `dialog` play them."""
        return self.data.manual if "dialog" in self.conditions else {}

    @property
    def controlled(self) -> bool:
        """Whether there are worlds to run: they are this workflow with another data set, which has none of its own."""
        return bool(self.worlds) and self.dataset not in self.worlds

    def plays(self, model: str, reading: str, condition: str) -> bool:
        """Whether a condition is played under a reading: one that sets the facts apart belongs to the first alone."""
        return self.conditions[model][condition].facts == "reading" or reading == self.readings[0]

    def jobs(self) -> Mapping[str, tuple[str, Mapping[str, tuple[str, ...]]]]:
        """The rules that play: name → model of each job, and the conditions that it plays under each reading.

        Of a rule whose jobs play a condition each, all are wildcards.
        """
        if self.data.jobs == "condition":
            return {"play": ("{model}", {"{reading}": ("{condition}",)})}
        return {
            f"play_{model}": (
                model,
                {
                    reading: tuple(name for name in conditions if self.plays(model, reading, name))
                    for reading in self.readings
                },
            )
            for model, conditions in self.conditions.items()
        }


# The steps that make a data set, by its source: `raw` makes or fetches the raw files, the others work on them.
STEPS = {"text": Encoding, "pictures": Extraction, "features": Normalisation}
SOURCES: Mapping[str, Mapping[str, type[Any]]] = {
    "miniature": {"raw": World, **STEPS},
    "genuine": {"raw": Genuine, **STEPS},
    "visdial": {"raw": Patience, **STEPS},
    # The authors' files are tokens and features already.
    "authors": {"features": Normalisation},
}
# Raw files of VisDial 0.9 and COCO, in which the made-up data sets are written too.
ARCHIVES = ("visdial_0.9_train.zip", "visdial_0.9_val.zip", "train2014.zip", "val2014.zip")
# Files that only the user can give.
GIVEN = {"miniature": (), "genuine": ("dialogs",), "visdial": (), "authors": ("data", "params", "images")}
KEYS = ("dataset", "seeds", "readings", "conditions", "datasets")
OPTIONAL = ("weights", "controls")
DATASET_KEYS = ("source", "files", "threads", "jobs", "sizes", "training", "playing", "manual")
# What a job plays: one condition under one reading, or all of a model, where starting a process costs more than a game.
JOBS = ("condition", "model")
# What the paper says: its values, and its statements.
PUBLISHED, CLAIMS = PAPER = ("paper/published.csv", "paper/claims.csv")
# What the controls should give.
EXPECTED = "workflow/controls.csv"
# Figures that are drawn of something else.
OTHER_FIGURES = ("1a", "1b", "why")


def read(config: Mapping[str, Any]) -> Experiment:
    """Check a whole configuration; the first mistake is an `InputError` that names the key and the choices."""
    config = _typed(config)
    for key in config:
        known(key, (*KEYS, *OPTIONAL), "config")
    missing = [key for key in KEYS if key not in config]
    if missing:
        raise InputError(f"config: the key {missing[0]!r} is missing; see config.yaml")
    found = {
        name: _dataset(given, f"datasets.{name}") for name, given in mapping(config["datasets"], "datasets").items()
    }
    for name in found:
        check_name(name, "datasets", "data set")
    check_apart(found, "datasets")
    known(config["dataset"], found, "dataset")
    data = found[config["dataset"]]
    readings = _list(config["readings"], str, "readings", "[written]")
    for reading in readings:
        known(reading, READINGS, "readings")
    conditions = _conditions(config["conditions"])
    for model in conditions:
        if model not in data.training:
            place = f"datasets.{config['dataset']}.training"
            raise InputError(f"{place}: {model!r} is missing, which has conditions; add `{model}: {{}}`")
    return Experiment(
        config["dataset"],
        data,
        _seeds(config["seeds"]),
        readings,
        conditions,
        _weights(config.get("weights")),
        *_controls(config.get("controls"), found),
    )


def read_dataset(config: Mapping[str, Any]) -> tuple[str, Dataset]:
    """The chosen data set's name and settings; nothing else of the configuration is looked at."""
    config = _typed(config)
    datasets = mapping(config.get("datasets"), "datasets")
    name = str(config.get("dataset"))
    known(name, datasets, "dataset")
    check_name(name, "datasets", "data set")
    return name, _dataset(datasets[name], f"datasets.{name}")


def absent(path: str | Path, key: str) -> str:
    """What is said of a file that only the user can give and that is not there."""
    return f"{path}: no such file; put it there or give its path as {key}"


def ready(path: Path) -> Path:
    """The note that a raw file was there and right."""
    return path.with_name(path.name + ".ready")


def check_given(experiment: Experiment) -> None:
    """Refuse, as an `InputError`, an experiment whose files that no rule makes are not there.

    Snakemake looks for them only where what is made of them is to be made. So do we for those that may be too large
    to come along with a clone.
    """
    place, made = f"datasets.{experiment.dataset}", Path("data", experiment.dataset)
    if not all((made / name).exists() for name in ("dialogs.h5", "features.h5")):
        for name in GIVEN[experiment.data.source]:
            path = experiment.data.files[name]
            if not Path(path).exists():
                raise InputError(absent(path, f"{place}.files.{name}"))
        for name in experiment.data.downloads.keys() & experiment.data.files:
            path, raw = experiment.data.files[name], made / "raw" / name
            if not any(there.exists() for there in (Path(path), raw, ready(raw))):
                raise InputError(absent(path, f"{place}.files.{name}"))
    for path in experiment.manual.values():
        if not Path(path).is_file():
            raise InputError(
                f"{path}: no such file; write it, as paper/manual/README.md says, or correct {place}.manual"
            )
    for path in (*PAPER, *([EXPECTED] if experiment.controlled else [])):
        if not Path(path).is_file():
            raise InputError(f"{path}: no such file, but it is a part of this project; git checkout -- {path}")


def _typed(config: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        return _numbers(config)  # type: ignore[no-any-return]
    except RecursionError as error:
        raise InputError("config: an alias (*) stands within what it stands for; write it out") from error


def _numbers(given: Any) -> Any:
    """Snakemake hands over what stands inside of `--config KEY={…}` as texts: 0.3 as '0.3', true as 'true'."""
    if isinstance(given, Mapping):
        # A hash may consist of digits.
        return {key: value if key == "sha256" else _numbers(value) for key, value in given.items()}
    if isinstance(given, list):
        return [_numbers(value) for value in given]
    for kind in (int, float, {"true": True, "false": False}.__getitem__) if isinstance(given, str) else ():
        try:
            return kind(given)
        except (ValueError, KeyError):
            continue
    return given


def _dataset(given: Any, place: str) -> Dataset:
    known(mapping(given, place).get("source"), SOURCES, f"{place}.source")
    source = given["source"]
    steps = SOURCES[source]
    more = {"downloads"} if source == "visdial" else set()
    more |= {"shards"} if "pictures" in steps else set()
    for key in given:
        known(key, (*DATASET_KEYS, *steps, *sorted(more)), place)
    downloads = _downloads(given.get("downloads", {}), f"{place}.downloads") if source == "visdial" else {}
    training = mapping(given.get("training", {}), f"{place}.training")
    for model, settings in training.items():
        known(model, MODELS, f"{place}.training")
        for key, instead in (("regime", "the model's name says it"), ("seed", "see `seeds`")):
            if key in mapping(settings, f"{place}.training.{model}"):
                raise InputError(f"{place}.training.{model}.{key}: leave it out; {instead}")
    known(given.get("jobs", JOBS[0]), JOBS, f"{place}.jobs")
    return Dataset(
        source=source,
        files=_files(given.get("files", {}), GIVEN[source], tuple(downloads), f"{place}.files"),
        downloads=downloads,
        shards=_count(given, "shards", place),
        threads=_count(given, "threads", place),
        jobs=given.get("jobs", JOBS[0]),
        steps={step: checked(kind, given.get(step, {}), f"{place}.{step}") for step, kind in steps.items()},
        sizes=checked(Sizes, given.get("sizes", {}), f"{place}.sizes"),
        training={
            model: checked(Training, settings, f"{place}.training.{model}", {"regime": model, "seed": Training().seed})
            for model, settings in training.items()
        },
        playing=checked(Playing, given.get("playing", {}), f"{place}.playing"),
        manual=_manual(given.get("manual", []), f"{place}.manual"),
    )


def _manual(given: Any, place: str) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for path in _list(given, str, place, "[paper/manual/miniature/figure_2.yaml]") if given != [] else ():
        name = re.search(r"(?:^|/)figure_([A-Za-z0-9-]+)\.ya?ml$", path)
        if not name:
            raise InputError(f"{place}: {path!r} is not named like figure_2.yaml; rename it")
        check_name(name[1], place, "figure")
        if name[1] in OTHER_FIGURES:
            raise InputError(f"{place}: {path!r} has another figure's name; rename it")
        if name[1] in found:
            raise InputError(f"{place}: {path!r} and {found[name[1]]!r} are the same figure; rename one of them")
        found[name[1]] = path
    check_apart(found, place)
    return found


def _count(given: Mapping[str, Any], key: str, place: str) -> int:
    value = given.get(key, 1)
    if type(value) is not int or value < 1:
        raise InputError(f"{place}.{key}: {value!r} is not a whole number of at least 1")
    return value


def _files(given: Any, needed: tuple[str, ...], optional: tuple[str, ...], place: str) -> Mapping[str, str]:
    for name, path in mapping(given, place).items():
        known(name, (*needed, *optional), place)
        if not isinstance(path, str) or not path:
            raise InputError(f"{place}.{name}: {path!r} is not a path")
    for name in needed:
        if name not in given:
            raise InputError(f"{place}: {name!r} is missing; write its path there")
    return {str(name): path for name, path in given.items()}


def _downloads(given: Any, place: str) -> Mapping[str, Source]:
    """The four archives and, where VGG-16 is not to be untrained, its weights."""
    weights = [str(name) for name in mapping(given, place) if name not in ARCHIVES]
    for name in weights:
        if not name.endswith(".pth"):
            raise InputError(f"{place}: unknown {name!r}; choose from {', '.join(ARCHIVES)} and a name in .pth")
        check_name(name, place, "file")
    if len(weights) > 1:
        raise InputError(f"{place}: {weights[0]!r} and {weights[1]!r} are two sets of weights; keep one")
    for name in ARCHIVES:
        if name not in given:
            raise InputError(f"{place}: {name!r} is missing; write its addresses there")
    return {str(name): _source(found, f"{place}.{name}") for name, found in given.items()}


def _source(given: Any, place: str) -> Source:
    for key in mapping(given, place):
        known(key, ("addresses", "size", "sha256"), place)
    size, sha256 = given.get("size", 0), given.get("sha256", "")
    if type(size) is not int or size < 0:
        raise InputError(f"{place}.size: {size!r} is not a number of bytes")
    if not isinstance(sha256, str) or not re.fullmatch(r"([0-9a-f]{8,64})?", sha256):
        raise InputError(f"{place}.sha256: {sha256!r} is not 8 to 64 hexadecimal digits in quotes")
    return Source(_list(given.get("addresses"), str, f"{place}.addresses", "[https://…]"), size, sha256)


def _conditions(given: Any, above: str = "conditions") -> Mapping[str, Mapping[str, Condition]]:
    found: dict[str, Mapping[str, Condition]] = {}
    for model, conditions in mapping(given, above).items():
        known(model, MODELS, above)
        place = f"{above}.{model}"
        if CONTROL not in mapping(conditions, place):
            raise InputError(f"{place}: {CONTROL!r} is missing, with which all others are compared; add it")
        found[model] = {name: checked(Condition, given, f"{place}.{name}") for name, given in conditions.items()}
        check_control_settings(CONTROL, found[model][CONTROL], f"{place}.{CONTROL}")
        for name in found[model]:
            check_name(name, place)
        check_apart(found[model], place)
        for name in found[model]:
            facts = found[model][name].facts
            if Condition(facts=facts) not in found[model].values():
                raise InputError(
                    f"{place}.{name}: has nothing to be compared with; add none-{facts}: {{facts: {facts}}}"
                )
    return found


def _seeds(given: Any) -> tuple[int, ...]:
    found = _list(given, int, "seeds", "[1, 2, 3]")
    for seed in found:
        check_seed(seed, "seeds")
    return found


def _weights(given: Any) -> tuple[float, ...]:
    """Weights of the image loss: whole numbers are as good as others."""
    if given is None:
        return ()
    largest = sys.float_info.max
    if not isinstance(given, list) or not all(type(one) in (int, float) and 0 <= one <= largest for one in given):
        raise InputError(f"weights: {given!r} is not a list of numbers from 0 on; write for example [0.1, 1, 10]")
    return _list([float(one) for one in given], float, "weights", "[0.1, 1, 10]")


def _controls(given: Any, datasets: Mapping[str, Dataset]) -> tuple[tuple[str, ...], Mapping[str, Condition]]:
    """The worlds of the controls, and the conditions that are played in them."""
    if given is None:
        return (), {}
    for key in mapping(given, "controls"):
        known(key, ("worlds", "conditions"), "controls")
    worlds = _list(given.get("worlds"), str, "controls.worlds", "[nothing]")
    for world in worlds:
        known(world, datasets, "controls.worlds")
        if not re.fullmatch(r"\w+", world) or "dialog" not in datasets[world].training:
            raise InputError(
                f"controls.worlds: {world!r} can't be one; name it in letters, digits and _, and train `dialog` in it"
            )
    return worlds, _conditions({"dialog": given.get("conditions")}, "controls.conditions")["dialog"]


def _list(given: Any, kind: type[Value], place: str, example: str) -> tuple[Value, ...]:
    """A list that is not empty and names nothing twice; `example` is what a mistaken user is shown."""
    if not isinstance(given, list) or not given or not all(type(one) is kind for one in given):
        what = {int: "whole numbers", float: "numbers", str: "texts"}[kind]
        raise InputError(f"{place}: {given!r} is not a list of one or more {what}; write for example {example}")
    if len(set(given)) < len(given):
        raise InputError(f"{place}: {given!r} names something twice; leave one out")
    return tuple(given)
