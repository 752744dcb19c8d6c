"""The figures: what they draw is what the tables say; another kind of figure is one file."""

from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from fakes import PAPERS, ROOT, all_results, made_config, made_material
from matplotlib.figure import Figure

from cooperation.config.experiment import read
from cooperation.io.files import InputError
from cooperation.reports import drawing
from cooperation.reports.drawing import STYLES, save, styles
from cooperation.reports.figures import rounds, why
from cooperation.reports.paper import read_figures
from cooperation.reports.statistics import across_seeds
from cooperation.reports.trainings import Estimate

FIGURES = read_figures(ROOT / "paper" / "figures.csv", PAPERS)
LABELS = {name: {line.condition.text: line.label for line in figure.lines} for name, figure in FIGURES.items()}


@pytest.fixture(scope="module")
def material():
    return made_material()


@pytest.fixture(scope="module")
def rivals():
    """Two models that stand for one of the paper's."""
    config = made_config()
    config["models"] = config["models"] | {"other": {"regime": "dialog", "image_weight": 1}}
    config["conditions"] = config["conditions"] | {"other": config["conditions"]["dialog"]}
    config["paper"] = {"dialog": ["dialog", "other"], "round": ["round"]}
    return made_material(config, [*all_results(), *others()])


def others():
    """The results of `dialog` of another seed, as if another model had played."""
    for result in all_results(seeds=(3,)):
        if result.attributes["model"] == "dialog":
            result.attributes.update(model="other", seed=1)
            yield result


@pytest.fixture
def project(monkeypatch):
    """Where `paper/` is."""
    monkeypatch.chdir(ROOT)


def without(material, **names):
    """The material without the rows of these names."""
    summary = material.summary
    gone = np.logical_and.reduce([summary[column] == name for column, name in names.items()])
    return replace(material, summary=summary[~gone])


def named_lines(axes):
    return {line.get_label(): line for line in axes.get_lines() if not line.get_label().startswith("_")}


def check_panels(pair, material, name, model, reading):
    """The panel of MPRs has every line of the figure and its band; that of gaps all but the baseline's."""
    summary, labels = material.summary, LABELS[name]
    for axes, value, high, left_out in zip(pair, ("mpr", "gap"), ("high", "gap_high"), ("", "None"), strict=True):
        lines = named_lines(axes)
        own = [label for label in labels.values() if label != left_out]
        assert list(lines)[: len(own)] == own
        assert list(lines)[len(own) :] == ([] if left_out else ["None, the paper’s Table 1"])
        for settings, label in labels.items():
            if label == left_out:
                continue
            rows = summary[
                (summary["model"] == model) & (summary["reading"] == reading) & (summary["settings"] == settings)
            ]
            rows = across_seeds(rows)
            assert lines[label].get_xdata().tolist() == list(range(1, 11))
            assert lines[label].get_ydata().tolist() == rows[value].tolist()[1:]
        bands = [band.get_paths()[0].vertices[:, 1] for band in axes.collections]
        assert len(bands) == len(own)
        assert np.isclose(bands[-1].max(), rows[high].tolist()[1:], atol=1e-9).any()


def pairs(figure):
    """Each panel of MPRs with that of gaps beside it."""
    return list(zip(figure.axes[::2], figure.axes[1::2], strict=True))


@pytest.mark.parametrize("name", FIGURES)
def test_each_reading_has_panels_with_every_line_and_its_band(name, material):
    figure = rounds.draw(material, name)
    assert [left.get_title().split(":")[0] for left, _ in pairs(figure)] == ["written", "released"]
    for pair in pairs(figure):
        check_panels(pair, material, name, "dialog", pair[0].get_title().split(":")[0])
    [sibling] = {"1a", "1b"} - {name}
    assert f"not aligned with Figure {sibling}" in figure.axes[0].get_ylabel()


def test_two_models_that_stand_for_the_papers_stand_one_below_the_other(rivals):
    figure = rounds.draw(rivals, "1a")
    names = [left.get_title().split(":")[0].split(", ") for left, _ in pairs(figure)]
    assert names == [[model, reading] for model in ("dialog", "other") for reading in ("written", "released")]
    for pair, (model, reading) in zip(pairs(figure), names, strict=True):
        check_panels(pair, rivals, "1a", model, reading)
    alt = rounds.describe(rivals, "1a").alt
    assert "Model dialog, reading written: None from" in alt
    assert "Model other, reading released: None from" in alt


def test_a_line_that_one_of_two_models_did_not_play_is_named_with_it(rivals):
    material = without(rivals, model="other", condition="caption-p0.6")
    assert "Not played: Caption, p = 0.6 (other)." in rounds.draw(material, "1a").get_suptitle()


def test_lines_differ_without_colour():
    assert len({(style["marker"], str(style["linestyle"])) for style in STYLES}) == len(STYLES)
    assert all(len(figure.lines) <= len(STYLES) for figure in FIGURES.values())


