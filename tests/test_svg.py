"""Figures tell their values: in the SVG file, and by pointer and keyboard in the page."""

import re
from xml.etree import ElementTree as ET

import pytest
from matplotlib.figure import Figure

from cooperation.reports.drawing import points, save, say
from cooperation.reports.svg import inlined
from cooperation.reports.trainings import Estimate

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def drawn(tmp_path):
    """A figure with a line of three points, and two points with intervals."""
    figure = Figure()
    axes = figure.subplots()
    [line] = axes.plot([1, 2, 3], [3.0, 1.0, 2.0], marker="o")
    say(line, ["three", "one", 'two & <"half">'])
    given = {0.0: Estimate(2.0, 1.0, 3.0, (1,), (2.0,)), 1.0: Estimate(2.5, float("nan"), float("nan"))}
    points(axes, given, "gap", ["image", "caption"], color="black", marker="s")
    save(figure, tmp_path / "x.svg")
    return tmp_path / "x.svg"


def told(svg):
    return [
        (point.get("aria-label"), point.find(f"{SVG}title").text, float(point.find(f"{SVG}use").get("y")))
        for point in ET.fromstring(svg).iter(f"{SVG}g")
        if point.get("class") == "value"
    ]


def test_each_point_tells_its_value(drawn):
    found = told(drawn.read_text())
    labels = ["three", "one", 'two & <"half">', "image, gap: 2.0 [1.0, 3.0]", "caption, gap: 2.5"]
    assert [label for label, *_ in found] == labels
    assert [title for _, title, _ in found] == labels
    # Higher on the page is a smaller y.
    three, one, two = (y for *_, y in found[:3])
    assert three < two < one


def test_the_same_figure_gives_the_same_bytes(tmp_path):
    figure = Figure()
    [line] = figure.subplots().plot([1, 2], [1, 2], marker="o")
    say(line, ["a", "b"])
    save(figure, tmp_path / "one.svg")
    save(figure, tmp_path / "two.svg")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_figures_of_one_page_share_no_ids(drawn):
    one, other = (inlined(drawn.read_text(), name, "in words") for name in ("a", "b"))
    ids = [re.findall(r'\bid="([^"]+)"', text) for text in (one, other)]
    assert len(ids[0]) > 20
    assert not set(ids[0]) & set(ids[1])
    for text, own in zip((one, other), ids, strict=True):
        used = re.findall(r'href="#([^"]+)"', text) + re.findall(r"url\(#([^)]+)\)", text)
        assert used
        assert set(used) <= set(own)
        assert 'role="group" aria-label="in words"' in text
        assert "<metadata" not in text
        assert told(text) == told(drawn.read_text())


def test_a_point_without_words_is_a_mistake(tmp_path):
    figure = Figure()
    [line] = figure.subplots().plot([1, 2], [1, 2], marker="o")
    with pytest.raises(ValueError, match="longer"):
        say(line, ["one"])
    save(figure, tmp_path / "x.svg")
    assert told((tmp_path / "x.svg").read_text()) == []


def test_what_is_no_number_is_not_drawn_and_not_told(tmp_path):
    figure = Figure()
    [line] = figure.subplots().plot([1, 2, 3], [1, float("nan"), 2], marker="o")
    say(line, ["a", "b", "c"])
    save(figure, tmp_path / "x.svg")
    assert [label for label, *_ in told((tmp_path / "x.svg").read_text())] == ["a", "c"]
