"""Fuzzers: odd settings, flags, files, texts and answers of servers, each tried on real commands in this process.

A try is refused in one way only, by an `InputError` (exit code 2); else it does its work. `make fuzz` runs many and
prints how many tries, refusals, tracebacks and hangs there were. Each follows from the seed and its number, so that
`python tests/fuzz.py --seed SEED --only NUMBER` does it again.
"""

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import traceback
from collections import Counter
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from http_host import Host, serving
from project import ROOT
from small_project import CONFIG, Step, all_steps, prepare, run

from cooperation.config.experiment import read, read_dataset
from cooperation.config.preparation import Download, Retries
from cooperation.data.download import obtain
from cooperation.io.files import InputError

ODD = (
    *(None, True, False, 0, -1, 3, 1 << 31, 10**25, 0.5, -0.0, 1e30, 1e-300, float("inf"), float("nan")),
    *(
        "",
        " ",
        "x",
        "none",
        "0.3",
        "1e400",
        "../x",
        "/",
        "~",
        "\u202e",
        "é",
        "\ud800",
        "a\nb",
        "{x}",
        "$HOME",
        "'",
        '"',
    ),
    *([], {}, [[]], [None], {"": 0}, {"x": {"y": []}}, [1, "a"], {1: 2}),
)
FLAGS = tuple(str(value) for value in ODD if not isinstance(value, list | dict) and "\ud800" not in str(value))
TEXTS = (
    "\0",
    "\ufeff",
    "\x80",
    ",",
    '"',
    "\n",
    ":",
    "-",
    "*",
    "&a",
    "9" * 40,
    "nan",
    "=",
    "é",
    "[" * 50,
    "\t",
    "!!x",
    "%",
)
PATIENCE = 60
"""Seconds after which a try hangs."""
SLOW = ("report", "scripted")


class HangError(BaseException):
    """A try takes too long."""


@dataclass
class Tally:
    """What came of the tries. failures: number, kind and traceback of each that was neither done nor refused."""

    kinds: Counter = field(default_factory=Counter)
    refused: Counter = field(default_factory=Counter)
    tracebacks: list = field(default_factory=list)
    hangs: list = field(default_factory=list)
    leftovers: list = field(default_factory=list)

    def __str__(self):
        kinds = ", ".join(f"{kind} {self.refused[kind]}/{tries}" for kind, tries in sorted(self.kinds.items()))
        total = f"{self.kinds.total():,} tries, {self.refused.total():,} refusals ({kinds})"
        return (
            f"{total}, {len(self.tracebacks)} tracebacks, {len(self.hangs)} hangs, {len(self.leftovers)} half-written"
        )


@contextmanager
def patience():
    """Raise `HangError` where the block takes too long."""

    def late(*_):
        raise HangError

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def places(given, path=()):
    """The paths of all parts of settings."""
    yield path
    parts = given.items() if isinstance(given, dict) else enumerate(given) if isinstance(given, list) else ()
    for key, value in parts:
        yield from places(value, (*path, key))


def changed(given, dice):
    """Settings with one part replaced by something odd, taken out, moved elsewhere or under another key."""
    given = deepcopy(given)
    path = dice.choice([path for path in places(given) if path])
    parent = given
    for key in path[:-1]:
        parent = parent[key]
    what = dice.randrange(5)
    if what == 0:
        del parent[path[-1]]
    elif what == 1 and isinstance(parent, dict):
        parent[dice.choice([value for value in ODD if not isinstance(value, list | dict)])] = parent.pop(path[-1])
    elif what == 2:
        other = given
        for key in dice.choice(list(places(given))):
            other = other[key]
        parent[path[-1]] = deepcopy(other)
    else:
        parent[path[-1]] = dice.choice(ODD)
    return given


def damaged(raw, dice):
    """Bytes with a bit flipped, cut short, with zeros, something repeated or put in."""
    raw = bytearray(raw)
    if not raw:
        return b"x"
    at, size = dice.randrange(len(raw)), dice.choice([1, 2, 8, 100, 4096])
    what = dice.randrange(8)
    if what < 3:
        raw[at] ^= 1 << dice.randrange(8)
    elif what == 3:
        del raw[at:]
    elif what == 4:
        raw[at : at + size] = bytes(len(raw[at : at + size]))
    elif what == 5:
        raw[at:at] = raw[at : at + size]
    elif what == 6:
        raw[at : at + size] = dice.randbytes(min(size, len(raw) - at))
    else:
        del raw[at : at + size]
    return bytes(raw)


