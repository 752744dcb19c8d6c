"""Commands that run in the process of the tests; those who call capture what is said, as they need it."""

import argparse
import sys

from cooperation.cli import main


def run(monkeypatch, *words):
    """Run `cooperation WORDS`; a refusal raises `SystemExit`."""
    monkeypatch.setattr(sys, "argv", ["cooperation", *map(str, words)])
    main()


def code_of(monkeypatch, *words):
    """Run `cooperation WORDS`; its exit code."""
    try:
        run(monkeypatch, *words)
    except SystemExit as stop:
        return stop.code
    return 0


def run_module(module, *words):
    """Run the module of a command, whose `InputError` is raised as it is."""
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    module.run(parser.parse_args([str(word) for word in words]))
