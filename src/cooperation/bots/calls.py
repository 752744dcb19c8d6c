"""The functions of a builder's bots (`cooperation.api`): loaded from a file, and checked at each call."""

import hashlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cooperation.api import Dialog, Picture
from cooperation.config.training import file_and_name
from cooperation.io.files import InputError
from cooperation.io.settings import plain

REMEDY = "`python -c 'help(\"cooperation.api\")'` says what each function takes and returns"
# Letters of a message; a longer one is taken for a mistake.
LONGEST = 10_000
Numbers = npt.NDArray[np.floating]


class BotError(InputError):
    """A builder's function raised; trace: the traceback, from the first line of the builder's own files on."""

    def __init__(self, message: str, trace: str) -> None:
        super().__init__(message)
        self.trace = trace


class WrongValueError(InputError):
    """A builder's function returned something else than it should."""


def load(place: str, options: Mapping[str, Any]) -> Any:
    """The bots that `FILE.py:NAME` makes, NAME being called with the options, or the module of `FILE.py` itself.

    Raises `InputError` where there is no such file or name, and `BotError` where importing or making them raises.
    """
    maker, path, name = _maker(place)
    if not name:
        if options:
            raise InputError(f"{place}: options are given, but nothing takes them; write {path}:make")
        return maker
    return _own(path, name, maker, **options)


def takes_seed(place: str) -> bool:
    """Whether what makes the bots has an argument `seed`; raises as `load`."""
    maker, _, name = _maker(place)
    try:
        return bool(name) and "seed" in inspect.signature(maker).parameters
    except (TypeError, ValueError):
        # Not every callable says what it takes.
        return False


def _maker(place: str) -> tuple[Any, Path, str]:
    """What makes the bots, or their module where no name is given; its file, and its name."""
    file, name = file_and_name(place)
    path = Path(file)
    if not path.is_file():
        raise InputError(f"{place}: no such file; write my_bots.py:make")
    module_name = f"bots_of_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path}: is no Python file; name it with .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    # The builder's other modules are found beside the file.
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)
    _own(path, "importing it", spec.loader.exec_module, module)
    if not name:
        return module, path, name
    if not callable(getattr(module, name, None)):
        raise InputError(f"{path}: has no function or class {name!r}; write one, or another name behind the colon")
    return getattr(module, name), path, name


def _own(path: Path, what: str, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Any:
    """Call something of the builder's, whose options may have any names; raises `BotError` where it raises."""
    try:
        return function(*arguments, **options)
    except (Exception, SystemExit) as error:
        raise BotError(f"{path}: {what} raised {_said(error)}", shortened(error)) from error


def _said(error: BaseException) -> str:
    """An error in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def shortened(error: BaseException) -> str:
    """The traceback of an error without the lines of this program, so from the builder's own file on."""
    package = str(Path(__file__).resolve().parents[1])
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(package)]
    first = next((at for at, frame in enumerate(frames) if "importlib" not in frame.filename), 0)
    return "".join([*traceback.format_list(frames[first:]), *traceback.format_exception_only(error)])


