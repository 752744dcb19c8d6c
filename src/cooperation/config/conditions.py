"""The conditions under which games are played: what is perturbed, from which round on, and who talks.

Needs nothing but the standard library, since the Snakefile reads it.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from cooperation.game.interventions import CHANNELS, Kind, kinds, kinds_of, name_of
from cooperation.game.readings import READINGS, own
from cooperation.io.files import InputError
from cooperation.io.settings import at_least, check_bounds, checked, described, flow, known, mapping, setting

BASELINE = "none"
"""Name of the condition in which nothing is perturbed, which gaps are measured against."""
PARTS = ("channel", "kind")
"""Keys of a condition that say what is perturbed; the kind's own parameters are further keys."""


@dataclass(frozen=True)
class Condition:
    """what is done to the game, and who talks

    channel: one of `CHANNELS`, or "none"; kind: what is done to it, None where nothing is.

    Raises `InputError` where the parts don't go together.
    """

    channel: str = "none"
    kind: Kind | None = None
    start: int = setting(1, "first round that is perturbed, 1 to 10; 1 is the beginning", at_least=1, at_most=10)
    script: str = setting(
        "none", "what the recorded human dialog says instead of the bots", ("none", "questions", "dialog")
    )
    facts: str = setting(
        "reading",
        "how the bots read questions and facts: as the reading says, or in one format whatever it says",
        ("reading", "marked", "bare", "plain"),
    )

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.kind is None:
            if self.channel != "none":
                raise InputError(f"channel: {self.channel}, but no kind says what is done to it; add one")
            if self.start != 1:
                raise InputError(f"start: {self.start}, but nothing is perturbed; leave start out")
            return
        known(self.channel, self.kind.channels, f"channel of the kind {name_of(self.kind)}")
        if self.channel == "caption" and self.start > 1:
            raise InputError(f"start: {self.start}, but the caption is read before round 1; leave start out")
        if self.channel == "image" and self.script == "dialog":
            raise InputError("script: dialog, but where people answer nobody sees the image; leave script out")
        if self.kind.uses_other_dialogs and self.channel == "answer" and self.script == "questions":
            raise InputError("script: questions, but other dialogs' answers were given to the bots' own questions")
        if self.takes_messages and self.facts != "reading":
            raise InputError(f"facts: {self.facts}, but other dialogs' messages were said under the reading's")

    def idle(self, perturbed: Any) -> bool:
        """Whether it changed nothing in a game, although it must, which would look like robustness.

        perturbed: how many messages it changed in each round, [11].
        """
        return self.kind is not None and not self.kind.may_change_nothing and not perturbed.any()

    @property
    def takes_messages(self) -> bool:
        """Whether other dialogs' questions or answers are delivered: those must have been said before."""
        return self.kind is not None and self.kind.uses_other_dialogs and self.channel in ("question", "answer")

    @property
    def needs_baseline(self) -> bool:
        """Whether the bots' unperturbed game must have been played before.

        The rounds before `start` are taken from it, and so is what bots say in other dialogs. Not where people talk, as
        their words are recorded, nor with other facts, since such a game differs from the first round on.
        """
        return self.script == "none" and self.facts == "reading" and (self.start > 1 or self.takes_messages)

    @property
    def branches(self) -> bool:
        """Whether all that the game takes from the baseline is the rounds before its start."""
        return self.needs_baseline and not self.takes_messages

    @property
    def settings(self) -> dict[str, Any]:
        """The condition as config.yaml writes it, all defaults said; `read_condition` reads it back."""
        own_fields = {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name not in PARTS}
        if self.kind is None:
            del own_fields["start"]
            return own_fields
        return {"channel": self.channel, "kind": name_of(self.kind), **asdict(self.kind), **own_fields}

    @property
    def text(self) -> str:
        """The condition in a line: {channel: caption, kind: replace, p: 0.2, start: 1}; equal where conditions are.

        What is done, its parameters and its start are always said, script and facts where they are not the default.
        """
        usual = Condition().settings
        said = {name: value for name, value in self.settings.items() if usual.get(name) != value}
        return flow(said)

    def check_reading(self, reading: str) -> None:
        """Raise `InputError` where nobody hears or remembers, under this reading, what is perturbed."""
        if self.channel == "question" and self.script == "dialog" and READINGS[reading].remember is own:
            raise InputError(
                "channel: question, but where people answer nobody hears what is delivered, and in the reading "
                f"{reading} nobody remembers it; leave script out"
            )

    def check_text(self) -> None:
        """Raise `InputError` where bots that talk in text can't play it."""
        if self.facts != "reading":
            raise InputError(f"facts: {self.facts}, but a model that is loaded reads texts; leave facts out")

    @property
    def same_in_text(self) -> bool:
        """Whether bots that talk in text play it alike under all readings.

        These differ in what a bot remembers of its own perturbed messages, and in what some kinds do.
        """
        as_written = self.kind is None or type(self.kind).deliver_as_released is Kind.deliver_as_released
        return self.channel in ("none", "image") or (self.channel == "caption" and as_written)


