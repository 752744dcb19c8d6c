"""Odd input of all kinds, some seconds of it; `make fuzz` tries more."""

from fuzz import fuzz

TRIES = 300
LEAST = {"settings": 20, "flags": 10, "files": 10, "texts": 10, "servers": 2}


def test_odd_input_is_refused_or_does_no_harm():
    tally = fuzz(seed=1, tries=TRIES)
    assert not tally.tracebacks, "\n".join(text for *_, text in tally.tracebacks)
    assert not tally.hangs, tally.hangs
    assert not tally.leftovers, tally.leftovers
    for kind, least in LEAST.items():
        assert tally.refused[kind] >= least, f"{kind}: {tally}"
        # Of servers' answers few make sense.
        assert kind == "servers" or tally.refused[kind] < tally.kinds[kind], f"{kind}: {tally}"
