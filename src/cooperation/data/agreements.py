"""What must agree before files are used together: the one table of all readers.

A role is what a file is to a command. Where a pair of roles is not listed, any two files may be used together, since
nothing that one holds is about the other.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from cooperation.data.archives import MADE_UP
from cooperation.io.files import InputError, digest, file_errors
from cooperation.io.identity import DIGITS, Agreement, Identity, require_same

OF_MODEL, OF_BOTS = "result of a model", "result of a model and seed"
OTHERS = OTHER_FEATURES, OTHER_DIALOGS = "other_features", "other_dialogs"
"""Attributes of results for which files were mixed that do not belong together, as an experiment: what differs."""

MUST_AGREE: Mapping[tuple[str, str], Agreement] = MappingProxyType(
    {
        # Two made-up worlds may have the same image ids; those of real images are the same everywhere.
        ("dialogs", "features"): Agreement(where_said=(MADE_UP,)),
        ("dialogs", "pictures"): Agreement(where_said=(MADE_UP,)),
        # The bots know words by number, and have learnt from dialogs and features of one data set.
        ("checkpoint", "dialogs"): Agreement(("vocabulary",), ("train dialogs",)),
        ("checkpoint", "features"): Agreement(("features",), ("train images",)),
        # The unperturbed game is part of others' games: the same bots about the same images.
        ("baseline", "checkpoint"): Agreement(("bots",)),
        ("baseline", "dialogs"): Agreement(("vocabulary", "val dialogs")),
        ("baseline", "features"): Agreement(("features", "val images")),
        # Conditions are compared dialog by dialog, and their ranks are among the same candidates, of which a builder's
        # bots may have features of their own.
        ("result", "result"): Agreement(
            ("vocabulary", "val dialogs", "candidates", "game seed"), ("features", "val images")
        ),
        # Seeds are averaged: the bots of a model are trained in one way, on the same data.
        (OF_MODEL, OF_MODEL): Agreement(("training",), ("train dialogs", "train images")),
        # Only the perturbation may differ where conditions are compared.
        (OF_BOTS, OF_BOTS): Agreement(("bots",)),
        # The game by whose ranks a rule chose the dialog, the same under all readings.
        ("manual result", "baseline"): Agreement(where_said=("baseline",)),
        ("manual result", "intervention"): Agreement(("intervention",)),
        # Transcripts are read, and words counted, by the numbers of one vocabulary.
        ("result", "dialogs"): Agreement(("vocabulary", "val dialogs"), ("train dialogs",)),
        # Manual interventions are shown with their pictures.
        ("pictures", "result"): Agreement(where_said=(MADE_UP,)),
    }
)
"""(role, role) → the things that must be the same in both."""
REMEDIES = MappingProxyType(
    {
        "dialogs": "give dialogs, features and pictures of one data set",
        "checkpoint": "give the files that the bots were trained with, or train them again",
        "baseline": "give the condition none of the same bots, dialogs and features",
        "result": "give files of the same games, or play again",
        OF_MODEL: "give results of bots that were trained alike, or name the others' model otherwise",
        OF_BOTS: "give results of the same bots, or play again",
        "manual result": "play the manual intervention again",
        "pictures": "give the archives that the features were extracted from",
    }
)


def identity_of_intervention(path: Path) -> Identity:
    """What a file of a manual intervention says, comments included. Raises `InputError` where there is none."""
    with file_errors(path):
        if not path.is_file():
            raise InputError(f"{path}: no such file; paper/manual/README.md says how to write one")
        return Identity(path, {"intervention": f"{path.stem} ({digest(path)[:DIGITS]})"})


def check_together(role: str, one: Identity, other_role: str, other: Identity) -> None:
    """Raise `InputError` that names both files and what differs, where they do not belong together."""
    require_same(one, other, MUST_AGREE[role, other_role], REMEDIES[role])


def check_comparable(results: Iterable[tuple[str, int, Identity]]) -> None:
    """Compare results, each with the model's name and the training's seed, with the first, and with the bots' others.

    Raises `InputError` as `check_together`.
    """
    first: dict[tuple[str, str | int, str | int], Identity] = {}
    for model, seed, identity in results:
        for role, *bots in (("result", "", ""), (OF_MODEL, model, ""), (OF_BOTS, model, seed)):
            check_together(role, first.setdefault((role, *bots), identity), role, identity)
