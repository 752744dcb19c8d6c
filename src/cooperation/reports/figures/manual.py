"""Manual interventions, such as the paper's Figures 2 to 5: one dialog without and with it, and its ranks."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from cooperation.config.experiment import Experiment, ManualGame
from cooperation.reports.figures import Description

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cooperation.reports.material import Material


def names(experiment: Experiment) -> Iterable[str]:
    """Those that config.yaml lists for the data set; played under several readings, the first is drawn."""
    return dict.fromkeys(game.figure for game in experiment.manual_games())


def draw(material: "Material", name: str) -> "Figure":
    """Both transcripts side by side, the picture where it was found, and the ranks over rounds 0–10.

    Of the first training; the ranks of the others are thin lines.
    """
    from cooperation.reports.manual_drawing import draw_manual

    first, *others = (material.manual[game] for game in material.manual_games(name))
    return draw_manual(first, material.vocabulary, material.pictures.get(int(first.image_ids[0])), others)


def describe(material: "Material", name: str) -> Description:
    """What was changed, and the ranks without and with it, in each training under each reading."""
    from cooperation.evaluation.transcripts import describe_manual

    first, *others = material.manual_games(name)
    result = material.manual[first]
    drawn = f"Drawn: reading {first.reading}, seed {first.seed}"
    drawn += "; thin lines: the other trainings." if others else ": one training, so others may show something else."
    games = [game for game in material.manual if game.figure == name]
    ends = (
        f"{reading}: {'; '.join(_ends(material, game) for game in games if game.reading == reading)}"
        for reading in dict.fromkeys(game.reading for game in games)
    )
    ranks = f"Rank at round 10, without → with the intervention: {'. '.join(ends)}."
    caption = " ".join(filter(None, (result.attributes["text"], found(material, games), drawn, ranks)))
    title = f"Figure {name}. {result.attributes['title']}"
    return Description(title, describe_manual(result), caption, str(material.path(first)), "manual")


def found(material: "Material", games: Iterable[ManualGame]) -> str:
    """One sentence on whether ours shows what the paper found; "" where the intervention does not say what that is."""
    from cooperation.evaluation.transcripts import SHOWN, contrary

    results = {game: material.manual[game] for game in games}
    said = next(iter(results.values())).attributes.get("found")
    if not said:
        return ""
    others = [f"{game.reading}, seed {game.seed}" for game, result in results.items() if contrary(result)]
    if not others:
        return f"As in the paper, {SHOWN[said]}."
    where = "in all trainings and readings" if len(others) == len(results) else f"({'; '.join(others)})"
    return f"In the paper, {SHOWN[said]}; here it is otherwise {where}."


def _ends(material: "Material", game: ManualGame) -> str:
    """Seed, image and last ranks of one training; a rule may choose another dialog in each."""
    from cooperation.evaluation.transcripts import places, printed

    result = material.manual[game]
    without, with_it = map(printed, places(result.ranks[:, -1]).tolist())
    return f"seed {game.seed} (image {result.image_ids[0]}) {without} → {with_it}"
