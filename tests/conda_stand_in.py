"""NOT conda: it answers the few calls that Snakemake makes of conda, offline, with what the tests' Python has.

`env create` makes a virtual environment for `python`, and lays in it links to exactly the packages that the `pip:`
section pins; a version that isn't the installed one is an error. So a package that the section lacks is missing when a
rule runs. What it can't prove: that conda-forge has such a python, and that pip finds the pins on its index.
"""

import json
import os
import sys
import venv
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from rattler import BuildString, MatchSpec, PackageRecord

ACTIVATE = 'export CONDA_PREFIX="$1" PATH="$1/bin:$PATH"\n'


def install(folder, python=sys.executable):
    """Lay a command `conda` and its `activate` into the folder's bin, as a base environment has them."""
    programs = folder / "bin"
    programs.mkdir(parents=True)
    (programs / "activate").write_text(ACTIVATE)
    (programs / "conda").write_text(f'#!/bin/sh\nCONDA_BASE="{folder}" exec "{python}" -I "{__file__}" "$@"\n')
    (programs / "conda").chmod(0o755)
    return programs


def create(file, prefix):
    """Make an environment of the file's dependencies: python, pip and pinned packages."""
    version = ".".join(map(str, sys.version_info[:3]))
    here = {
        name: PackageRecord(name, number, BuildString("0"), 0, "linux-64")
        for name, number in {"python": version, "pip": distribution("pip").version}.items()
    }
    environment = yaml.safe_load(file.read_text())
    *programs, packages = environment["dependencies"]
    for program in programs:
        if not any(MatchSpec(program).matches(record) for record in here.values()):
            sys.exit(f"{file}: {program}: this stand-in for conda has python {version} and pip alone")
    venv.create(prefix, symlinks=True)
    [site] = prefix.glob("lib/python*/site-packages")
    for line in packages["pip"]:
        requirement = Requirement(line.partition(" --hash=")[0])
        if not requirement.marker or requirement.marker.evaluate():
            link(pinned(requirement), site)


def pinned(requirement):
    """The installed package, which has to be the one that is asked for."""
    try:
        found = distribution(requirement.name)
    except PackageNotFoundError:
        sys.exit(f"{requirement}: not installed where the tests run")
    if str(requirement.specifier) != f"=={found.version}":
        sys.exit(f"{requirement}: the tests run with {found.version}")
    return found


def link(found, site):
    """Lay links to an installed package's files."""
    for name in {file.parts[0] for file in found.files} - {"..", "__pycache__"}:
        if not (site / name).exists():
            (site / name).symlink_to(found.locate_file(name))


def main(words):
    match words:
        case ["info", "--json"]:
            print(json.dumps({"conda_prefix": os.environ["CONDA_BASE"], "platform": "linux-64"}))
        case ["--version"]:
            print("conda 24.7.1")
        case ["config", "--get", "channel_priority", "--json"]:
            print(json.dumps({"get": {"channel_priority": "strict"}}))
        case ["env", "create", *options]:
            value = {name: Path(options[options.index(f"--{name}") + 1]) for name in ("file", "prefix")}
            create(value["file"], value["prefix"])
        case ["clean", *_]:
            pass
        case _:
            sys.exit(f"the stand-in for conda does not know: conda {' '.join(words)}")


if __name__ == "__main__":
    main(sys.argv[1:])
