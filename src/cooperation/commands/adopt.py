"""Turn the authors' visdial_data.h5 and visdial_params.json into our file of dialogs.

Their data_img.h5 goes to `cooperation normalise` as it is, as both --train and --val.
"""

import argparse
from pathlib import Path
from typing import Any

from cooperation.data.authors import count_data, read_data, read_params
from cooperation.data.store import Dialogs, FeatureParts, write_dialogs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, required=True, help="the authors' visdial_data.h5")
    parser.add_argument("--params", type=Path, required=True, help="the authors' visdial_params.json")
    parser.add_argument("--images", type=Path, required=True, help="the authors' data_img.h5; only its shape is read")
    parser.add_argument("--out", type=Path, required=True, help="HDF5 file of dialogs to write")


def run(arguments: argparse.Namespace) -> None:
    vocabulary = read_params(arguments.params)
    dialogs: dict[str, Dialogs] = {}
    counts: dict[str, Any] = {}
    for split in ("train", "val"):
        rows = len(FeatureParts.of([arguments.images], split).image_ids)
        dialogs[split] = read_data(arguments.data, split, vocabulary, rows)
        counts |= {f"{split}_{name}": count for name, count in count_data(dialogs[split], vocabulary).items()}
        print(
            f"{split}: {len(dialogs[split]):,} dialogs, {rows:,} images; answers exactly yes/no "
            f"{counts[f'{split}_exactly_yes_no']:.1%}, beginning with them {counts[f'{split}_beginning_yes_no']:.1%}, "
            f"{counts[f'{split}_empty_answers']:,} empty"
        )
    write_dialogs(arguments.out, vocabulary, dialogs, counts)
