"""What files are made of, by content: the same content has the same identity wherever and whenever it is made.

An identity names each thing that determined a file (the vocabulary, the dialogs of a split, the bots …) with a short
text: what it is in words, and a hash of its content. Time, path, commit, versions and device are no part of it. Who
reads two files compares (`require_same`), so that nothing is computed from files that do not belong together.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cooperation.io.files import InputError

ATTRIBUTE = "identity"
"""Where results and checkpoints keep what they are made of, as JSON."""
DIGITS = 12


@dataclass(frozen=True)
class Identity:
    """What the file at `place` is made of: name of a thing → what it is, and a hash."""

    place: Path
    made_of: Mapping[str, str]

    def only(self, *names: str) -> dict[str, str]:
        """Some of the things, for the identity of a file that is made of this one; raises as `of`."""
        return {name: self.of(name) for name in names}

    def said(self, *names: str) -> dict[str, str]:
        """Those of some things that the file says."""
        return {name: self.made_of[name] for name in names if name in self.made_of}

    def of(self, name: str) -> str:
        """One of the things. Raises `InputError` where the file does not say it."""
        if name not in self.made_of:
            raise InputError(f"{self.place}: does not say its {name}, as files of an earlier version; make it again")
        return self.made_of[name]


def content_hash(*parts: Any) -> str:
    """A hash of what JSON can write: 12 hexadecimal digits of SHA-256."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def named(what: str, *parts: Any) -> str:
    """What a thing is in words, with the hash of what it is made of."""
    return f"{what} ({content_hash(*parts)})"


@dataclass(frozen=True)
class Agreement:
    """The things that must be the same in two files: `always`, and `where_said` if both files say them."""

    always: tuple[str, ...] = ()
    where_said: tuple[str, ...] = ()


def differences(one: Identity, other: Identity, agreement: Agreement) -> dict[str, str]:
    """What differs, by name, in words; raises `InputError` where a file does not say what it must."""
    said = [name for name in agreement.where_said if name in one.made_of and name in other.made_of]
    pairs = {name: (one.of(name), other.of(name)) for name in (*agreement.always, *said)}
    return {name: f"{mine} against {its}" for name, (mine, its) in pairs.items() if mine != its}


def require_same(one: Identity, other: Identity, agreement: Agreement, remedy: str) -> None:
    """Raise `InputError` that names both files, what differs and the remedy, unless they agree."""
    for name, found in differences(one, other, agreement).items():
        raise InputError(f"{one.place} and {other.place} do not belong together: {name}: {found}; {remedy}")
