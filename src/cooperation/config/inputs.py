"""The files that a data set is made of, as config.yaml names them.

Needs nothing but the standard library, since the Snakefile reads it.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from cooperation.config.conditions import check_name
from cooperation.config.preparation import Download, Extraction
from cooperation.config.sources import SPLITS, Source, picture_role
from cooperation.io.files import InputError
from cooperation.io.settings import flag, flow, known, mapping, names_in

ALONE = ("weights", "captions")
"""Keys of a data set that name one file, and may be left out."""
FEATURES, IDS = "given features", "ids of features"
"""Roles of features that others made, and of the lists of their images' ids."""
OF_FEATURES = ("file", "ids", "array", "ids_array")
"""Keys of a data set's `features` that say where others' are; the rest says how they are normalised."""


@dataclass(frozen=True)
class Inputs:
    """The files that a data set is made of.

    A file is a bare name, which is that of a raw file in data/DATASET/raw/, or a path of the user's (with a slash).
    What is there may be an archive, a folder or a bare file: see `data.volumes`. Raw files are made by
    the source's command or downloaded.

    source: what the reader declares; splits: those whose features are made; files: role → files; weights: file of
    VGG-16's trained weights, "" where it is untrained; captions: file of COCO's captions, "" where no manual
    intervention asks for them; downloads: name → where a raw file comes from; copies: name → path of the user's own
    copy of a download; arrays: names of the arrays of given features and of their ids, by flag.
    """

    source: Source
    splits: tuple[str, ...]
    files: Mapping[str, tuple[str, ...]]
    weights: str
    captions: str
    downloads: Mapping[str, Download]
    copies: Mapping[str, str]
    arrays: Mapping[str, str] = field(default_factory=dict)

    @property
    def made(self) -> tuple[str, ...]:
        """Names of the raw files that the source's command makes."""
        return tuple(self.source.makes.values())

    @property
    def of_maker(self) -> dict[str, tuple[str, ...]]:
        """Role → files that the source's command reads."""
        return {role: self.files[role] for role in self.source.made_of}

    @property
    def of_reader(self) -> dict[str, tuple[str, ...]]:
        """Role → files that `cooperation encode SOURCE` reads."""
        return {role: self.files[role] for role in self.source.files}

    @property
    def of_extraction(self) -> dict[str, tuple[str, ...]]:
        """Split → archives and folders that `cooperation extract` reads; nothing where features are given."""
        return {} if self.features else {split: self.files[picture_role(split)] for split in self.splits}

    @property
    def features(self) -> tuple[str, ...]:
        """Files of image features that are given; nothing where features are extracted from pictures."""
        return self.files.get(FEATURES) or (self.files[self.source.features] if self.source.features else ())

    @property
    def given(self) -> tuple[str, ...]:
        """Files of image features that others made of any network, in place of extracting them."""
        return self.files.get(FEATURES, ())

    @property
    def ids(self) -> tuple[str, tuple[str, ...]] | None:
        """The role and the files that list the ids of given features' images, where there are any."""
        role = IDS if self.given else self.source.ids
        return (role, self.files[role]) if self.files.get(role) else None

    def used(self) -> Iterator[tuple[str, str, str]]:
        """Every use of a file: its role (weights and captions are, too), its key in the data set of config.yaml."""
        for role, key in self.source.roles.items():
            if self.given and role not in self.source.files:
                continue
            for file in self.files[role]:
                yield role, ".".join(key), file
        for role, name in ((FEATURES, "file"), (IDS, "ids")):
            for file in self.files.get(role, ()):
                yield role, f"features.{name}", file
        if self.weights and not self.given:
            yield "weights", "weights", self.weights
        if self.captions:
            yield "captions", "captions", self.captions

    def path(self, file: str, raw: str) -> str:
        """Path of a file; raw: path of the folder of raw files."""
        return file if _is_path(file) else f"{raw}/{file}"

    def awaited(self, file: str, raw: str) -> str:
        """Path that a rule waits for before it reads a file: the file, or the note that a download was checked."""
        return str(ready(Path(raw, file))) if file in self.downloads else self.path(file, raw)

    def flags(self, files: Mapping[str, tuple[str, ...]], raw: str) -> list[str]:
        """Words of a command line: a flag for each role or split, and the paths of its files."""
        named = {role: given for role, given in files.items() if given}
        return [word for role, given in named.items() for word in (flag(role), *(self.path(one, raw) for one in given))]


