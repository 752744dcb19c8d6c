"""Settings are frozen dataclasses; their fields become flags, with help and default."""

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import Field, field, fields
from typing import Any, TypeVar

from cooperation.files import InputError

Settings = TypeVar("Settings")
NAMES = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}


def setting(default: Any, text: str, choices: tuple[str, ...] | None = None) -> Any:
    """A dataclass field with a default, a line of help (with its unit) and, where there are some, its choices."""
    return field(default=default, metadata={"help": text, "choices": choices})


def flag(name: str) -> str:
    """The flag of a field."""
    return "--" + name.replace("_", "-")


def _type(entry: "Field[Any]") -> Any:
    return {int: int, float: float, str: str}[type(entry.default)]


def add_flags(parser: argparse.ArgumentParser, kind: type[Any]) -> None:
    """Add one flag for every field of a settings dataclass."""
    group = parser.add_argument_group((kind.__doc__ or kind.__name__).splitlines()[0])
    for entry in fields(kind):
        text = f"{entry.metadata['help']} (default: {entry.default})"
        if isinstance(entry.default, bool):
            group.add_argument(
                flag(entry.name),
                action=argparse.BooleanOptionalAction,
                default=entry.default,
                help=entry.metadata["help"],
            )
        else:
            group.add_argument(
                flag(entry.name),
                type=_type(entry),
                default=entry.default,
                choices=entry.metadata.get("choices"),
                metavar=None if entry.metadata.get("choices") else _type(entry).__name__.upper(),
                help=text.replace("%", "%%"),
            )


def from_flags(kind: type[Settings], arguments: argparse.Namespace) -> Settings:
    """Build a settings dataclass from parsed flags."""
    return kind(**{entry.name: getattr(arguments, entry.name) for entry in fields(kind)})  # type: ignore[arg-type]


def flags(settings: Any) -> list[str]:
    """The settings as flags, so that a command line says them all."""
    words: list[str] = []
    for entry in fields(settings):
        value = getattr(settings, entry.name)
        if isinstance(value, bool):
            words.append(flag(entry.name) if value else flag("no-" + entry.name))
        else:
            words += [flag(entry.name), str(value)]
    return words


def checked(kind: type[Settings], given: Any, place: str) -> Settings:
    """Build a settings dataclass from a mapping of a config file; `place` is its key there, such as `training.dialog`.

    An unknown key, a wrong type or an unknown choice is an `InputError` that names the key and the choices.
    """
    entries = {entry.name: entry for entry in fields(kind)}  # type: ignore[arg-type]
    for key, value in mapping(given, place).items():
        known(key, entries, f"{place}.{key}")
        wanted = type(entries[key].default)
        # A whole number is as good as a number; true and false are neither.
        if isinstance(value, bool) != (wanted is bool) or not isinstance(
            value, (wanted, int) if wanted is float else wanted
        ):
            raise InputError(
                f"{place}.{key}: {value!r} is not {NAMES[wanted]}; the default is {entries[key].default!r}"
            )
        if entries[key].metadata.get("choices"):
            known(value, entries[key].metadata["choices"], f"{place}.{key}")
    try:
        return kind(**given)
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
        raise InputError(f"{place}: unknown {name!r}; choose from {', '.join(choices)}")
