"""Memory that does not suffice: one line before it begins, with what to lower; else one line when it ends."""

from types import SimpleNamespace

import numpy as np
import pytest
from in_process import code_of

from cooperation.bots.building import build, build_untrained, weights_of
from cooperation.config.training import Sizes, Training
from cooperation.io import devices, memory
from cooperation.io.files import InputError
from cooperation.reports.bootstrap import resampled_means


@pytest.mark.parametrize("sizes", [Sizes(5, 7, 1), Sizes(6, 4, 3)])
def test_weights_are_counted(sizes):
    built = build(11, 13, sizes)
    assert weights_of(11, 13, sizes) == sum(one.numel() for bot in built for one in bot.parameters())


@pytest.mark.parametrize("sizes", [{"hidden": 10**6}, {"embedding": 10**9}, {"layers": 10**9}])
def test_bots_that_do_not_fit_are_refused_before_they_are_built(sizes):
    with pytest.raises(InputError, match=r"training: needs [\d,.]+ GB of memory at least, .* lower --hidden"):
        build_untrained(1000, 4096, Sizes(**sizes), Training())


def test_samples_that_do_not_fit():
    with pytest.raises(InputError, match=r"--resamples: needs .* GB of memory at least, .*; lower it"):
        resampled_means(np.ones((5, 1000)), 2**31 - 1)


def test_the_least_of_machine_container_and_limit_counts(tmp_path, monkeypatch):
    (tmp_path / "meminfo").write_text("MemTotal: 900 kB\nMemAvailable: 500 kB\n")
    (tmp_path / "max").write_text("300000\n")
    (tmp_path / "current").write_text("100000\n")
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "GROUPS", ((tmp_path / "max", tmp_path / "current"), (tmp_path / "x", tmp_path / "y")))
    assert memory.free() == 200_000
    (tmp_path / "max").write_text("max\n")
    assert memory.free() == 512_000
    monkeypatch.setattr(memory.resource, "getrlimit", lambda _: (1000, 1000))
    assert memory.free() == 1000


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried")]
)
def test_memory_that_ends_is_one_line(monkeypatch, capsys, error):
    def fail(_):
        raise error

    monkeypatch.setattr(
        "cooperation.cli.import_module", lambda _: SimpleNamespace(add_arguments=lambda _: None, run=fail)
    )
    assert code_of(monkeypatch, "train") == 2
    said = "not enough memory; lower --batch, --hidden, --embedding or --layers, or take a machine with more"
    assert capsys.readouterr().err == f"cooperation train: {said}\n"


def test_another_error_stays_one(monkeypatch):
    def fail(_):
        raise RuntimeError("a bug")

    monkeypatch.setattr(
        "cooperation.cli.import_module", lambda _: SimpleNamespace(add_arguments=lambda _: None, run=fail)
    )
    with pytest.raises(RuntimeError, match="a bug"):
        code_of(monkeypatch, "train")


@pytest.mark.parametrize(("room", "calls"), [(2e9, 0), (64e9, 2)])
def test_freed_memory_is_kept_where_there_is_plenty(monkeypatch, room, calls):
    asked = []
    monkeypatch.setattr(devices, "free", lambda: room)
    monkeypatch.setattr(devices.ctypes, "CDLL", lambda _: SimpleNamespace(mallopt=lambda *what: asked.append(what)))
    devices.keep_freed_memory()
    assert len(asked) == calls
