"""Make every table, figure and claim of the paper from the results, and join them in one page."""

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from PIL import Image

from cooperation.commands.common import add_resamples, read_games
from cooperation.commands.outs import add_out_folder, check_files
from cooperation.commands.settings import add_config, check_dialogs, read_settings
from cooperation.config.experiment import (
    CLAIMS,
    FIGURES,
    INTERVENTIONS,
    PAPER,
    PUBLISHED,
    Experiment,
    Game,
    ManualGame,
)
from cooperation.config.interventions import check_conditions, read_interventions
from cooperation.data.agreements import check_together
from cooperation.data.archives import find_pictures
from cooperation.data.identities import identity_of_dialogs, identity_of_pictures
from cooperation.data.pictures import decode
from cooperation.data.store import read_vocabulary
from cooperation.evaluation.results import IDLE, Result, read_result
from cooperation.io.hdf5 import read_attributes
from cooperation.io.identity import Identity
from cooperation.io.writing import keep, write_text
from cooperation.reports.claims import check, claims_table, read_claims
from cooperation.reports.corpus import describe, statistics_table
from cooperation.reports.diagnostics import diagnose, diagnostics_table, read_talks
from cooperation.reports.drawing import save
from cooperation.reports.evidence import all_evidence
from cooperation.reports.figures import figures_of
from cooperation.reports.manifest import made_of, settings_of, write_manifest
from cooperation.reports.material import Material
from cooperation.reports.metrics import metrics, to_csv
from cooperation.reports.models import compare_models, models_table
from cooperation.reports.needed import check_asked, check_belonging, check_there, others, path_of
from cooperation.reports.page import Contents, games_shown, render
from cooperation.reports.paper import REHEARSAL, read_figures, read_published
from cooperation.reports.played import plays_unperturbed
from cooperation.reports.products import (
    MANIFEST,
    METRICS,
    PAGE,
    SUMMARY,
    figure_files,
    paper_tables,
    products,
    table_files,
)
from cooperation.reports.statistics import Resampled, resample, summarise
from cooperation.reports.table import Table
from cooperation.reports.tables import paper_table

