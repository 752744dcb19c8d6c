"""Make the made-up world: dialogs and pictures in the layout of VisDial 0.9 and COCO."""

import argparse

from cooperation.commands.outs import add_out_folder, check_files
from cooperation.config.preparation import World
from cooperation.config.sources import declared
from cooperation.data.miniature.writing import write_world
from cooperation.io.settings import add_flags, from_flags


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_out_folder(parser, "folder for the four zip archives")
    add_flags(parser, World)


def run(arguments: argparse.Namespace) -> None:
    check_files(arguments.out, declared("miniature").makes.values())
    write_world(from_flags(World, arguments), arguments.out)