CONDITION_KEYS = tuple(entry.name for entry in fields(Condition) if entry.name not in PARTS)


def read_condition(given: Any, place: str) -> Condition:
    """Build a condition from a mapping such as {channel: question, kind: replace, p: 0.5, start: 3}.

    place: what messages call it. Raises `InputError` that names the key and the choices.
    """
    given = mapping(given, place)
    _refuse_old_spelling(given, place)
    kind = _kind_of(given, place)
    parameters = tuple(entry.name for entry in fields(kind)) if kind else ()
    for key in given:
        known(key, (*PARTS, *parameters, *CONDITION_KEYS), f"{place}.{key}")
    perturbed: dict[str, Any] = {"channel": "none", "kind": None}
    if kind:
        own_parameters = {name: given[name] for name in parameters if name in given}
        perturbed = {"channel": given["channel"], "kind": checked(kind, own_parameters, place)}
    return checked(Condition, {name: given[name] for name in CONDITION_KEYS if name in given}, place, perturbed)


def _kind_of(given: Mapping[str, Any], place: str) -> type[Kind] | None:
    """The kind that a condition names, None where nothing is perturbed."""
    if "channel" not in given and "kind" not in given:
        return None
    if "channel" not in given:
        parameters = (entry.name for kind in kinds().values() for entry in fields(kind))
        for key in given:
            known(key, (*PARTS, *dict.fromkeys(parameters), *CONDITION_KEYS), f"{place}.{key}")
        known(given["kind"], kinds(), f"{place}.kind")
        channels = ", ".join(kinds()[given["kind"]].channels)
        raise InputError(f"{place}: no channel for the kind {given['kind']}; choose from {channels}")
    known(given["channel"], CHANNELS, f"{place}.channel")
    able = kinds_of(given["channel"])
    if given["kind"] in list(kinds()) and given["kind"] not in able:
        only = ", ".join(kinds()[given["kind"]].channels)
        remedy = f"for the {given['channel']} choose from {', '.join(able)}"
        raise InputError(f"{place}.kind: {given['kind']!r} is for {only} alone; {remedy}")
    known(given["kind"], able, f"{place}.kind")
    return kinds()[given["kind"]]


def _refuse_old_spelling(given: Mapping[str, Any], place: str) -> None:
    """Raise `InputError` with the new spelling of a condition that is written as it once was.

    Then the channel alone said what is done to it, unless `by: swap` stood beside it, and negation was a channel.
    """
    channel = given.get("channel")
    old = channel in ("none", "negation") or (channel in CHANNELS and ("by" in given or "kind" not in given))
    if not old:
        return
    rest = {key: value for key, value in given.items() if key not in (*PARTS, "by")}
    new: dict[str, Any] = {}
    if channel == "negation":
        new = {"channel": "answer", "kind": "negate"}
    elif channel in CHANNELS:
        usual = given.get("kind", "noise" if channel == "image" else "replace")
        new = {"channel": channel, "kind": "swap" if given.get("by") == "swap" else usual}
    others = "" if channel not in CHANNELS or "by" in given else f"; other kinds: {', '.join(kinds_of(channel))}"
    raise InputError(f"{place}: {flow(given)} is now written {flow({**new, **rest})}{others}")


def conditions_help() -> str:
    """All keys of a condition and all kinds with their parameters, in words."""
    each = (
        f"{name} ({', '.join(kind.channels)}): {kind.__doc__}. {described(kind)}".rstrip()
        for name, kind in kinds().items()
    )
    return f"channel: one of {', '.join(CHANNELS)}. {described(Condition)} kind: one of: {' '.join(each)}"