def absent(path: str | Path, key: str) -> str:
    """Error message for a missing file that only the user can give; key: where config.yaml names it."""
    return f"{path}: no such file; put it there or give its path as {key}"


def ready(path: Path) -> Path:
    """The note that a downloaded raw file was there and right."""
    return path.with_name(path.name + ".ready")


def check_present(inputs: Inputs, place: str, raw: str) -> None:
    """Raise `InputError` where a file of the user's is missing; place: the data set's key; raw: folder of raw files.

    A user's copy of a download may be gone once it was checked.
    """
    for _, key, file in inputs.used():
        if _is_path(file) and not Path(file).exists():
            raise InputError(absent(file, f"{place}.{key}"))
        path = Path(raw, file)
        copy = inputs.copies.get(file)
        if copy and not any(there.exists() for there in (Path(copy), path, ready(path))):
            raise InputError(absent(copy, f"{place}.files.{file}"))


def read_inputs(given: Mapping[str, Any], source: Source, place: str) -> Inputs:
    """Read the keys of a data set that name files; place: its key in config.yaml.

    Raises `InputError` at an old spelling, a name that nothing makes or downloads, or a download that nothing reads.
    """
    _check_old_spellings(given, source, place)
    downloads = _downloads(given.get("downloads", {}), f"{place}.downloads")
    names = (*source.makes.values(), *downloads)
    inputs = Inputs(
        source,
        # Where another data set's bots play, there is nothing to train on.
        splits=("val",) if given.get("bots") else SPLITS,
        files=_files(given, source, place, names) | _given(given, place, names),
        **{key: _alone(given, key, place, names) for key in ALONE},
        downloads=downloads,
        copies=_copies(given.get("files", {}), downloads, f"{place}.files"),
        arrays=_arrays(given, place),
    )
    read = {file for *_, file in inputs.used()}
    for name in downloads:
        # With others' features, settings that are taken over may go on naming pictures and weights.
        if name not in read and not inputs.given:
            others = "name it under dialogs, pictures or captions"
            remedy = f"write `weights: {name}`" if name.endswith(".pth") else others
            raise InputError(f"{place}.downloads.{name}: nothing reads it; {remedy}, or leave it out")
    return inputs


def _check_old_spellings(given: Mapping[str, Any], source: Source, place: str) -> None:
    """Refuse what was written otherwise before, with the new spelling."""
    settings = {entry.name for entry in fields(Extraction)}
    pictures = mapping(given.get("pictures", {}), f"{place}.pictures")
    for name in pictures:
        if name in settings:
            raise InputError(
                f"{place}.pictures.{name}: is now {place}.extraction.{name}; write `extraction: {flow(pictures)}`"
            )
    files = mapping(given.get("files", {}), f"{place}.files")
    for name in files:
        if name in source.files and name not in given.get("downloads", {}):
            raise InputError(f"{place}.files.{name}: is now {place}.dialogs.{name}; write `dialogs: {flow(files)}`")


