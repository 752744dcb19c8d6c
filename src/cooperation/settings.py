"""Settings are frozen dataclasses; their fields become flags, with help and default."""

import argparse
import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import field, fields
from types import MappingProxyType
from typing import Any, TypeVar

from cooperation.files import InputError

Settings = TypeVar("Settings")
NAMES = {int: "a whole number", float: "a number", str: "a text"}
# Seeds of every library fit into so many bits.
SEEDS = 2**31


def setting(default: Any, text: str, choices: tuple[str, ...] | None = None) -> Any:
    """A dataclass field with a default, a line of help (with its unit) and, where there are some, its choices."""
    return field(default=default, metadata={"help": text, "choices": choices})


def at_least(settings: Any, **least: float) -> None:
    """Check that fields are at least so large."""
    for name, bound in least.items():
        value = getattr(settings, name)
        if not value >= bound:
            raise InputError(f"{name}: {value} is too small; choose at least {bound:g}")


def check_seed(value: int, name: str = "seed") -> None:
    """Check a seed's bounds."""
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
            type=type(entry.default),
            default=entry.default,
            choices=entry.metadata.get("choices"),
            metavar=None if entry.metadata.get("choices") else type(entry.default).__name__.upper(),
            help=text.replace("%", "%%"),
        )


def described(kind: type[Any]) -> str:
    """Every field of a settings dataclass, with help, choices and default, as one text."""
    lines = []
    for entry in fields(kind):
        choices = f"; one of {', '.join(entry.metadata['choices'])}" if entry.metadata["choices"] else ""
        lines.append(f"{entry.name}: {entry.metadata['help']}{choices} (default: {entry.default}).")
    return " ".join(lines)


def from_flags(kind: type[Settings], arguments: argparse.Namespace) -> Settings:
    """Build a settings dataclass from parsed flags."""
    return kind(**{entry.name: getattr(arguments, entry.name) for entry in fields(kind)})  # type: ignore[arg-type]


def flags(settings: Any) -> list[str]:
    """The settings as flags, so that a command line says them all."""
    return [word for entry in fields(settings) for word in (flag(entry.name), str(getattr(settings, entry.name)))]


def checked(kind: type[Settings], given: Any, place: str, fixed: Mapping[str, Any] = MappingProxyType({})) -> Settings:
    """Build a settings dataclass from a mapping of a config file; `place` is its key there, such as `training.dialog`.

    fixed: fields that are not the file's to set.

    An unknown key, a wrong type or an unknown choice is an `InputError` that names the key and the choices.
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
    try:
        return kind(**values, **fixed)
    except InputError as error:
        raise InputError(f"{place}: {error}") from error


def mapping(given: Any, place: str) -> Mapping[str, Any]:
    """Check that a part of a config file has keys."""
    if not isinstance(given, Mapping):
        raise InputError(f"{place}: {given!r} has no keys; write `key: value` lines under it, or {{}}")
    return given


def known(name: Any, choices: Iterable[str], place: str) -> None:
    """Check that a name is one of the choices."""
    choices = list(choices)
    if name not in choices:
        remedy = (
            f"choose from {', '.join(map(str, choices))}" if choices else "leave it out, nothing can be given there"
        )
        raise InputError(f"{place}: unknown {name!r}; {remedy}")
