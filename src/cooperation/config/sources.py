"""The sources of data sets: each is one file of `cooperation/data/readers/`, found by being there.

The constant `SOURCE` of that file declares what the source needs, as literal values. It is read from the file's text:
a reader imports NumPy, but config.yaml is checked where only the standard library and Snakemake are installed.
"""

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

READERS = Path(__file__).resolve().parents[1] / "data" / "readers"
SPLITS = ("train", "val")


@dataclass(frozen=True)
class Source:
    """The fields of the constant `SOURCE` of a reader's file.

    files: role → one line of help, of the files that the reader reads. config.yaml names those of the roles
    `picture_role` under `pictures`, all others under `dialogs`.
    text: whether the dialogs are texts, which are encoded with the settings `text`, or ids already.
    features: the role of files that hold image features, "" where features are extracted from pictures.
    ids: the role of files that may list the images of these features, "" where they say them.
    makes: role → name of the raw file that the command of the source's name makes for it.
    made_of: roles of files that this command reads.
    optional: roles of files that a data set need not have.
    raw: the class in `config.preparation` of the settings `raw`: of that command, else of downloads.
    """

    files: Mapping[str, str]
    text: bool = True
    features: str = ""
    ids: str = ""
    makes: Mapping[str, str] = field(default_factory=dict)
    made_of: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    raw: str = "Retries"

    @property
    def roles(self) -> dict[str, tuple[str, str]]:
        """Role → where a data set of config.yaml names its files: under `dialogs` or `pictures`, and by which key."""
        pictures = {} if self.features else {picture_role(split): ("pictures", split) for split in SPLITS}
        return {role: ("dialogs", role) for role in self.files if role not in pictures} | pictures

    @property
    def texts(self) -> tuple[str, ...]:
        """Roles of the files that hold dialogs, not pictures or their features."""
        pictures = {*map(picture_role, SPLITS), self.features}
        return tuple(role for role in self.files if role not in pictures)


def picture_role(split: str) -> str:
    """The role of the pictures of a split."""
    return f"{split}_pictures"


def source_names() -> tuple[str, ...]:
    """The names of all sources, in alphabetical order."""
    return tuple(sorted(path.stem for path in READERS.glob("[!_]*.py")))


@cache
def declared(source: str) -> Source:
    """The declaration of a source. Raises `TypeError` or `ValueError` at a mistake in its reader's file."""
    path = READERS / f"{source}.py"
    for statement in ast.parse(path.read_text(encoding="utf-8"), str(path)).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "SOURCE":
            try:
                return Source(**ast.literal_eval(statement.value))
            except (TypeError, ValueError) as error:
                raise TypeError(f"{path}: SOURCE: {error}; see cooperation.config.sources.Source") from error
    raise TypeError(f"{path}: has no SOURCE = {{…}}; see cooperation.config.sources.Source")
