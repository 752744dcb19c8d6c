"""Settings are frozen dataclasses; their fields become flags, with help and default."""

import argparse
import json
import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import field, fields
from types import MappingProxyType
from typing import Any, TypeVar

from cooperation.io.files import InputError, at

Settings = TypeVar("Settings")
Value = TypeVar("Value")
NAMES = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}
# Seeds of every library fit into so many bits.
SEEDS = 2**31
LARGEST = 2**31 - 1
"""No number of anything here is larger, nor could libraries count so many."""


def setting(default: Any, text: str, choices: tuple[str, ...] | None = None, **bounds: float) -> Any:
    """A dataclass field with a default, a line of help (with its unit) and, where it has some, choices or bounds.

    bounds: `at_least`, `at_most`, `above`, which `check_bounds` checks.
    """
    return field(default=default, metadata={"help": text, "choices": choices, "bounds": bounds})


def check_bounds(settings: Any) -> None:
    """Raise `InputError` where a field of a settings dataclass is out of its bounds."""
    for entry in fields(settings):
        value, bounds = getattr(settings, entry.name), entry.metadata.get("bounds")
        if not bounds:
            continue
        outside = (
            value < bounds.get("at_least", value)
            or value > bounds.get("at_most", value)
            or value <= bounds.get("above", -math.inf)
        )
        if outside or math.isnan(value):
            allowed = " and ".join(f"{name.replace('_', ' ')} {bound:g}" for name, bound in bounds.items())
            raise InputError(f"{entry.name}: {value} is out of bounds; choose a number {allowed}")


def at_least(settings: Any, **least: float) -> None:
    """Raise `InputError` where a field of a settings dataclass is smaller than stated; least: field → bound.

    So it does where one is larger than `LARGEST`, or infinite.
    """
    for name, bound in least.items():
        check_size(getattr(settings, name), name, bound)


def check_size(value: float, name: str, least: float = 1, most: float = LARGEST) -> None:
    """Raise `InputError` for a number out of bounds; name: what messages call it."""
    if not value >= least:
        raise InputError(f"{name}: {value} is too small; choose at least {least:g}")
    if not value <= most:
        raise InputError(f"{name}: {value} is too large; choose at most {most:,}")


def check_seed(value: int, name: str = "seed") -> None:
    """Raise `InputError` for a number that is no seed."""
    if not 0 <= value < SEEDS:
        raise InputError(f"{name}: {value} is no seed; choose a whole number from 0 to {SEEDS - 1:,}")


def flag(name: str) -> str:
    """The flag of a field."""
    return "--" + name.replace("_", "-")


def add_flags(parser: argparse.ArgumentParser, kind: type[Any]) -> None:
    """Add one flag for every field of a settings dataclass."""
    group = parser.add_argument_group((kind.__doc__ or kind.__name__).splitlines()[0])
    for entry in fields(kind):
        text = f"{entry.metadata['help']} (default: {entry.default})"
        group.add_argument(
            flag(entry.name),
            type=_boolean if isinstance(entry.default, bool) else type(entry.default),
            default=entry.default,
            choices=entry.metadata.get("choices"),
            metavar=None if entry.metadata.get("choices") else type(entry.default).__name__.upper(),
            help=text.replace("%", "%%"),
        )


def _boolean(text: str) -> bool:
    try:
        return {"true": True, "false": False}[text.lower()]
    except KeyError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither true nor false") from None


def described(kind: type[Any]) -> str:
    """Every setting of a dataclass, with help, choices and default, as one text."""
    lines = []
    for entry in fields(kind):
        if "help" in entry.metadata:
            choices = f"; one of {', '.join(entry.metadata['choices'])}" if entry.metadata["choices"] else ""
            lines.append(f"{entry.name}: {entry.metadata['help']}{choices} (default: {entry.default}).")
    return " ".join(lines)


def from_flags(kind: type[Settings], arguments: argparse.Namespace) -> Settings:
    """Build a settings dataclass from parsed flags."""
    return kind(**{entry.name: getattr(arguments, entry.name) for entry in fields(kind)})  # type: ignore[arg-type]


def flags(settings: Any) -> list[str]:
    """The flags of a command line that states all of the settings."""
    return [word for entry in fields(settings) for word in (flag(entry.name), str(getattr(settings, entry.name)))]