@dataclass(frozen=True)
class Calls:
    """A builder's bots whose every call is checked.

    place: where they are from, for messages. All methods raise `BotError` where the builder's function raises, and
    `WrongValueError` where it returns something else than `cooperation.api` says.
    """

    bots: Any
    place: str

    def __post_init__(self) -> None:
        for name in ("ask", "answer"):
            if not self.has(name):
                raise InputError(f"{self.place}: has no function `{name}`; {REMEDY}")
        if not self.has("score") and not self.has("guess"):
            raise InputError(f"{self.place}: has neither `score` nor `guess`; {REMEDY}")

    def has(self, name: str) -> bool:
        """Whether the bots have a function."""
        return callable(getattr(self.bots, name, None))

    def ask(self, dialogs: tuple[Dialog, ...]) -> list[str]:
        """A question for each dialog."""
        return self._texts("ask", dialogs, self._call("ask", dialogs, (dialogs,)))

    def answer(
        self, pictures: tuple[Picture, ...], dialogs: tuple[Dialog, ...], questions: tuple[str, ...]
    ) -> list[str]:
        """An answer for each dialog."""
        return self._texts("answer", dialogs, self._call("answer", dialogs, (pictures, dialogs, questions)))

    def guess(self, dialogs: tuple[Dialog, ...], width: int) -> npt.NDArray[np.float32]:
        """A vector for each dialog: [dialogs, width]; width: of the candidates' vectors."""
        found = self._numbers("guess", dialogs, self._call("guess", dialogs, (dialogs,)), (len(dialogs), width))
        self._refuse(
            "guess", dialogs, np.flatnonzero((~np.isfinite(found)).any(1)).tolist(), "NaN or infinity", "finite numbers"
        )
        return np.asarray(found, np.float32)

    def score(self, dialogs: tuple[Dialog, ...], candidates: Sequence[Any]) -> Numbers:
        """Scores [dialogs, candidates] of pictures or of rows of the index."""
        given = self._call("score", dialogs, (dialogs, candidates))
        found = self._numbers("score", dialogs, given, (len(dialogs), len(candidates)))
        self._refuse(
            "score", dialogs, np.flatnonzero(np.isnan(found).any(1)).tolist(), "NaN", "numbers, higher is likelier"
        )
        return found

    def prepare(self, pictures: tuple[Picture, ...]) -> Any:
        """The index of all candidates, one row a picture: None where the bots make none."""
        if not self.has("prepare"):
            return None
        rows = self._call("prepare", (), (pictures,))
        if rows is None:
            return None
        rows = _on_host(rows)
        if isinstance(rows, list | tuple):
            rows = [row.detach() if hasattr(row, "detach") else row for row in rows]
        if not isinstance(rows, np.ndarray | list | tuple) or len(rows) != len(pictures):
            raise self._wrong("prepare", "", _described(rows), f"one row for each of the {len(pictures):,} pictures")
        if isinstance(rows, np.ndarray):
            rows = rows.view()
            rows.flags.writeable = False
        return rows

    def vectors(self, pictures: Sequence[Picture], index: Any) -> npt.NDArray[np.float32]:
        """What guesses are compared with, [pictures, features]: the index, or the pictures' features where it is None.

        Raises `WrongValueError` for an index of anything else, and `InputError` where there are no features.
        """
        if index is None:
            return np.stack([picture.features for picture in pictures])
        try:
            found = np.asarray(index)
        except (TypeError, ValueError):
            found = np.empty(0, object)
        if found.dtype.kind not in "fiu" or found.ndim != 2 or not found.shape[1]:
            raise self._wrong("prepare", "", _described(index), "numbers [pictures, features], which a guess needs")
        if not np.isfinite(found).all():
            raise self._wrong("prepare", "", "NaN or infinity", "finite numbers, which a guess needs")
        return found.astype(np.float32)

    def describe(self) -> dict[str, Any]:
        """What the model is."""
        given = self._call("describe", (), ()) if self.has("describe") else {}
        if not isinstance(given, dict):
            raise self._wrong("describe", "", _described(given), "a dict such as {'name': …, 'version': …}")
        ids = given.get("trained_on")
        rest = {name: one for name, one in given.items() if name != "trained_on" or one is None}
        said = dict(plain(rest, f"{self.place}: describe"))
        if ids is None:
            return said
        try:
            trained = np.asarray(ids.tolist() if hasattr(ids, "tolist") else [*ids])
        except TypeError:
            trained = np.empty((), object)
        if trained.ndim != 1 or (trained.size and trained.dtype.kind not in "iu"):
            raise self._wrong("describe", "trained_on", _described(ids), "ids of images, whole numbers")
        return {**said, "trained_on": trained.tolist()}

    def _call(self, name: str, dialogs: tuple[Dialog, ...], arguments: tuple[Any, ...]) -> Any:
        try:
            return getattr(self.bots, name)(*arguments)
        except InputError:
            raise
        # A builder's exit would end the test with no word.
        except (Exception, SystemExit) as error:
            where = f"{_round(dialogs)}, {self._culprit(name, arguments)}" if dialogs else ""
            message = f"{self.place}: {name}: {where}{', ' * bool(where)}raised {_said(error)}"
            raise BotError(message, shortened(error)) from error

    def _culprit(self, name: str, arguments: tuple[Any, ...]) -> str:
        """The first dialog with which alone a function raises, in words."""
        dialogs = arguments[0] if name != "answer" else arguments[1]
        for number, dialog in enumerate(dialogs):
            one = slice(number, number + 1)
            # Candidates of a score are all dialogs'.
            alone = [part[one] for part in arguments] if name != "score" else [dialogs[one], arguments[1]]
            try:
                getattr(self.bots, name)(*alone)
            except (Exception, SystemExit):
                return f"dialog {number} (“{dialog.caption}”)"
        return f"{len(dialogs)} dialogs together"

    def _texts(self, name: str, dialogs: tuple[Dialog, ...], given: Any) -> list[str]:
        given = given.tolist() if isinstance(given, np.ndarray) else given
        wanted = f"a list of {len(dialogs)} texts"
        if not isinstance(given, list | tuple) or len(given) != len(dialogs):
            raise self._wrong(name, _round(dialogs), _described(given), wanted)
        for number, text in enumerate(given):
            where = f"{_round(dialogs)}, dialog {number} (“{dialogs[number].caption}”)"
            if not isinstance(text, str):
                raise self._wrong(name, where, _described(text), "a text (str)")
            if len(text) > LONGEST:
                raise self._wrong(name, where, f"{len(text):,} letters", f"a text of at most {LONGEST:,}")
            if "\0" in text or text.encode(errors="ignore").decode() != text:
                raise self._wrong(name, where, "a zero byte or half a character", "a text that UTF-8 can hold")
        return [str(text) for text in given]

    def _numbers(self, name: str, dialogs: tuple[Dialog, ...], given: Any, shape: tuple[int, int]) -> Numbers:
        try:
            found = np.asarray(_all_on_host(given))
        except (TypeError, ValueError, RuntimeError):
            found = np.empty(0, object)
        wanted = f"numbers [{shape[0]}, {shape[1]}]"
        if found.dtype.kind not in "fiu" or found.shape != shape:
            raise self._wrong(name, _round(dialogs), _described(given), wanted)
        return found if found.dtype.kind == "f" else found.astype(np.float64)

    def _refuse(self, name: str, dialogs: tuple[Dialog, ...], bad: list[int], came: str, wanted: str) -> None:
        for number in bad[:1]:
            where = f"{_round(dialogs)}, dialog {number} (“{dialogs[number].caption}”)"
            raise self._wrong(name, where, came, wanted)

    def _wrong(self, name: str, where: str, came: str, wanted: str) -> WrongValueError:
        return WrongValueError(f"{self.place}: {name}: {where}{', ' * bool(where)}returned {came}, wanted {wanted}")


def _round(dialogs: tuple[Dialog, ...]) -> str:
    return f"after round {len(dialogs[0].turns)}" if dialogs else ""


def _on_host(given: Any) -> Any:
    """A tensor of PyTorch as an array of its type, from any device; all else as it is."""
    if not hasattr(given, "detach"):
        return given
    host = given.detach().cpu()
    host = host.to_dense() if hasattr(host, "to_dense") else host
    try:
        return host.numpy()
    except TypeError:
        # NumPy has no bfloat16.
        return host.float().numpy()


def _all_on_host(given: Any) -> Any:
    """The same of lists of tensors, and of lists of these."""
    if (
        isinstance(given, list | tuple)
        and given
        and (isinstance(given[0], list | tuple) or hasattr(given[0], "detach"))
    ):
        return [_all_on_host(one) for one in given]
    return _on_host(given)


def _described(given: Any) -> str:
    """What came, in words."""
    shape = getattr(given, "shape", None)
    if shape is not None:
        return f"{type(given).__name__} {list(shape)} of {getattr(given, 'dtype', '?')}"
    if isinstance(given, list | tuple):
        return f"a {type(given).__name__} of {len(given)}"
    return f"{type(given).__name__}" if given is not None else "None"
