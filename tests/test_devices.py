"""A GPU that a job was given is used, or the job fails and says why; logs begin with the device."""

import copy

import pytest
import torch
from in_process import code_of
from project import Project
from reduced import CONFIG
from uninterrupted import uninterrupted  # noqa: F401

from cooperation.io import devices
from cooperation.io.devices import name_of
from cooperation.io.files import InputError

TOO_OLD = "The NVIDIA driver on your system is too old (found version 11040). Please update it. See https://nvidia"
NO_CUDA = "Torch not compiled with CUDA enabled"


@pytest.fixture(autouse=True)
def anew(monkeypatch):
    """No device was chosen or granted, and nothing is remembered of another test's."""
    for name in devices.GRANTS:
        monkeypatch.delenv(name, raising=False)
    devices.device.cache_clear()
    devices.unusable.cache_clear()
    yield
    devices.device.cache_clear()
    devices.unusable.cache_clear()


def without_gpu(monkeypatch, error, driver=""):
    """A machine with the driver of which torch says `error`."""

    def ones(*_, **__):
        raise error

    monkeypatch.setattr(torch, "ones", ones)
    monkeypatch.setattr(devices, "driver", lambda: driver)


@pytest.mark.parametrize("name", devices.GRANTS)
@pytest.mark.parametrize("error", [RuntimeError(TOO_OLD), AssertionError(NO_CUDA)])
def test_what_was_granted_and_cannot_be_used_is_an_error(monkeypatch, name, error):
    without_gpu(monkeypatch, error, "470.82.01")
    monkeypatch.setenv(name, "cuda" if name == devices.CHOICE else "0,1")
    with pytest.raises(InputError) as refused:
        devices.device()
    said = str(refused.value)
    assert said.startswith(f"{name}=")
    assert "\n" not in said
    for part in (str(error).split(". ", maxsplit=1)[0], "470.82.01", torch.__version__, "COOPERATION_DEVICE=cpu"):
        assert part in said


def test_the_driver_that_this_torch_needs_is_named(monkeypatch):
    without_gpu(monkeypatch, RuntimeError(TOO_OLD))
    for cuda, needed in (("11.8", "450"), ("12.9", "525"), ("13.0", "580"), ("14.1", "CUDA 14.1")):
        monkeypatch.setattr(torch.version, "cuda", cuda)
        devices.unusable.cache_clear()
        assert f"needs {needed}" in devices.unusable() or f"needs one for {needed}" in devices.unusable()


@pytest.mark.parametrize("value", devices.NO_GPU)
def test_a_variable_that_grants_none_asks_for_none(monkeypatch, value):
    without_gpu(monkeypatch, RuntimeError(TOO_OLD))
    for name in devices.GRANTS[1:]:
        monkeypatch.setenv(name, value)
    assert devices.device().type == "cpu"


def test_who_chooses_the_cpu_gets_it_whatever_is_granted(monkeypatch, capsys):
    without_gpu(monkeypatch, RuntimeError(TOO_OLD), "470.82.01")
    monkeypatch.setenv("SLURM_JOB_GPUS", "0")
    monkeypatch.setenv(devices.CHOICE, "cpu")
    devices.say_device()
    assert capsys.readouterr().out == f"device: {name_of(torch.device('cpu'))}\n"
    monkeypatch.setenv(devices.CHOICE, "gpu")
    devices.device.cache_clear()
    with pytest.raises(InputError, match="choose cpu or cuda"):
        devices.device()


def test_a_gpu_that_stays_idle_is_said_to(monkeypatch, capsys):
    without_gpu(monkeypatch, RuntimeError(TOO_OLD), "470.82.01")
    devices.say_device()
    [line] = capsys.readouterr().out.splitlines()
    assert "no GPU: The NVIDIA driver on your system is too old (found version 11040) (driver: 470.82.01" in line


@pytest.mark.parametrize(
    "text",
    [
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56\nGCC version: 12.2.0\n",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build\n",
    ],
)
def test_the_version_of_the_driver(monkeypatch, tmp_path, text):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(devices, "LOADED", tmp_path / "version")
    assert devices.driver() == ""
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho 580.65.06\necho 580.65.06\n")
    program.chmod(0o755)
    assert devices.driver() == "580.65.06"
    (tmp_path / "version").write_text(text)
    assert devices.driver() == "550.54.15"


def computing(folder, project):
    """What is typed for each command that computes: its words, by name."""
    data = project.folder / "data/small"
    both = ["--dialogs", data / "dialogs.h5", "--features", data / "features.h5"]
    bots = [*both, "--checkpoint", project.folder / "checkpoints/small/dialog-seed1.safetensors"]
    return {
        "extract": ["--val", data / "raw/val2014.zip", "--preprocessing", "small", "--out", folder / "fc7.h5"],
        "train": [*both, "--out", folder / "bots.safetensors"],
        "play": [*bots, "--condition", "none={}", "--out", folder / "played"],
        "intervene": [*bots, "--image-id", "1", "--noise-image", "--out", folder / "played"],
    }


@pytest.mark.parametrize("command", ["extract", "train", "play", "intervene"])
def test_every_command_that_computes_refuses(uninterrupted, tmp_path, monkeypatch, capsys, command):  # noqa: F811
    without_gpu(monkeypatch, RuntimeError(TOO_OLD))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    assert code_of(monkeypatch, command, *computing(tmp_path, uninterrupted)[command]) == 2
    [said] = capsys.readouterr().err.splitlines()
    assert said.startswith(f"cooperation {command}: CUDA_VISIBLE_DEVICES=0: torch can't use that GPU: ")
    assert list(tmp_path.iterdir()) == []


def test_logs_of_what_computes_begin_with_the_device(uninterrupted):  # noqa: F811
    logs = (uninterrupted.folder / "logs/small").glob("*.log")
    first = {path.stem: path.read_text().partition("\n")[0] for path in logs}
    computed = {name for name, line in first.items() if line.startswith("device: cpu, threads: ")}
    assert computed == {name for name in first if name.split("_")[0] in ("extract", "train", "play", "manual")}
    assert len(computed) > 5


@pytest.mark.parametrize("asked", [{"gpu": 1}, {"gres": "gpu:a100:1"}])
def test_a_job_that_asks_for_a_gpu_uses_one_or_fails(tmp_path, asked):
    config = copy.deepcopy(CONFIG)
    config["datasets"]["small"]["jobs"] = "condition"
    project = Project(tmp_path / "mine", config)
    wanted = [f"{key}={value}" for key, value in asked.items()]
    target = "results/small/dialog-seed1/written/none.h5"
    given = [f"{rule}:{each}" for rule in ("extract", "train", "play") for each in wanted]
    done = project.snakemake("-n", "--verbose", target, "--set-resources", *given)
    chosen = [line for line in done.stdout.splitlines() if "COOPERATION_DEVICE=${COOPERATION_DEVICE:-cuda}" in line]
    assert sum("cooperation extract" in line for line in chosen) == 1
    assert len(chosen) == 3, done.stdout
    assert "COOPERATION_DEVICE" not in project.snakemake("-n", "--verbose", target).stdout