def _files(given: Mapping[str, Any], source: Source, place: str, names: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Role → files; names: the raw files that are made or downloaded."""
    for section in ("dialogs", "pictures"):
        for role in mapping(given.get(section, {}), f"{place}.{section}"):
            known(role, _roles_in(section, source), f"{place}.{section}")
    found: dict[str, tuple[str, ...]] = {}
    for role, (section, name) in source.roles.items():
        files = given.get(section, {}).get(name, source.makes.get(role))
        others = "file" in mapping(given.get("features", {}), f"{place}.features") and role not in source.files
        if files is None and (role in source.optional or others):
            found[role] = ()
            continue
        if files is None:
            raise InputError(_missing(section, name, source, place, names))
        at = f"{place}.{section}.{name}"
        if not isinstance(files, str | list):
            raise InputError(f"{at}: {files!r} is neither a file nor a list of files")
        listed = names_in([files] if isinstance(files, str) else files, str, at, "[one.zip, other.zip]")
        found[role] = tuple(_file(file, at, names) for file in listed)
    return found


def _given(given: Mapping[str, Any], place: str, names: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Role → files of features that others made, and of their ids; nothing where there are none."""
    features = mapping(given.get("features", {}), f"{place}.features")
    found = {}
    for role, key in ((FEATURES, "file"), (IDS, "ids")):
        if key in features:
            at, files = f"{place}.features.{key}", features[key]
            listed = names_in([files] if isinstance(files, str) else files, str, at, "[one.h5, other.h5]")
            found[role] = tuple(_file(file, at, names) for file in listed)
    if found and FEATURES not in found:
        raise InputError(f"{place}.features.ids: names a list of ids, but `file` names no features; write both")
    return found


def _arrays(given: Mapping[str, Any], place: str) -> Mapping[str, str]:
    """Flag → name of an array in the files of features that others made."""
    features = mapping(given.get("features", {}), f"{place}.features")
    for name in ("array", "ids_array"):
        if not isinstance(features.get(name, ""), str):
            raise InputError(f"{place}.features.{name}: {features[name]!r} is no name of an array")
    return {flag(name): features[name] for name in ("array", "ids_array") if name in features}


def _roles_in(section: str, source: Source) -> list[str]:
    return [name for one, name in source.roles.values() if one == section]


def _missing(section: str, name: str, source: Source, place: str, names: tuple[str, ...]) -> str:
    needed = [one for role, (at, one) in source.roles.items() if at == section and role not in source.optional]
    spelling = flow(dict.fromkeys(needed, "FILE"))
    choices = f" or one of {', '.join(names)}" if names else ""
    return f"{place}.{section}: {name!r} is missing; write `{section}: {spelling}`, where a FILE is a path{choices}"


def _file(file: Any, place: str, names: tuple[str, ...]) -> str:
    """A path, expanded, or the name of a raw file; names: the raw files that are made or downloaded."""
    found = expanded(file, place)
    if not _is_path(found):
        known(found, (*names, f"a path such as ./{found}"), place)
    return found


def expanded(path: Any, place: str) -> str:
    """A path of the user's, with ~ and $VARIABLES as a shell reads them, and no slash at its end.

    Raises `InputError` that names `place` for what is no path, and for a variable that is not set.
    """
    if not isinstance(path, str) or not path:
        raise InputError(f"{place}: {path!r} is not a path")
    found = os.path.expanduser(os.path.expandvars(path))  # noqa: PTH111, of texts: Path drops the ./ of ./name
    if unset := re.search(r"\$(\w+|\{[^}]*\})", found):
        raise InputError(f"{place}: {path!r}: the variable {unset[0]} is not set; set it, or write the path out")
    return found.rstrip("/") or "/"


def _is_path(file: str) -> bool:
    return "/" in file


def _alone(given: Mapping[str, Any], key: str, place: str, names: tuple[str, ...]) -> str:
    # Null takes back what a data set has from another by `<<`.
    if given.get(key) is None:
        return ""
    return _file(given[key], f"{place}.{key}", names)


def _copies(given: Any, downloads: Mapping[str, Download], place: str) -> Mapping[str, str]:
    for name in mapping(given, place):
        known(name, downloads, place)
    return {name: expanded(path, f"{place}.{name}") for name, path in given.items()}


def _downloads(given: Any, place: str) -> Mapping[str, Download]:
    for name in mapping(given, place):
        check_name(name, place, "file")
    return {name: _download(found, f"{place}.{name}") for name, found in given.items()}


def _download(given: Any, place: str) -> Download:
    for key in mapping(given, place):
        known(key, ("addresses", "size", "sha256", "holds"), place)
    sha256 = given.get("sha256", "")
    numbers = {key: given.get(key, 0) for key in ("size", "holds")}
    for key, what in (("size", "bytes"), ("holds", "pictures or dialogs")):
        if type(numbers[key]) is not int or numbers[key] < 0:
            raise InputError(f"{place}.{key}: {numbers[key]!r} is not a number of {what}")
    if not isinstance(sha256, str) or not re.fullmatch(r"([0-9a-f]{8,64})?", sha256):
        raise InputError(f"{place}.sha256: {sha256!r} is not 8 to 64 hexadecimal digits in quotes")
    addresses = names_in(given.get("addresses"), str, f"{place}.addresses", "[https://…]")
    return Download(addresses, sha256=sha256, **numbers)
