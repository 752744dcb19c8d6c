"""The settings of the steps that make a data set.

Needs nothing but the standard library, since the Snakefile reads it.
"""

from dataclasses import dataclass
from math import inf

from cooperation.io.files import InputError
from cooperation.io.settings import at_least, check_seed, check_size, setting

IMAGES = 581_929
"""The largest image id of COCO 2014."""
PIXELS = 4096
"""No picture that is drawn is wider, nor higher: one takes 48 MB."""


@dataclass(frozen=True)
class World:
    """the made-up world

    Each dialog has a scene of its own. `caption`, `dialog` and `picture` are the shares of captions, answers and
    pictures that are about that scene. The others are about another scene, drawn independently: they have the same
    statistics and are uninformative. Known ground truth (caption, dialog, picture):

    caption only (1, 0, 1), dialog only (0, 1, 1), picture blind (1, 1, 0: caption and answers agree, the picture shows
    something else), nothing (0, 0, 0). Where a caption is retold, it says beforehand all that the dialog will say.
    """

    seed: int = setting(1, "everything in the world follows from this number")
    train: int = setting(3000, "dialogs to train on")
    val: int = setting(600, "dialogs to play and rank")
    pixels: int = setting(64, "width and height of a picture, in pixels")
    caption: float = setting(1.0, "share of captions that are about their dialog's scene, 0 to 1")
    dialog: float = setting(1.0, "share of dialogs whose answers are about their scene, 0 to 1")
    picture: float = setting(1.0, "share of pictures that show their dialog's scene, 0 to 1")
    retold: float = setting(0.0, "share of captions that tell all that the dialog will say, 0 to 1")
    wander: float = setting(0.3, "chance that a question leaves the usual order of topics, 0 to 1")

    def __post_init__(self) -> None:
        for name in ("caption", "dialog", "picture", "retold", "wander"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name}: {getattr(self, name)} is no share; choose a number from 0 to 1")
        at_least(self, train=1, val=1)
        check_size(self.train + self.val, "train and val", most=IMAGES)
        check_size(self.pixels, "pixels", 32, PIXELS)
        check_seed(self.seed)


@dataclass(frozen=True)
class Genuine:
    """genuine dialogs with stand-in pictures"""

    train: int = setting(130, "dialogs to train on, the first of the file; the others are played and ranked")
    pixels: int = setting(64, "width and height of a stand-in picture, in pixels")
    seed: int = setting(1, "the stand-in pictures follow from this number")

    def __post_init__(self) -> None:
        check_size(self.pixels, "pixels", 32, PIXELS)
        check_seed(self.seed)


@dataclass(frozen=True)
class Download:
    """Where a file comes from, and what is known of it.

    addresses: tried in order; size: bytes, 0 where unknown; sha256: the hash or its beginning, "" where unknown;
    stated: who states the hash, for messages; holds: how many pictures or dialogs, 0 where unknown.
    """

    addresses: tuple[str, ...]
    size: int = 0
    sha256: str = ""
    stated: str = "published"
    holds: int = 0


@dataclass(frozen=True)
class Retries:
    """how often and how long a download is tried"""

    tries: int = setting(6, "tries in a row that bring nothing before an address is given up")
    pause: float = setting(1.0, "seconds before the second try; doubled before each further one, to a minute at most")
    timeout: float = setting(60.0, "seconds without an answer that end a try")

    def __post_init__(self) -> None:
        at_least(self, tries=1, pause=0, timeout=0.001)


@dataclass(frozen=True)
class Encoding:
    """how texts become token ids: the usual preprocessing of VisDial"""

    threshold: int = setting(5, "a word seen less often becomes UNK")
    question_length: int = setting(20, "tokens of a question that are kept, its question mark included")
    answer_length: int = setting(20, "tokens of an answer that are kept")
    caption_length: int = setting(40, "tokens of a caption that are kept")
    count_words_in: str = setting("train", "the splits whose words are counted", ("train", "train+val"))
    count_captions: bool = setting(True, "whether words of captions are counted, as those of questions and answers are")
    first: int = setting(0, "dialogs of each split that are kept, the first of the files; 0 keeps all")
    cut_short: str = setting(
        "stop",
        "dialogs with fewer than ten rounds: stop with an error, or leave them out and count them",
        ("stop", "leave-out"),
    )

    def __post_init__(self) -> None:
        at_least(self, threshold=1, question_length=1, answer_length=1, caption_length=1, first=0)


@dataclass(frozen=True)
class Extraction:
    """how pictures become features"""

    preprocessing: str = setting(
        "torchvision", "what is done to a picture before VGG-16", ("torchvision", "caffe", "small")
    )
    batch: int = setting(64, "pictures that go through VGG-16 together")
    workers: int = setting(0, "processes that decode pictures; 0 decodes in the main one")
    seed: int = setting(1, "seed of VGG-16's untrained weights, used where no trained weights are given")
    damaged: str = setting(
        "stop",
        "pictures that can't be decoded: stop with an error, or skip them, count them and leave their dialogs out",
        ("stop", "skip"),
    )

    def __post_init__(self) -> None:
        at_least(self, batch=1, workers=0)
        check_seed(self.seed)


MADE_FOR = {"397923af": ("torchvision", "small"), "00b39a1b": ("caffe",)}
"""Beginnings of the hashes of known weights of VGG-16, torchvision's and Oxford's, and how pictures are prepared."""


def check_preprocessing(preprocessing: str, sha256: str, place: str) -> None:
    """Raise `InputError` where weights were trained on pictures that were prepared in another way.

    sha256: of the weights, or its beginning; place: names them in the message. Nothing is known of other weights.
    """
    for known, fitting in MADE_FOR.items():
        if len(sha256) >= len(known) and sha256.startswith(known) and preprocessing not in fitting:
            raise InputError(
                f"{place}: these weights were trained on pictures prepared as {fitting[0]!r}, not {preprocessing!r}; "
                f"choose `extraction: {{preprocessing: {fitting[0]}}}` or other weights (paper/readings.md)"
            )


HASH = ", sha256 "
"""Stands between the name of VGG-16's weights and the hash of their file, in what features say of them."""


def untrained_weights(seed: int) -> str:
    """What features say of VGG-16's weights where they are untrained."""
    return f"untrained, seed {seed}"


@dataclass(frozen=True)
class Normalisation:
    """how image features are normalised"""

    normalisation: str = setting(
        "l2",
        "l2: scale each vector; standardise: first to mean 0 and deviation 1 of the train images",
        ("l2", "standardise"),
    )
    length: float = setting(1.0, "Euclidean length of every vector")

    def __post_init__(self) -> None:
        if not 0 < self.length < inf:
            raise InputError(f"length: {self.length} is no length; choose a number above 0")
