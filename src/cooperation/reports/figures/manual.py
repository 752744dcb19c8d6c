"""Manual interventions, such as the paper's Figures 2 to 5: one dialog without and with it, and its ranks."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from cooperation.config.experiment import Experiment
from cooperation.reports.figures import Description

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cooperation.reports.material import Material


def names(experiment: Experiment) -> Iterable[str]:
    """Those that config.yaml lists for the data set; played under several readings, the first is drawn."""
    return dict.fromkeys(game.figure for game in experiment.manual_games())


def draw(material: "Material", name: str) -> "Figure":
    """Both transcripts side by side, the picture where it was found, and the ranks over rounds 0–10."""
    from cooperation.reports.manual_drawing import draw_manual

    result = material.manual[material.manual_game(name)]
    return draw_manual(result, material.vocabulary, material.pictures.get(int(result.image_ids[0])))


def describe(material: "Material", name: str) -> Description:
    """What was changed, and the ranks without and with it."""
    from cooperation.evaluation.transcripts import describe_manual

    game = material.manual_game(name)
    attributes = material.manual[game].attributes
    caption = f"{attributes['text']} (Reading {game.reading}, training seed {game.seed}.)"
    title = f"Figure {name}. {attributes['title']}"
    alt = describe_manual(material.manual[game])
    return Description(title, alt, caption, str(material.path(game)), "manual")