def in_words(name: str, settings: Any) -> str:
    """All of the settings in one line, such as `miniature: seed 1, train 2000`."""
    return f"{name}: " + ", ".join(f"{entry.name} {getattr(settings, entry.name)}" for entry in fields(settings))


def flow(given: Mapping[str, Any]) -> str:
    """A mapping as YAML writes it in a line."""
    return "{" + ", ".join(f"{key}: {value}" for key, value in given.items()) + "}"


def checked(kind: type[Settings], given: Any, place: str, fixed: Mapping[str, Any] = MappingProxyType({})) -> Settings:
    """Build a settings dataclass from a mapping of a config file.

    place: its key there, such as `training.dialog`. fixed: values of the fields that the file must not set. Raises
    `InputError` that names the key and the choices for an unknown key or choice, a wrong type or a value out of bounds.
    """
    entries = {entry.name: entry for entry in fields(kind)}  # type: ignore[arg-type]
    values: dict[str, Any] = {}
    for key, value in mapping(given, place).items():
        known(key, [name for name in entries if name not in fixed], f"{place}.{key}")
        default: Any = entries[key].default
        wanted = type(default)
        # A whole number is as good as a number, and no other setting than it: 8 is 8.0.
        fits = wanted is float and type(value) is int and value.bit_length() < sys.float_info.max_exp
        values[key] = float(value) if fits else value
        if type(values[key]) is not wanted or (wanted is float and not math.isfinite(values[key])):
            raise InputError(f"{place}.{key}: {value!r} is not {NAMES[wanted]}; the default is {default!r}")
        if entries[key].metadata.get("choices"):
            known(value, entries[key].metadata["choices"], f"{place}.{key}")
    with at(place):
        return kind(**values, **fixed)


def typed(given: Any, written: Any = None) -> Any:
    """Turn texts into numbers and booleans: Snakemake passes those within `--config KEY={…}` as '0.3' or 'true'.

    written: what the files of settings say, whose texts stay texts.
    """
    if isinstance(given, Mapping):
        known = written if isinstance(written, Mapping) else {}
        # A hash may consist of digits.
        return {key: value if key == "sha256" else typed(value, known.get(key)) for key, value in given.items()}
    if isinstance(given, list):
        same = written if isinstance(written, list) and len(written) == len(given) else [None] * len(given)
        return [typed(value, one) for value, one in zip(given, same, strict=True)]
    if given == written:
        return given
    for kind in (int, float, {"true": True, "false": False}.__getitem__) if isinstance(given, str) else ():
        try:
            return kind(given)
        except (ValueError, KeyError):
            continue
    return given


def mapping(given: Any, place: str) -> Mapping[str, Any]:
    """Return a part of a config file that must have keys; raises `InputError` that names `place` where it has none."""
    if not isinstance(given, Mapping):
        raise InputError(f"{place}: {given!r} has no keys; write `key: value` lines under it, or {{}}")
    return given


def plain(given: Any, place: str) -> Any:
    """The same as JSON holds it: other values, such as YAML's dates, become what they print.

    Raises `InputError` that names `place` for keys that are no texts or numbers, and for what holds itself.
    """
    try:
        return json.loads(json.dumps(given, default=str))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{place}: not plain names and values ({error})") from error


def known(name: Any, choices: Iterable[str], place: str) -> None:
    """Raise `InputError` that names `place` and the choices for a name that is none of them."""
    choices = list(choices)
    if name not in choices:
        remedy = (
            f"choose from {', '.join(map(str, choices))}" if choices else "leave it out, nothing can be given there"
        )
        raise InputError(f"{place}: unknown {name!r}; {remedy}")


def names_in(given: Any, kind: type[Value], place: str, example: str) -> tuple[Value, ...]:
    """Check that a part of a config file is a list that is not empty and names nothing twice.

    example: what the message shows of such a list.
    """
    if not isinstance(given, list) or not given or not all(type(one) is kind for one in given):
        what = {int: "whole numbers", float: "numbers", str: "texts"}[kind]
        raise InputError(f"{place}: {given!r} is not a list of one or more {what}; write for example {example}")
    if len(set(given)) < len(given):
        raise InputError(f"{place}: {given!r} names something twice; leave one out")
    return tuple(given)
