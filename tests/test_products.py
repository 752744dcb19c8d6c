"""The library that multiplies float32 matrices: the faster one of two, where it is as exact."""

import json

import pytest
import torch

from cooperation.io import products
from cooperation.io.files import InputError

SHAPES = [(8, 16), (4, 300)]


@pytest.fixture(autouse=True)
def as_before(monkeypatch, tmp_path):
    """What is chosen here is chosen here alone."""
    monkeypatch.delenv(products.CHOICE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    before = torch.get_float32_matmul_precision()
    yield
    torch.set_float32_matmul_precision(before)


@pytest.fixture
def machine(monkeypatch):
    """A machine with a scripted clock and scripted results: seconds of a try by library, the error of oneDNN's."""
    script = {"mkl": 1.0, "onednn": 1.0, "error": 0.0, "tries": 0, "now": 0.0}
    multiply = torch.Tensor.__matmul__

    def matmul(one, other):
        library = products.library()
        script["now"] += script[library] / 3
        script["tries"] += 1
        return multiply(one, other) * (1 + script["error"] * (library == "onednn"))

    monkeypatch.setattr(torch.Tensor, "__matmul__", matmul)
    monkeypatch.setattr(products.time, "perf_counter", lambda: script["now"])
    return script


@pytest.mark.parametrize(
    ("seconds", "error", "chosen"),
    [(0.5, 0, "onednn"), (0.95, 0, "mkl"), (2, 0, "mkl"), (0.5, 1e-6, "onednn"), (0.5, 1e-3, "mkl")],
)
def test_the_faster_library_is_taken_if_it_is_as_exact(machine, seconds, error, chosen):
    machine |= {"onednn": seconds, "error": error}
    products.use_faster_products(SHAPES)
    assert products.library() == chosen


def test_a_choice_is_kept_for_the_machine_and_the_shapes(machine, tmp_path):
    machine["onednn"] = 0.5
    products.use_faster_products(SHAPES)
    tries = machine["tries"]
    machine["onednn"] = 2
    products.use_faster_products(SHAPES)
    assert (products.library(), machine["tries"]) == ("onednn", tries)
    products.use_faster_products(SHAPES[:1])
    assert products.library() == "mkl"
    assert len(json.loads((tmp_path / "cooperation/products.json").read_text())) == 2


@pytest.mark.parametrize("content", ["", "[", "[]", '{"some machine": "fast"}', None])
def test_a_cache_that_is_damaged_or_cannot_be_written_hinders_nothing(machine, tmp_path, content):
    place = tmp_path / "cooperation/products.json"
    place.parent.mkdir()
    place.mkdir() if content is None else place.write_text(content)
    machine["onednn"] = 0.5
    products.use_faster_products(SHAPES)
    assert products.library() == "onednn"


def test_without_a_home_each_process_chooses(machine, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(products.Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
    machine["onednn"] = 0.5
    products.use_faster_products(SHAPES)
    assert products.library() == "onednn"


@pytest.mark.parametrize("name", products.SWITCHES)
def test_a_library_can_be_chosen(machine, monkeypatch, name):
    monkeypatch.setenv(products.CHOICE, name)
    products.use_faster_products(SHAPES)
    assert (products.library(), machine["tries"]) == (name, 0)


def test_a_library_that_there_is_not_is_refused(monkeypatch):
    monkeypatch.setenv(products.CHOICE, "blas")
    with pytest.raises(InputError, match=r"COOPERATION_PRODUCTS=blas: .*give mkl, onednn or auto"):
        products.use_faster_products(SHAPES)


def test_a_real_try_leaves_the_switch_as_it_was():
    torch.set_float32_matmul_precision("high")
    assert products.faster(SHAPES) in products.SWITCHES
    assert torch.get_float32_matmul_precision() == "high"
