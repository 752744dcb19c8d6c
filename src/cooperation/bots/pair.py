"""The two trained bots of a checkpoint, ready to play."""

from dataclasses import dataclass

from cooperation.bots.checkpoint import Checkpoint
from cooperation.bots.player import AnswererPlayer, QuestionerPlayer
from cooperation.game.facts import FORMATS


@dataclass(frozen=True)
class TrainedBots:
    """See `protocols.Bots`."""

    checkpoint: Checkpoint

    @property
    def facts(self) -> str:
        """Name of the format that facts had in training."""
        return self.checkpoint.facts

    def players(self, facts: str) -> tuple[QuestionerPlayer, AnswererPlayer]:
        """Both bots for one batch of dialogs; facts: the format that they read, one of `facts.FORMATS`."""
        bots, vocabulary = self.checkpoint, self.checkpoint.vocabulary
        reads = FORMATS[facts](vocabulary)
        return QuestionerPlayer(bots.questioner, vocabulary, reads), AnswererPlayer(bots.answerer, vocabulary, reads)
