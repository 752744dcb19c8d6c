"""What must agree before files are used together: the one table of all readers.

A role is what a file is to a command. Where a pair of roles is not listed, any two files may be used together, since
nothing that one holds is about the other.
"""

from collections.abc import Mapping
from types import MappingProxyType

from cooperation.io.identity import Identity, require_same

MUST_AGREE: Mapping[tuple[str, str], tuple[str, ...]] = MappingProxyType(
    {
        # The bots know words by number, and have learnt features of one kind.
        ("checkpoint", "dialogs"): ("vocabulary",),
        ("checkpoint", "features"): ("features",),
        # The unperturbed game is part of others' games: the same bots about the same images.
        ("baseline", "checkpoint"): ("bots",),
        ("baseline", "dialogs"): ("vocabulary", "val dialogs"),
        ("baseline", "features"): ("features", "val images"),
        # Conditions are compared dialog by dialog, and their ranks are among the same candidates.
        ("result", "result"): ("vocabulary", "val dialogs", "features", "val images"),
        # Only the perturbation may differ where conditions are compared.
        ("result of a model and seed", "result of the same"): ("bots",),
        # Transcripts are read, and words counted, by the numbers of one vocabulary.
        ("result", "dialogs"): ("vocabulary", "val dialogs"),
    }
)
"""(role, role) → the things that must be the same in both."""
REMEDIES = MappingProxyType(
    {
        "checkpoint": "give the files that the bots were trained with, or train them again",
        "baseline": "give the condition none of the same bots, dialogs and features",
        "result": "give the file that the games were played with, or play again",
        "result of a model and seed": "give results of the same bots, or play again",
    }
)


def check_together(role: str, one: Identity, other_role: str, other: Identity) -> None:
    """Raise `InputError` that names both files and what differs, where they do not belong together."""
    require_same(one, other, MUST_AGREE[role, other_role], REMEDIES[role])