def reworded(text, dice):
    """A text with some odd characters put in, lines repeated, cells or lines taken out."""
    for _ in range(dice.choice([1, 1, 2, 5])):
        at = dice.randrange(len(text) + 1)
        lines = text.split("\n")
        line = dice.randrange(len(lines))
        what = dice.randrange(5)
        if what == 0:
            text = text[:at] + dice.choice(TEXTS) + text[at:]
        elif what == 1:
            text = text[:at] + text[at + dice.choice([1, 2, 20]) :]
        elif what == 2:
            text = "\n".join([*lines[:line], lines[line], *lines[line:]])
        elif what == 3:
            text = "\n".join([*lines[:line], *lines[line + 1 :]])
        else:
            text = text[:at] + str(dice.choice(ODD)) + text[at + 3 :]
    return text.encode("utf-8", "surrogatepass")


class Fuzzer:
    """Tries in a folder that has a whole small project; `kinds`: name → how often, and a function of the dice."""

    def __init__(self, folder, seed):
        self.folder, self.seed = folder, seed
        os.chdir(folder)
        prepare(folder)
        self.steps = list(all_steps())
        for step in self.steps:
            said = run(*step.words)
            if said.code:
                raise RuntimeError(said.error)
        self.shipped = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
        self.quick = [step for step in self.steps if step.words[0] not in SLOW]
        self.kinds = {
            "settings": (30, self.settings),
            "flags": (20, self.flags),
            "files": (25, self.files),
            "texts": (20, self.texts),
            "servers": (5, self.servers),
        }

    def settings(self, dice):
        """Settings with an odd part, as the Snakefile and `check` read them."""
        given = changed(dice.choice([self.shipped, CONFIG]), dice)
        if dice.randrange(3) == 0:
            given = changed(given, dice)
        code = 0
        for reads in (read, read_dataset):
            try:
                reads(given)
            except InputError:
                code = 2
        if dice.randrange(4) == 0:
            text = yaml.safe_dump(given, allow_unicode=False)
            Path("odd.yaml").write_text(text, encoding="utf-8")
            code = run("check", "--config", "odd.yaml").code
        return code

    def flags(self, dice):
        """A command with an odd word, which writes to a place of its own."""
        step = dice.choice(self.quick)
        words = self._elsewhere(step)
        at = dice.randrange(1, len(words))
        what = dice.randrange(5)
        if what == 0:
            del words[at]
        elif what == 1:
            words.insert(at, dice.choice(FLAGS))
        elif what == 2:
            words.insert(at, words[dice.randrange(1, len(words))])
        elif words[at] in {"--epochs", "--train"}:
            # Accepted, a large number would only take long.
            pass
        else:
            words[at] = dice.choice(FLAGS)
        return run(*words).code

    def _elsewhere(self, step):
        words = [str(word) for word in step.words]
        if "--out" in words:
            at = words.index("--out") + 1
            words[at] = f"odd/{words[at]}"
        return words

    def files(self, dice):
        """A step whose input was damaged since the job before."""
        step = dice.choice([step for step in self.quick if step.reads])
        return self._with(Path(dice.choice(step.reads)), damaged, step, dice)

    def texts(self, dice):
        """A step whose settings, expectations or interventions a person wrote in another way."""
        names = {
            "config.yaml": ("check", "verify", "play", "controls"),
            "manual/figure_2.yaml": ("intervene",),
            "expected.csv": ("controls", "confirm"),
            "meanings.csv": ("controls", "confirm"),
            **{
                f"paper/{name}": ("report",)
                for name in ("claims.csv", "figures.csv", "published.csv", "interventions.csv")
            },
        }
        name = dice.choice(list(names))
        # A report takes seconds, so of ten only one is tried.
        while "report" in names[name] and dice.randrange(10):
            name = dice.choice(list(names))
        able = [Step(("check",)), *(step for step in self.steps if step.words[0] in names[name])]
        step = dice.choice([step for step in able if step.words[0] in names[name]])
        return self._with(Path(name), lambda raw, dice: reworded(raw.decode(), dice), step, dice)

    def _with(self, path, change, step, dice):
        raw = path.read_bytes()
        path.write_bytes(change(raw, dice))
        try:
            return run(*self._elsewhere(step)).code
        finally:
            path.write_bytes(raw)

    def servers(self, dice):
        """A download from a server that answers in odd ways."""
        content = dice.randbytes(3000)
        host = Host(content)
        host.script = [answer(dice, content) for _ in range(3)]
        known = {"size": dice.choice([0, 3000]), "sha256": dice.choice(["", "0" * 64])}
        with serving(host) as address:
            try:
                obtain(Path("odd/x.bin"), Download((f"{address}/x",), **known), Retries(2, 0, 0.5))
            except InputError:
                return 2
        return 0

    def one(self, number, tally):
        """Do the try of a number."""
        dice = random.Random(f"{self.seed} {number}")
        names = list(self.kinds)
        kind = dice.choices(names, [self.kinds[name][0] for name in names])[0]
        tally.kinds[kind] += 1
        try:
            with patience():
                code = self.kinds[kind][1](dice)
            if code not in (0, 2, 1):
                raise RuntimeError(f"exit code {code}")
            tally.refused[kind] += code != 0
        except HangError:
            tally.hangs.append((number, kind, traceback.format_exc()))
        except Exception:
            tally.tracebacks.append((number, kind, traceback.format_exc()))
        if left := list(Path().rglob("*.partial*")):
            tally.leftovers.append((number, kind, f"{left}"))
            for path in left:
                path.unlink()
        shutil.rmtree("odd", ignore_errors=True)