def played_under(condition: Condition, reading: str, readings: Iterable[str]) -> bool:
    """Whether a condition is played under a reading: one that sets the format of facts, only under the first."""
    return condition.facts == "reading" or reading == next(iter(readings))


def check_name(name: object, place: str, what: str = "condition") -> None:
    """Raise `InputError` for what can't name a condition (or something else, `what`): it becomes part of a path."""
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise InputError(f"{place}: {name!r} is no name for a {what}; use letters, digits, '.', '_', '-'")


def check_apart(names: Iterable[str], place: str) -> None:
    """Raise `InputError` for names that differ in case alone: some file systems take them for the same."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.lower(), name)
        if other != name:
            raise InputError(f"{place}: {other!r} and {name!r} differ in case alone; rename one of them")


def read_conditions(given: Any, place: str) -> dict[str, Condition]:
    """Read conditions by name, and check that each has the baseline that its gap is measured against.

    Raises `InputError` that names the place.
    """
    if BASELINE not in mapping(given, place):
        raise InputError(f"{place}: {BASELINE!r} is missing, which the gaps are measured against; add it")
    found = {name: read_condition(settings, f"{place}.{name}") for name, settings in given.items()}
    check_names(found, place)
    for name, condition in found.items():
        if Condition(facts=condition.facts) not in found.values():
            baseline = f"none-{condition.facts}: {{facts: {condition.facts}}}"
            raise InputError(f"{place}.{name}: has no baseline; add {baseline}")
    return found


def check_names(conditions: Mapping[str, Condition], place: str) -> None:
    """Raise `InputError` for names that can't stand side by side, or another condition under the baseline's name.

    Nor may two names stand for the same condition: one of them would be played for nothing.
    """
    for name in conditions:
        check_name(name, place)
    check_apart(conditions, place)
    if conditions.get(BASELINE, Condition()) != Condition():
        raise InputError(f"{place}: {BASELINE!r} is the baseline of all others; leave it {{}}")
    seen: dict[Condition, str] = {}
    for name, condition in conditions.items():
        other = seen.setdefault(condition, name)
        if other != name:
            raise InputError(f"{place}: {other!r} and {name!r} are the same, {condition.text}; leave one out")


@dataclass(frozen=True)
class Playing:
    """how games are played and ranked"""

    candidates: int = setting(40000, "the first so many validation images are guessed, among themselves")
    batch: int = setting(1024, "dialogs played at a time")
    among: str = setting(
        "dialogs",
        "a guess is ranked among the pictures of the dialogs, or all pictures of the val split",
        ("dialogs", "pictures"),
    )

    def __post_init__(self) -> None:
        at_least(self, candidates=1, batch=1)


# What a loaded model plays where the settings do not say it: each channel's noise, and the same of another dialog. Not
# negation, as there are bots that never say yes or no.
LOADED_CONDITIONS = read_conditions(
    {
        BASELINE: {},
        "human": {"script": "dialog"},
        "image-from1": {"channel": "image", "kind": "noise"},
        "caption-p1": {"channel": "caption", "kind": "replace"},
        "question-from1-p1": {"channel": "question", "kind": "replace"},
        "answer-from1-p1": {"channel": "answer", "kind": "replace"},
        "image-swap": {"channel": "image", "kind": "swap"},
        "caption-swap": {"channel": "caption", "kind": "swap"},
        "question-swap": {"channel": "question", "kind": "swap"},
        "answer-swap": {"channel": "answer", "kind": "swap"},
    },
    "loaded",
)

# Worlds of scripted bots, whose outcome is known: an honest pair, and one whose questioner sees some of the picture.
ORACLE_WORLDS = ("scripted", "scripted_leak")

# What they play. All their questions are the same, so a swap would change none.
ORACLE_CONDITIONS = read_conditions(
    {
        BASELINE: {},
        "image": {"channel": "image", "kind": "noise"},
        "caption": {"channel": "caption", "kind": "replace"},
        "question": {"channel": "question", "kind": "replace"},
        "answer": {"channel": "answer", "kind": "replace"},
        "negation": {"channel": "answer", "kind": "negate"},
        "image-swap": {"channel": "image", "kind": "swap"},
        "caption-swap": {"channel": "caption", "kind": "swap"},
        "answer-swap": {"channel": "answer", "kind": "swap"},
    },
    "scripted",
)
