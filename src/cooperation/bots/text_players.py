"""A builder's bots (`cooperation.api`) as players of the game: messages become texts, and histories are kept for them.

Histories are immutable and replaced in each round, so a shallow copy of a player can play the rest of a game.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from cooperation.api import Dialog, Picture
from cooperation.bots.calls import Calls
from cooperation.game.messages import Floats, Messages, Rows
from cooperation.game.text import TextVocabulary

if TYPE_CHECKING:
    from PIL.Image import Image

# Row r of the pictures is the number r + 2 to the game, since noise takes the place of it by numbers from 0 to 1.
FIRST = 2


def as_images(rows: Rows) -> Floats:
    """What stands for pictures in the game; rows: of the pictures, [dialogs]. Returns [dialogs, 1]."""
    return (rows[:, None] + FIRST).astype(np.float32)


@dataclass
class _Player:
    """calls: the builder's functions. dialogs: what this bot heard and remembers, one for each dialog."""

    calls: Calls
    vocabulary: TextVocabulary
    dialogs: tuple[Dialog, ...] = ()

    def begin(self, captions: Messages) -> None:
        """Start a batch of dialogs from their captions [dialogs, length]."""
        self.dialogs = tuple(Dialog(caption) for caption in self.vocabulary.texts(captions))

    def remember(self, questions: Messages, answers: Messages) -> None:
        """Add a turn to each dialog; questions, answers: [dialogs, length]."""
        heard = zip(self.dialogs, self.vocabulary.texts(questions), self.vocabulary.texts(answers), strict=True)
        self.dialogs = tuple(dialog.after(question, answer) for dialog, question, answer in heard)


@dataclass
class TextQuestioner(_Player):
    """A builder's questioner; its methods are those of `game.protocols.Questioner`."""

    def ask(self) -> Messages:
        """Say the next question of every dialog: [dialogs, length]."""
        return self.vocabulary.messages(self.calls.ask(self.dialogs))

    def guess(self) -> tuple[Dialog, ...]:
        """The dialogs themselves: `evaluation.scores` asks the bots what they make of them."""
        return self.dialogs


@dataclass
class TextAnswerer(_Player):
    """A builder's answerer; its methods are those of `game.protocols.Answerer`.

    pool: all pictures, by row. pictures: those that it sees; questions: those that it heard last, one a dialog.
    """

    pool: Sequence[Picture] = ()
    pictures: tuple[Picture, ...] = ()
    questions: tuple[str, ...] = ()

    def see(self, images: Floats) -> None:
        """See these pictures from now on; images: [dialogs, 1], as `as_images` makes them, or noise from 0 to 1."""
        numbers = images[:, 0].tolist()
        self.pictures = tuple(
            self.pool[int(number) - FIRST] if number >= FIRST else noise(self.pictures[place], number)
            for place, number in enumerate(numbers)
        )

    def hear(self, questions: Messages) -> None:
        """Hear this round's question of every dialog: [dialogs, length]."""
        self.questions = tuple(self.vocabulary.texts(questions))

    def answer(self) -> Messages:
        """Say the answers to the questions heard last: [dialogs, length]."""
        return self.vocabulary.messages(self.calls.answer(self.pictures, self.dialogs, self.questions))


def noise(picture: Picture, number: float) -> Picture:
    """A picture of noise as large as another: features and pixels are uniform, and depend on the number alone."""
    seed = int(number * 2**32)

    def opened() -> "Image":
        from PIL import Image  # noqa: PLC0415 - features need no Pillow

        size = picture.open().size
        pixels = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), np.uint8)
        return Image.fromarray(pixels)

    row = None
    if picture.row is not None:
        row = np.random.default_rng(seed).random(picture.row.shape, np.float32)
        row.flags.writeable = False
    opener = opened if picture.opener else None
    return replace(
        picture,
        name=f"noise {seed}",
        path=None,
        opener=opener,
        row=row,
        content=lambda: f"noise {seed} on {picture.content()}",
    )


@dataclass(frozen=True)
class TextBots:
    """See `protocols.Bots`: a builder's bots, who see pictures of a pool."""

    calls: Calls
    vocabulary: TextVocabulary
    pool: Sequence[Picture]
    facts: str = "plain"

    def players(self, facts: str) -> tuple[TextQuestioner, TextAnswerer]:  # noqa: ARG002
        """Both bots for one batch of dialogs; they read texts, so no format of facts."""
        return TextQuestioner(self.calls, self.vocabulary), TextAnswerer(self.calls, self.vocabulary, pool=self.pool)
