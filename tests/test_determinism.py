"""The same settings and seed give the same bytes: one job at a time or two, any batch of games, anywhere."""

import re
from datetime import date

import pytest
from uninterrupted import CONFIG, beside, digests, uninterrupted  # noqa: F401


@pytest.fixture(scope="module")
def again(uninterrupted, tmp_path_factory):  # noqa: F811
    """Another folder with the same data: trained and played again by one job at a time, three dialogs at a time."""
    dataset = CONFIG["datasets"]["small"]
    config = CONFIG | {"datasets": {"small": dataset | {"playing": {"batch": 3}, "jobs": "condition"}}}
    folder = tmp_path_factory.mktemp("again") / "elsewhere"
    project = beside(uninterrupted, folder, "data", ".snakemake", config=config)
    done = project.snakemake("--cores", "1")
    assert done.returncode == 0, done.stdout[-5000:]
    assert "localrule play:" in done.stdout
    assert "localrule extract:" not in done.stdout
    return project


def test_everything_is_the_same_to_the_byte(uninterrupted, again):  # noqa: F811
    first, second = digests(uninterrupted), digests(again)
    for ending in ("h5", "safetensors", "csv", "md", "tex", "html", "json", "svg", "pdf", "png"):
        mine = {name: found for name, found in first.items() if name.endswith(f".{ending}")}
        assert mine == {name: found for name, found in second.items() if name.endswith(f".{ending}")}
        assert len(mine) > 0
    assert first == second


def test_nothing_made_says_when_or_where(uninterrupted):  # noqa: F811
    """Two runs within a second would hide it."""
    today = date.today()
    moments = [today.isoformat(), today.strftime("%Y%m%d"), today.strftime("%d %b %Y"), str(uninterrupted.folder)]
    for path in (uninterrupted.folder / "reports").rglob("*.*"):
        raw = path.read_bytes()
        assert [moment for moment in moments if moment.encode() in raw] == [], path
        assert not re.search(rb"/CreationDate|<dc:date>|tIME|date:create", raw), path
