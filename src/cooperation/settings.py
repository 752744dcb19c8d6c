"""Settings are frozen dataclasses; their fields become flags, with help and default."""

import argparse
from dataclasses import Field, field, fields
from typing import Any, TypeVar

Settings = TypeVar("Settings")


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
                flag(entry.name), action=argparse.BooleanOptionalAction, default=entry.default, help=entry.metadata["help"]
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