def answer(dice, content):
    """What a server writes to the socket: a status, headers and a body that may not fit together."""
    status = dice.choice([200, 200, 200, 206, 206, 204, 301, 302, 304, 404, 416, 429, 500, 503, 999])
    sizes = ["0", "3000", "-1", "abc", "99999999999999999999", "3000, 3000", "1"]
    ranges = ["bytes 0-2999/3000", "bytes 10-/x", "bytes */3000", "x", "bytes 5-1/0", "bytes -1--1/-1"]
    headers = {"Connection": "close"}
    for name, values in {
        "Content-Length": sizes,
        "Content-Range": ranges,
        "ETag": ['"one"', "", "é", "x" * 9000],
        "Location": ["/x", "http://127.0.0.1:1/", "ftp://x", "//", ""],
        "Content-Encoding": ["gzip", "deflate", "x"],
        "Transfer-Encoding": ["chunked", "x"],
        "Retry-After": ["0", "abc", "-1"],
    }.items():
        if dice.randrange(3) == 0:
            headers[name] = dice.choice(values)
    body = dice.choice([content, content[: dice.randrange(3000)], b"", b"<html>", b"zz\r\n", content * 2])
    lines = [f"HTTP/1.1 {status} x", *(f"{name}: {value}" for name, value in headers.items())]
    raw = "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body
    if dice.randrange(6) == 0:
        raw = damaged(raw, dice)

    def behave(handler):
        handler.close_connection = True
        handler.wfile.write(raw)

    return behave


def fuzz(seed, tries, only=None):
    """Do so many tries, or one by its number; the tally."""
    here, tally = Path.cwd(), Tally()
    with tempfile.TemporaryDirectory() as folder:
        try:
            fuzzer = Fuzzer(Path(folder), seed)
            for number in range(tries) if only is None else [only]:
                fuzzer.one(number, tally)
                if number and number % 1000 == 0:
                    print(tally, file=sys.stderr, flush=True)
        finally:
            os.chdir(here)
    return tally


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="the number of one try")
    arguments = parser.parse_args()
    tally = fuzz(arguments.seed, arguments.tries, only=arguments.only)
    for number, kind, text in (*tally.tracebacks, *tally.hangs, *tally.leftovers):
        print(f"--- try {number}, {kind}\n{text}")
    print(tally)
    sys.exit(bool(tally.tracebacks or tally.hangs or tally.leftovers))


if __name__ == "__main__":
    main()
