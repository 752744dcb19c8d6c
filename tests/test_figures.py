import numpy as np
import pytest
from fakes import made_summary

from cooperation.files import InputError
from cooperation.reports.figures import STYLES, draw, save
from cooperation.reports.paper import FIGURES


@pytest.fixture(scope="module")
def summary():
    return made_summary()


@pytest.mark.parametrize("name", FIGURES)
def test_each_reading_has_a_panel_with_every_line_and_its_band(name, summary):
    figure = draw(summary, name)
    assert [axes.get_title().split(":")[0] for axes in figure.axes] == ["written", "released"]
    for axes in figure.axes:
        reading = axes.get_title().split(":")[0]
        lines = {line.get_label(): line for line in axes.get_lines()}
        assert list(lines) == list(FIGURES[name].lines.values())
        for condition, label in FIGURES[name].lines.items():
            rows = summary[
                (summary["model"] == "dialog") & (summary["reading"] == reading) & (summary["condition"] == condition)
            ]
            assert lines[label].get_xdata().tolist() == list(range(1, 11))
            assert lines[label].get_ydata().tolist() == rows["mpr"].tolist()[1:]
        bands = [band.get_paths()[0].vertices[:, 1] for band in axes.collections]
        assert len(bands) == len(lines)
        assert np.isclose(bands[-1].max(), rows["high"].tolist()[1:], atol=1e-9).any()
    assert f"not aligned with Figure {FIGURES[name].sibling}" in figure.axes[0].get_ylabel()


def test_lines_differ_without_colour():
    assert len({(style["marker"], str(style["linestyle"])) for style in STYLES}) == len(STYLES)
    assert all(len(figure.lines) <= len(STYLES) for figure in FIGURES.values())


@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
def test_the_same_numbers_give_the_same_bytes(ending, summary, tmp_path):
    for copy in ("a", "b"):
        save(draw(summary, "1a"), tmp_path / f"{copy}.{ending}")
    first, second = ((tmp_path / f"{copy}.{ending}").read_bytes() for copy in ("a", "b"))
    assert first == second
    assert first[:4] == {"svg": b"<?xm", "pdf": b"%PDF", "png": b"\x89PNG"}[ending]


def test_one_reading_is_one_panel(summary):
    assert len(draw(summary[summary["reading"] == "written"], "1b").axes) == 1


def test_what_was_not_played_is_said(summary):
    drawn = draw(summary[summary["condition"] != "caption-p0.6"], "1a")
    assert "Not played: Caption, p = 0.6." in drawn.get_suptitle()
    assert "Caption, p = 0.6" not in [line.get_label() for line in drawn.axes[0].get_lines()]
    full = draw(summary, "1a")
    assert "Not played" not in full.get_suptitle()
    styles = [
        {line.get_label(): line.get_marker() for line in figure.axes[0].get_lines()}["Caption, p = 0.8"]
        for figure in (drawn, full)
    ]
    assert styles[0] == styles[1]


def test_nothing_to_draw_or_a_wrong_ending_is_refused(summary, tmp_path):
    with pytest.raises(InputError, match=r"none of the conditions of Figure 1a \(none, caption-p0\.2"):
        draw(summary[summary["model"] != "dialog"], "1a")
    with pytest.raises(InputError, match=r"x\.gif: unknown ending"):
        save(draw(summary, "1a"), tmp_path / "x.gif")