@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
def test_the_same_numbers_give_the_same_bytes(ending, material, tmp_path):
    for copy in ("a", "b"):
        save(rounds.draw(material, "1a"), tmp_path / f"{copy}.{ending}")
    first, second = ((tmp_path / f"{copy}.{ending}").read_bytes() for copy in ("a", "b"))
    assert first == second
    assert first[:4] == {"svg": b"<?xm", "pdf": b"%PDF", "png": b"\x89PNG"}[ending]


def test_the_users_style_changes_nothing(material, tmp_path):
    def bytes_of():
        save(rounds.draw(material, "1a"), tmp_path / "x.svg")
        return (tmp_path / "x.svg").read_bytes()

    plain = bytes_of()
    users = {"text.usetex": True, "font.family": "monospace", "lines.linewidth": 9, "figure.autolayout": True}
    with mpl.rc_context({**users, "svg.fonttype": "none", "savefig.facecolor": "red"}):
        assert bytes_of() == plain


@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
@pytest.mark.parametrize("odd", ["\x80", "\u202e", "\ufeff", "\t", "\x00", "\ud800", "$", "$_$", "$HOME$", "\\", "%"])
def test_texts_of_odd_characters_are_drawn(odd, ending, tmp_path):
    figure = Figure()
    axes = figure.subplots()
    axes.plot([1, 2], label=f"{odd}")
    axes.set_title(f"a{odd}b\n{odd}")
    axes.legend()
    figure.suptitle(odd)
    save(figure, tmp_path / f"x.{ending}")
    assert (tmp_path / f"x.{ending}").stat().st_size


def test_one_reading_is_one_panel(material):
    assert len(rounds.draw(without(material, reading="released"), "1b").axes) == 2


def test_every_training_is_a_thin_line():
    """Beside the mean of three, each has the values of its own rows; one training alone has none."""
    material = made_material(played=all_results(seeds=(1, 2, 5)))
    summary = material.summary
    for axes, value in zip(rounds.draw(material, "1b").axes[:2], ("mpr", "gap"), strict=True):
        thin = [line.get_ydata().tolist() for line in axes.get_lines() if line.get_linewidth() == 0.6]
        own = summary[(summary["condition"] == "image-from5") & (summary["reading"] == "written")]
        expected = [own[own["seed"] == seed][value].tolist()[1:] for seed in ("1", "2", "5")]
        assert all(values in thin for values in expected)
        assert len(thin) == 3 * (4 if value == "mpr" else 3)
    assert "Thin lines: each training." in rounds.describe(material, "1b").caption
    assert "mean of seeds 1, 2, 5. Intervals are over dialogs and trainings." in rounds.describe(material, "1b").caption


def test_one_training_is_said_to_be_one(material):
    said = rounds.describe(material, "1b").caption
    assert "Intervals are over dialogs, of one training." in said
    assert "Thin lines" not in said
    assert not [line for line in rounds.draw(material, "1b").axes[0].get_lines() if line.get_linewidth() == 0.6]


def test_the_papers_values_are_drawn_where_it_prints_them(material):
    for left, _ in pairs(rounds.draw(material, "1a")):
        printed = named_lines(left)["None, the paper’s Table 1"]
        assert printed.get_xdata().tolist() == list(range(1, 11))
        assert printed.get_ydata().tolist() == [93.1, 93.2, 92.7, 92.8, 93.0, 93.0, 92.9, 92.8, 92.7, 92.6]


def test_colours_darken_as_the_probability_rises():
    """Those of Figure 1a, whose conditions differ in p alone; of Figure 1b they are apart, in no order."""
    conditions = {name: [line.condition for line in figure.lines] for name, figure in FIGURES.items()}
    none, *rising = [style["color"] for style in styles(conditions["1a"])]
    light = [sum(int(color[at : at + 2], 16) for at in (1, 3, 5)) for color in rising]
    assert light == sorted(light, reverse=True)
    assert none == "#000000"
    assert [style["color"] for style in styles(conditions["1b"])] == [style["color"] for style in STYLES[:4]]
    backwards = [conditions["1a"][0], *conditions["1a"][:0:-1]]
    assert [style["color"] for style in styles(backwards)] == [none, *rising[::-1]]
    for name in FIGURES:
        assert len({(style["marker"], str(style["linestyle"])) for style in styles(conditions[name])}) == len(
            conditions[name]
        )


def test_what_was_not_played_is_said(material):
    drawn, full = rounds.draw(without(material, condition="caption-p0.6"), "1a"), rounds.draw(material, "1a")
    assert "Not played: Caption, p = 0.6." in drawn.get_suptitle()
    assert "Caption, p = 0.6" not in named_lines(drawn.axes[0])
    assert "Not played" not in full.get_suptitle()
    styles = [
        {line.get_label(): line.get_marker() for line in figure.axes[0].get_lines()}["Caption, p = 0.8"]
        for figure in (drawn, full)
    ]
    assert styles[0] == styles[1]