Manual = Mapping[ManualGame, Result]
"""The manual interventions' results, under all readings."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_config(parser)
    parser.add_argument("--dataset", help="data set of the settings (default: the one that they choose)")
    parser.add_argument(
        "--results",
        type=Path,
        required=True,
        help="folder of its results: MODEL-seedN/READING/CONDITION.h5 and manual/MODEL-seedN/READING/figure_NAME.h5",
    )
    parser.add_argument("--dialogs", type=Path, required=True, help="HDF5 file of its dialogs")
    parser.add_argument(
        "--pictures",
        type=Path,
        nargs="+",
        default=[],
        help="archives or folders that may hold the pictures of manual interventions' dialogs",
    )
    add_resamples(parser)
    parser.set_defaults(paper=[Path(file) for file in PAPER])
    add_out_folder(parser, "folder to write to; index.html needs no other file")


def run(arguments: argparse.Namespace) -> None:
    experiment = read_settings(arguments.config, arguments.dataset)
    check_conditions(experiment)
    games: list[Game | ManualGame] = [*experiment.games(experiment.dataset), *experiment.manual_games()]
    paths = [path_of(game, arguments.results) for game in games]
    check_there(paths)
    keep(paths)
    check_files(arguments.out, products(experiment))
    if left := others(paths, arguments.results):
        print(f"cooperation report: {arguments.config} asks for none of these, left out: {left}", file=sys.stderr)
    scores = read_games(experiment, experiment.dataset, arguments.results)
    manual = _read_manual(experiment, arguments.results)
    of_manual = {game: result.identity(path_of(game, arguments.results)) for game, result in manual.items()}
    identities = [*(score.identity for score in scores), *of_manual.values()]
    check_belonging(scores, of_manual, experiment.readings[0])
    _check_dialogs(arguments.dialogs, experiment, identities)
    idle = {(score.model, score.reading, score.condition) for score in scores if score.idle}
    for names in sorted(idle):
        print(f"warning: {', '.join(names)}: {IDLE}; it is left out", file=sys.stderr)
    active = [score for score in scores if (score.model, score.reading, score.condition) not in idle]
    resampled = resample(active, arguments.resamples, experiment.bootstrap_seed)
    material = replace(_material(experiment, resampled, manual, arguments), idle=sorted(idle))
    _write(material, _tables(material, resampled, manual, arguments.dialogs), arguments.out)
    about = {
        "dataset": experiment.dataset,
        **made_of(scores, list(of_manual.values()), arguments.results, material.pictures),
        "settings": settings_of(experiment, arguments.resamples),
    }
    write_manifest(arguments.out, [name for name in products(experiment) if name != MANIFEST], about)


def _read_manual(experiment: Experiment, folder: Path) -> Manual:
    """The results of all manual interventions. Raises `InputError` where one is not what the settings ask for."""
    found = {}
    for game in experiment.manual_games():
        path = path_of(game, folder)
        found[game] = read_result(path)
        check_asked(path, found[game].attributes, game, experiment)
    return found


def _check_dialogs(path: Path, experiment: Experiment, identities: Iterable[Identity]) -> None:
    """Raise `InputError` where the dialogs are not those that the settings ask for, or that results are about."""
    check_dialogs(path, experiment, experiment.dataset)
    dialogs = identity_of_dialogs(path)
    for identity in identities:
        check_together("result", identity, "dialogs", dialogs)


def _material(experiment: Experiment, resampled: Resampled, manual: Manual, arguments: argparse.Namespace) -> Material:
    """What figures and page are made of."""
    # The dialog of the first training under the first reading, which stands there first.
    drawn = {game.figure: result for game, result in reversed([*manual.items()])}
    interventions = read_interventions(INTERVENTIONS)
    return Material(
        experiment=experiment,
        folder=arguments.results,
        vocabulary=read_vocabulary(arguments.dialogs),
        results={game: read_result(path_of(game, arguments.results)) for game in games_shown(experiment)},
        manual=manual,
        pictures=_pictures(arguments.pictures, drawn.values(), resampled.scores[0].identity),
        lines=read_figures(Path(FIGURES), interventions),
        published=read_published(Path(PUBLISHED), interventions),
        scores=resampled.scores,
        summary=summarise(resampled),
        diagnostics=diagnose(resampled, read_talks(resampled.scores)),
        size=resampled.size,
        rehearsal=resampled.rehearsal,
    )


def _pictures(archives: Sequence[Path], results: Iterable[Result], played: Identity) -> dict[int, Image.Image]:
    """Image id → picture of the dialogs of manual interventions, where the archives are still there and have it.

    played: what a result is made of. Raises `InputError` where that was made of other pictures.
    """
    wanted = {int(result.image_ids[0]) for result in results} if archives else set()
    left = [path for path in archives if path.exists()] if wanted else []
    if left:
        check_together("pictures", identity_of_pictures(left), "result", played)
    there = find_pictures(left)
    if missing := sorted(wanted - set(there)):
        named = f"{archives[0]}" + " and others" * (len(archives) > 1)
        listed = ", ".join(map(str, missing))
        print(f"{named}: no picture of the images {listed}, so their figures have none", file=sys.stderr)
    return {image: decode(there[image].read(), str(there[image])) for image in sorted(wanted & set(there))}


def _tables(material: Material, resampled: Resampled, manual: Manual, dialogs: Path) -> dict[str, Table]:
    """All tables by name."""
    experiment, size = material.experiment, material.size
    dataset, stands_for = experiment.dataset, experiment.stands_for
    interventions, counts = read_interventions(INTERVENTIONS), read_attributes(dialogs)
    published, claims = material.published, read_claims(Path(CLAIMS), interventions)
    evidence = all_evidence(resampled, interventions, published, counts, list(manual.values()))
    judged = REHEARSAL if resampled.rehearsal else dataset
    verdicts = check(claims, evidence, stands_for, resampled.readings, judged)
    statistics = describe(counts, len(material.vocabulary.words), claims)
    made = [
        *(paper_table(published, material.summary, number, stands_for) for number in paper_tables(experiment)),
        claims_table(verdicts, dataset, size),
        statistics_table(statistics, dataset),
        diagnostics_table(material.diagnostics, size),
        models_table(compare_models(resampled), size) if plays_unperturbed(experiment) else None,
    ]
    return {table.name: table for table in made if table}


def _write(material: Material, tables: dict[str, Table], out: Path) -> None:
    """Write all products, the page last."""
    write_text(out / SUMMARY, to_csv(material.summary))
    write_text(out / METRICS, metrics(material.summary))
    for name, table in tables.items():
        table.write(out / file for file in table_files(name))
    figures = {}
    for name, kind in figures_of(material.experiment).items():
        drawn = kind.draw(material, name)
        for file in figure_files(name):
            save(drawn, out / file)
        figures[name] = (kind.describe(material, name), (out / f"figure_{name}.svg").read_text(encoding="utf-8"))
    write_text(out / PAGE, render(Contents(material, tables, figures)))
