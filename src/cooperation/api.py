"""Test a model of your own: write functions without state, and the game does the rest. Nothing else has to be read.

    cooperation conform my_bots.py:make
    cooperation test my_bots.py:make --dialogs … --pictures … --out reports/mine

Two bots talk about a picture. The answerer sees it; the questioner asks, and after the caption and after each of ten
rounds of question and answer it says how likely each candidate picture is. `make(**options)` in your file returns an
object with these functions (so may be a class; a module with them will do, too):

- `ask(dialogs)` returns a question for each dialog, `answer(pictures, dialogs, questions)` an answer for each.
- `score(dialogs, candidates)` returns how likely each candidate is in each dialog: numbers [dialogs, candidates],
  higher is likelier. Only their order counts, and ties share their rank.
- `guess(dialogs)`, in place of `score`, returns vectors [dialogs, features]; the nearest candidate is the likeliest.
- `prepare(pictures)`, if you have it, is called once with all candidates. It may return an index: an array or list with
  one row a picture, in their order. Then `score` gets rows of it in place of pictures, and `guess` is compared with it.
- `describe()`, if you have it, returns what your model is: `{"name": …, "version": …, "weights": …}`, and, as
  `trained_on`, the ids of the images that it was trained on.

Texts go in and come out, a batch of dialogs of the same round at a time. Histories are the game's: `dialogs` hold what
this bot heard and what it remembers to have said, with everything that was perturbed on the way. So keep nothing
between calls. All that you get is immutable. The same input must give the same output; `cooperation conform` checks
that, and more, in seconds.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from cooperation.data.agreements import check_together
from cooperation.data.archives import find_pictures
from cooperation.data.identities import identity_of_dialogs, identity_of_features, identity_of_pictures
from cooperation.data.pictures import decode
from cooperation.data.store import Dialogs, Ids, read_dialogs, read_features, read_vocabulary
from cooperation.game.vocabulary import Vocabulary
from cooperation.io.files import InputError
from cooperation.io.identity import content_hash

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclass(frozen=True)
class Dialog:
    """A dialog as one bot heard it.

    caption: the picture's description. turns: (question, answer) of each round so far, this bot's own messages as it
    remembers them. Which picture it is about is not said.
    """

    caption: str
    turns: tuple[tuple[str, str], ...] = ()

    def after(self, question: str, answer: str) -> "Dialog":
        """The dialog with one more turn."""
        return replace(self, turns=(*self.turns, (question, answer)))


@dataclass(frozen=True, eq=False)
class Picture:
    """A picture, which is opened when it is asked for.

    name: of the picture, such as `image 123`; two pictures of a game never share it. path: its file, None where it is
    in an archive or is noise. Further fields hold how it is opened, its row of the features file, and a hash of both.
    """

    name: str
    path: Path | None = None
    opener: "Callable[[], Image] | None" = field(default=None, repr=False)
    row: npt.NDArray[np.float32] | None = field(default=None, repr=False)
    content: Callable[[], str] = field(default=str, repr=False)

    def open(self) -> "Image":
        """The picture in RGB (Pillow). Raises `InputError` where no pictures were given."""
        if self.opener is None:
            raise InputError(f"{self.name}: the bots open it, but no pictures were given; give --pictures")
        return self.opener()

    @property
    def features(self) -> npt.NDArray[np.float32]:
        """Its row [features] of the file of features, read-only. Raises `InputError` where no file was given."""
        if self.row is None:
            raise InputError(f"{self.name}: the bots read its features, but no file was given; give --features")
        return self.row


class Bots(Protocol):
    """What a model must be able to do; besides, it needs `score` or `guess`, as the module says."""

    def ask(self, dialogs: Sequence[Dialog]) -> Sequence[str]:
        """Say the next question of each dialog."""

    def answer(self, pictures: Sequence[Picture], dialogs: Sequence[Dialog], questions: Sequence[str]) -> Sequence[str]:
        """Answer the question that was heard in each dialog, seeing its picture."""


class ScoringBots(Bots, Protocol):
    """Bots that say how likely each candidate is."""

    def score(self, dialogs: Sequence[Dialog], candidates: Any) -> Any:
        """Numbers [dialogs, candidates], higher is likelier; candidates: pictures, or rows of your index."""


class GuessingBots(Bots, Protocol):
    """Bots that guess the picture's feature vector."""

    def guess(self, dialogs: Sequence[Dialog]) -> Any:
        """Vectors [dialogs, features]."""


