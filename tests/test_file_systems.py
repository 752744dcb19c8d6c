"""File systems unlike ours: without locks, without fsync, without mmap, without links; and memory that ends."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from fakes import write_data
from test_full_disk import WRITERS

from cooperation.bots.checkpoint import load_checkpoint
from cooperation.config.preparation import Download, Retries
from cooperation.data.download import obtain
from cooperation.data.store import read_dialogs
from cooperation.data.vgg import trained
from cooperation.io.files import InputError
from cooperation.io.writing import NOT_SUPPORTED, write_text

SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
static int refused(const char *call, int file) {
    char *number = getenv(call), *below = getenv("SHIM_BELOW"), link[64], path[4096];
    if (!number || file < 0) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0) return 0;
    path[size] = 0;
    if (strncmp(path, below, strlen(below))) return 0;
    errno = atoi(number);
    return 1;
}
#define REAL(name, kind) ((kind)dlsym(RTLD_NEXT, name))
int flock(int f, int how) { return refused("FLOCK", f) ? -1 : REAL("flock", int (*)(int, int))(f, how); }
int fsync(int f) { return refused("FSYNC", f) ? -1 : REAL("fsync", int (*)(int))(f); }
ssize_t pread(int f, void *b, size_t n, off_t at) {
    return refused("READ", f) ? -1 : REAL("pread", ssize_t (*)(int, void *, size_t, off_t))(f, b, n, at);
}
ssize_t pread64(int f, void *b, size_t n, off_t at) { return pread(f, b, n, at); }
ssize_t read(int f, void *b, size_t n) {
    return refused("READ", f) ? -1 : REAL("read", ssize_t (*)(int, void *, size_t))(f, b, n);
}
void *mmap(void *a, size_t n, int p, int how, int f, off_t at) {
    if (refused("MMAP", f)) return MAP_FAILED;
    return REAL("mmap", void *(*)(void *, size_t, int, int, int, off_t))(a, n, p, how, f, at);
}
void *mmap64(void *a, size_t n, int p, int how, int f, off_t at) { return mmap(a, n, p, how, f, at); }
"""


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    """A library that makes calls fail for the files below a folder, as some file systems do."""
    folder = tmp_path_factory.mktemp("shim")
    (folder / "shim.c").write_text(SHIM)
    built = subprocess.run(
        ["cc", "-shared", "-fPIC", "-o", folder / "shim.so", folder / "shim.c", "-ldl"], check=False
    ).returncode
    if built:
        pytest.skip("no C compiler")
    return folder / "shim.so"


def on(folder, shim, *words, **failing):
    """Run `cooperation WORDS`, where calls fail for the files below the folder with these errors."""
    environment = os.environ | {name.upper(): str(number) for name, number in failing.items()}
    environment |= {"LD_PRELOAD": str(shim), "SHIM_BELOW": str(folder)}
    command = [sys.executable, "-m", "cooperation", *map(str, words)]
    return subprocess.run(command, check=False, capture_output=True, text=True, env=environment)


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, 524])
def test_reading_needs_no_lock(tmp_path, shim, number):
    done = on(tmp_path, shim, "provenance", write_data(tmp_path / "dialogs.h5"), flock=number)
    assert (done.returncode, done.stderr) == (0, "")
    assert "made_up" in done.stdout or "carries" in done.stdout


def test_reading_needs_no_map_of_a_file_in_memory(tmp_path, shim):
    path = tmp_path / "bots.safetensors"
    WRITERS[path.name](path)
    text = f"""
import torch
from pathlib import Path
from cooperation.bots.checkpoint import load_tensors
print(len(load_tensors(Path({str(path)!r}))[0]))
"""
    environment = os.environ | {"LD_PRELOAD": str(shim), "SHIM_BELOW": str(tmp_path), "MMAP": str(errno.ENODEV)}
    done = subprocess.run([sys.executable, "-c", text], check=False, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    done = on(tmp_path, shim, "provenance", path, mmap=errno.ENODEV)
    assert done.returncode == 0, done.stderr


def test_a_disk_that_fails_is_no_damage(tmp_path, shim):
    done = on(tmp_path, shim, "summarise", write_data(tmp_path / "dialogs.h5"), read=errno.EIO)
    assert done.returncode == 2
    assert "input/output error; check the disk" in done.stderr
    assert "damaged" not in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("number", NOT_SUPPORTED)
def test_writing_needs_no_fsync(tmp_path, monkeypatch, number):
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(number, os.strerror(number))))
    write_text(tmp_path / "x.md", "x")
    assert [file.name for file in tmp_path.iterdir()] == ["x.md"]


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG, errno.ENXIO])
def test_what_fsync_finds_is_said(tmp_path, monkeypatch, number):
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(number, os.strerror(number))))
    with pytest.raises(InputError, match=rf"x\.md: {os.strerror(number).lower()}; \w+"):
        write_text(tmp_path / "x.md", "x")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP])
def test_where_there_are_no_links_files_are_copied(tmp_path, monkeypatch, number):
    (tmp_path / "mine.zip").write_bytes(b"content")

    def refuse(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "symlink_to", refuse)
    place = tmp_path / "x.zip"
    _, origin = obtain(place, Download(("http://x/x.zip",)), Retries(), tmp_path / "mine.zip")
    assert origin == f"copied from {tmp_path}/mine.zip"
    assert place.read_bytes() == b"content"
    assert not place.is_symlink()


@pytest.mark.parametrize(
    "error",
    [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory"), OSError("memory allocation failed")],
)
def test_memory_that_ends_is_no_damage(tmp_path, monkeypatch, error):
    def fail(*_, **__):
        raise error

    said = "not enough memory to read it; close other programs"
    WRITERS["bots.safetensors"](tmp_path / "bots.safetensors")
    monkeypatch.setattr("cooperation.bots.checkpoint.load", fail)
    with pytest.raises(InputError, match=said):
        load_checkpoint(tmp_path / "bots.safetensors", torch.device("cpu"))
    write_data(tmp_path / "dialogs.h5")
    with monkeypatch.context() as patched:
        patched.setattr(np, "asarray", fail)
        with pytest.raises(InputError, match=said):
            read_dialogs(tmp_path / "dialogs.h5", "val")
    (tmp_path / "mine.pth").write_bytes(b"x")
    monkeypatch.setattr(torch, "load", fail)
    with pytest.raises(InputError, match=said):
        trained(tmp_path / "mine.pth")
