"""Whether a GPU says and ranks what a CPU does, and how fast it is: benchmarks/gpu.sh, under four minutes.

    python benchmarks/gpu.py [--small]

Without a GPU, or with --small, the same runs at tiny sizes on whatever is there.
"""

import argparse
import copy
import time
from dataclasses import replace

import flops
import made_up
import numpy as np
import timing
import torch
import works

from cooperation.bots.updates import DialogUpdates, RoundUpdates, teacher_forced
from cooperation.devices import device, keep_freed_memory
from cooperation.games.ranking import Ranker
from cooperation.messages import Messages
from cooperation.method.game import Script
from cooperation.models import Sizes, Training

TOLERANCE = 1e-4
"""Relative difference of losses, and difference of guesses of length about 1, that another order of adding up makes."""
SECONDS = 60
"""How long each rate is measured at most."""


def parity() -> None:
    """Compare losses, words, guesses and ranks of small bots on both, and fail where they differ."""
    size = works.Size(200, 64, Sizes(24, 48, 2))
    words = made_up.vocabulary(size.words)
    dialogs, images = made_up.dialogs(64, size.words), made_up.features(64, size.features)
    bots = made_up.bots(words, size.features, size.sizes)
    batch = works.taught(size, dialogs, images)
    updates = DialogUpdates(*bots, Training(rate=0.02))
    for _ in range(20):
        updates.update(batch)
    games, losses, guessed = {}, {}, {}
    for kind in (torch.device("cpu"), device()):
        there = copy.deepcopy(bots[0]).to(kind), copy.deepcopy(bots[1]).to(kind)
        with torch.no_grad():
            found = teacher_forced(*there, works.taught(size, dialogs, images, kind))
        losses[kind.type] = {name: float(loss) for name, loss in found.items()}
        ranker, guesses = Ranker(images, kind, there[0].span().cpu().numpy()), []

        def rank(guess: works.Floats, ranker: Ranker = ranker, guesses: list[works.Floats] = guesses) -> object:
            guesses.append(guess)
            return ranker.rank(guess, np.arange(len(guess)))

        games[kind.type] = works.Players.of(there, words, dialogs, images).play(Script.silent(64), rank)
        guessed[kind.type] = np.stack(guesses)
    mine, its = games["cpu"], games[device().type]
    for name, loss in losses["cpu"].items():
        _close(f"{name} loss", abs(losses[device().type][name] / loss - 1), TOLERANCE)
    alike = [_alike(mine.question_said, its.question_said), _alike(mine.answer_said, its.answer_said)]
    # A word can be a near tie, and what follows it differs then.
    _close("messages that differ", 1 - float(np.mean(alike)), 0.01)
    same = np.logical_and.reduce(alike).all(1)
    _close(
        "guesses after the same talk", float(np.abs(guessed["cpu"] - guessed[device().type])[:, same].max()), TOLERANCE
    )
    _close("ranks that differ after the same talk", float((mine.ranks != its.ranks)[same].mean()), 0.01)


def _alike(one: Messages, other: Messages) -> np.ndarray:
    """Which messages are the same: [dialogs, rounds]."""
    return np.array([[a == b for a, b in zip(one[n].lists(), other[n].lists(), strict=True)] for n in range(len(one))])


def _close(what: str, difference: float, allowed: float) -> None:
    print(f"{what}: {difference:.2g} (allowed: {allowed:g})", flush=True)
    if not difference <= allowed:
        raise SystemExit(f"the GPU differs from the CPU: {what}")


def training(size: works.Size) -> None:
    """One epoch's rate, from as many updates as fit."""
    words = made_up.vocabulary(size.words)
    batch = works.taught(
        size, made_up.dialogs(size.learnt, size.words), made_up.features(size.learnt, size.features), device()
    )
    flop = flops.training(flops.Shape(words.size, size.features, size.sizes), batch)
    for precision in ("float32", "bfloat16"):
        for kind, regime in ((DialogUpdates, "dialog"), (RoundUpdates, "round")):
            run = works.updating(size, batch, kind, Training(regime=regime, precision=precision))
            run()
            updates = int(max(1, min(50, SECONDS / 8 / timing.synchronised(run))))
            seconds = timing.synchronised(lambda run=run, updates=updates: [run() for _ in range(updates)]) / updates
            print(
                f"training, {regime} updates, {precision}: {len(batch) / seconds:.0f} dialogs/s, "
                f"{82_783 / len(batch) * seconds / 60:.1f} minutes for an epoch of 82,783 dialogs, "
                f"{flop / seconds / 1e12:.2f} TFLOP/s"
            )


def condition(size: works.Size) -> None:
    """One condition: ten rounds, ranked among all candidates, from as many batches as fit."""
    words = made_up.vocabulary(size.words)
    bots = made_up.chatting(made_up.bots(words, size.features, size.sizes), words)
    there = bots[0].to(device()), bots[1].to(device())
    pool = made_up.features(size.candidates, size.features)
    start = time.perf_counter()
    ranker = Ranker(pool, device(), there[0].span().cpu().numpy())
    print(f"candidates on the device: {time.perf_counter() - start:.1f} s")
    played = 0
    start = time.perf_counter()
    while played < size.candidates and time.perf_counter() - start < SECONDS:
        rows = np.arange(played, min(played + size.played, size.candidates))
        dialogs = made_up.dialogs(len(rows), size.words, first_image=played)
        players = works.Players.of(there, words, dialogs, pool[rows])
        players.play(Script.silent(len(rows)), lambda guesses, rows=rows: ranker.rank(guesses, rows))
        played += len(rows)
    rate = played / (time.perf_counter() - start)
    print(
        f"one condition, {played:,} dialogs among {size.candidates:,} candidates: {rate:.0f} dialogs/s, "
        f"{size.candidates / rate / 60:.1f} minutes for all"
    )


def main() -> None:
    """Print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="tiny sizes, to try this program")
    keep_freed_memory()
    small = parser.parse_args().small or device().type == "cpu"
    size = replace(works.SMALL, candidates=64, played=32) if small else works.Size(played=2048)
    name = torch.cuda.get_device_name() if device().type == "cuda" else timing.processor()
    rates = [
        timing.gemm_rate(timing.take_turns({"gemm": timing.gemm(precision, device())}, 9)["gemm"]) / 1e12
        for precision in (torch.float32, torch.bfloat16)
    ]
    print(f"{name}, torch {torch.__version__}; GEMM {rates[0]:.2f} TFLOP/s in float32, {rates[1]:.2f} in bfloat16")
    parity()
    training(size)
    condition(size)
    if device().type == "cuda":
        print(f"memory of the GPU, at most: {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB")


if __name__ == "__main__":
    main()
