"""Compare a data set's dialogs and features with the settings, before bots are trained on them."""

import argparse
from pathlib import Path

from cooperation.commands.settings import add_config, check_dialogs, check_features, read_settings
from cooperation.data.agreements import check_together
from cooperation.data.identities import identity_of_dialogs, identity_of_features


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_config(parser)
    parser.add_argument("--dataset", help="one of the settings' data sets (default: the one that they choose)")
    parser.add_argument("--dialogs", type=Path, help="HDF5 file of dialogs (default: data/DATASET/dialogs.h5)")
    parser.add_argument("--features", type=Path, help="HDF5 file of features (default: data/DATASET/features.h5)")


def run(arguments: argparse.Namespace) -> None:
    experiment = read_settings(arguments.config, arguments.dataset)
    dataset = experiment.dataset
    dialogs = arguments.dialogs or Path("data", dataset, "dialogs.h5")
    features = arguments.features or Path("data", dataset, "features.h5")
    check_dialogs(dialogs, experiment, dataset)
    check_features(features, experiment, dataset)
    check_together("dialogs", identity_of_dialogs(dialogs), "features", identity_of_features(features))
    print(f"{dialogs} and {features} are what {arguments.config} says of {dataset}")