@dataclass(frozen=True)
class Pool:
    """The pictures of a split: archives or folders of JPEG files, rows of a file of features, or both.

    hashes: image → hash of its content, as far as it was asked for.
    """

    files: Mapping[int, Any]
    vectors: Mapping[int, npt.NDArray[np.float32]]
    hashes: dict[int, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        dialogs: Path,
        image_ids: Ids,
        pictures: Sequence[Path] = (),
        features: Path | None = None,
        split: str = "val",
    ) -> "Pool":
        """The pictures of some images [images] of a file of dialogs; features: a file of features of the split.

        Raises `InputError` where pictures or features are of another made-up world than the dialogs, or lack an image.
        """
        said = identity_of_dialogs(dialogs)
        if pictures:
            check_together("dialogs", said, "pictures", identity_of_pictures(pictures))
        if features:
            check_together("dialogs", said, "features", identity_of_features(features))
        files = find_pictures(pictures) if pictures else {}
        vectors: dict[int, npt.NDArray[np.float32]] = {}
        if features:
            read = read_features(features, split, image_ids).vectors
            read.flags.writeable = False
            vectors = dict(zip(image_ids.tolist(), read, strict=True))
        missing = [image for image in image_ids.tolist() if files and image not in files]
        if missing:
            raise InputError(
                f"{pictures[0]}: no picture of image {missing[0]} ({len(missing)} missing); give all archives"
            )
        return cls(files, vectors)

    def __getitem__(self, image_id: int) -> Picture:
        """The picture of an image."""
        file = self.files.get(image_id)
        path = file.archive / file.name if file is not None and file.archive.is_dir() else None
        opener = (lambda: decode(file.read(), str(file))) if file is not None else None
        return Picture(f"image {image_id}", path, opener, self.vectors.get(image_id), lambda: self._hash(image_id))

    def _hash(self, image_id: int) -> str:
        """A hash of the picture's file and row."""
        if image_id not in self.hashes:
            file, row = self.files.get(image_id), self.vectors.get(image_id)
            parts = (file.checksum() if file is not None else None, row.tobytes().hex() if row is not None else None)
            self.hashes[image_id] = content_hash(*parts)
        return self.hashes[image_id]


def recorded(
    dialogs: Path | str, pictures: Sequence[Path | str] = (), features: Path | str | None = None, split: str = "train"
) -> Iterator[tuple[Dialog, Picture]]:
    """Yield people's dialogs of a split of a data set, ten turns each, with their pictures.

    dialogs: such as data/miniature/dialogs.h5; pictures: archives or folders; features: such as
    data/miniature/features.h5. Words that are rare in the data set read UNK. Raises `InputError` for a file that can't
    be used.
    """
    dialogs, features = Path(dialogs), Path(features) if features else None
    people, vocabulary = read_dialogs(dialogs, split, features), read_vocabulary(dialogs)
    pool = Pool.of(dialogs, people.image_ids, [Path(path) for path in pictures], features, split)
    for number, image in enumerate(people.image_ids.tolist()):
        yield as_said(people, number, vocabulary), pool[image]


def as_said(people: Dialogs, number: int, vocabulary: Vocabulary) -> Dialog:
    """One of people's dialogs in words, with all its turns; number: its row."""
    [caption] = people.captions[number : number + 1].lists()
    turns = zip(people.questions[number].lists(), people.answers[number].lists(), strict=True)
    said = tuple((vocabulary.decode(question), vocabulary.decode(answer)) for question, answer in turns)
    return Dialog(vocabulary.decode(caption), said)
