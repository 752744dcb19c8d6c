"""What the report's figures and its page are made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from PIL import Image

from cooperation.config.experiment import Experiment, Game, ManualGame
from cooperation.evaluation.results import Result
from cooperation.game.vocabulary import Vocabulary
from cooperation.reports.needed import path_of
from cooperation.reports.paper import Figure
from cooperation.reports.scores import Scores


@dataclass(frozen=True)
class Material:
    """What was read and computed once.

    folder: of the data set's results. results: those whose attributes and transcripts the page shows. manual: those of
    the manual interventions. pictures: of their dialogs, by image id, where they were found.
    lines: the figures of `paper/figures.csv`, by name. published: the table of `paper.read_published`. scores: of all
    results. summary: the table of `statistics.summarise`. diagnostics: that of `diagnostics.diagnose`. size: queries ×
    candidates and training seeds, in words. rehearsal: see `paper.rehearsal`. idle: model, reading and name of the
    conditions that perturbed nothing with some training, and are left out of all numbers.
    """

    experiment: Experiment
    folder: Path
    vocabulary: Vocabulary
    results: Mapping[Game, Result]
    manual: Mapping[ManualGame, Result]
    pictures: Mapping[int, Image.Image]
    lines: Mapping[str, Figure]
    published: pd.DataFrame
    scores: Sequence[Scores]
    summary: pd.DataFrame
    diagnostics: pd.DataFrame
    size: str
    rehearsal: str = ""
    idle: Sequence[tuple[str, str, str]] = ()

    def path(self, game: Game | ManualGame) -> Path:
        """Where a game's result is."""
        return path_of(game, self.folder)

    def manual_games(self, figure: str) -> list[ManualGame]:
        """The manual intervention of a figure, in each of its trainings under the first reading, whose dialog is shown.

        A rule chooses the same dialog for a training's other readings.
        """
        games = [game for game in self.manual if game.figure == figure]
        return [game for game in games if game.reading == games[0].reading]