@pytest.mark.usefixtures("project")
def test_a_figure_is_drawn_where_any_of_its_lines_is_played():
    config = made_config()
    assert list(rounds.names(read(config))) == ["1a", "1b"]
    config["conditions"] = {"dialog": {"none": {}}, "round": config["conditions"]["round"]}
    assert list(rounds.names(read(config))) == ["1a", "1b"]
    config["conditions"] = {"round": config["conditions"]["round"]}
    assert list(rounds.names(read(config))) == []


def test_a_wrong_ending_is_refused(material, tmp_path):
    with pytest.raises(InputError, match=r"x\.gif: unknown ending"):
        save(rounds.draw(material, "1a"), tmp_path / "x.gif")


def test_the_description_names_the_ends_of_the_lines(material):
    summary = material.summary
    rows = summary[(summary["model"] == "dialog") & (summary["reading"] == "written")]
    line = rows[rows["condition"] == "image-from5"].set_index("round")["mpr"]
    found = rounds.describe(material, "1b")
    gap = rows[rows["condition"] == "image-from5"].set_index("round")["gap"]
    assert f"Image from {line[1]:.1f} to {line[10]:.1f}, gap {gap[10]:+.1f}" in found.alt
    assert "The y-axes of Figures 1a and 1b are not aligned." in found.caption


def cell(model, table, row, column, value):
    place = {"dataset": "miniature", "model": model, "table": table, "reading": "written", "row": row}
    return place | {"column": column, **Estimate(value, value - 1, value + 2, (1, 2), (value - 2, value + 2)).cells}


SWAPS = [cell("dialog", "swap", "image", "noise", 30.0), cell("dialog", "swap", "image", "swap", 20.0)]


def talks(model, *rows):
    columns = ("MPR by caption", "MPR, round 10")
    return [cell(model, "talk", row, column, 60.0) for row in rows for column in columns]


def points(axes):
    """Label → the values that are drawn."""
    return {bars.get_label(): bars.lines[0].get_xdata().tolist() for bars in axes.containers}


def test_the_figure_of_the_diagnostics_draws_noise_swap_and_who_talks(material):
    shown = replace(material, diagnostics=pd.DataFrame([*SWAPS, *talks("dialog", "bots", "people")]))
    drawn = why.draw(shown, "why")
    assert [axes.get_title() for axes in drawn.axes] == ["swap, written", "talk, written"]
    assert points(drawn.axes[0]) == {"noise": [30.0], "swap": [20.0]}
    assert [label.get_text() for label in drawn.axes[1].get_yticklabels()] == ["bots", "people"]
    alt = why.describe(shown, "why").alt
    assert "reading written: image, noise: 30.0; image, swap: 20.0." in alt
    assert "people, MPR by caption: 60.0" in alt


def test_a_model_without_anything_to_compare_is_drawn_only_if_all_are_such(material):
    both = [*SWAPS, *talks("dialog", "bots"), *talks("round", "bots")]
    drawn = why.draw(replace(material, diagnostics=pd.DataFrame(both)), "why")
    assert [axes.get_title() for axes in drawn.axes] == ["swap, written", "talk, written"]
    alone = why.draw(replace(material, diagnostics=pd.DataFrame(talks("round", "bots"))), "why")
    assert [axes.get_title() for axes in alone.axes] == ["talk, written"]


def test_two_models_have_panels_of_their_own_on_one_scale(material):
    rows = [*talks("dialog", "bots", "people"), *talks("other", "bots", "people")]
    shown = replace(material, diagnostics=pd.DataFrame(rows))
    drawn = why.draw(shown, "why")
    assert [axes.get_title() for axes in drawn.axes] == ["talk, dialog, written", "talk, other, written"]
    first, second = drawn.axes
    assert first.get_shared_x_axes().joined(first, second)
    assert "model other, reading written: bots" in why.describe(shown, "why").alt


def test_a_bar_of_few_samples_may_leave_its_value_out():
    """Then it has no length on that side: matplotlib refuses one that reaches back."""
    axes = Figure().subplots()
    given = {0.0: Estimate(5.0, 6.0, 7.0, (1,), (5.0,)), 1.0: Estimate(5.0, 4.0, 7.0, (1, 2), (4.0, 6.0))}
    drawing.points(axes, given, "x", ["a", "b"], color="black")
    *_, (bars,) = axes.containers[0].lines
    assert [segment[:, 0].tolist() for segment in bars.get_segments()] == [[5.0, 7.0], [4.0, 7.0]]
    strokes = [line for line in axes.lines if line.get_marker() == "|" and line.get_markersize() == 6]
    assert [tuple(line.get_xdata()) for line in strokes] == [(4.0, 6.0)]
