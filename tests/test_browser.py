"""The page in a real browser: no errors, no requests, and its claims can be sorted."""

import json
import math
import re
import shutil
import subprocess
from dataclasses import dataclass
from html import unescape

import pytest
from fakes import PAPERS, ROOT, STANDS_FOR, made_material, made_resampled

from cooperation.reports.claims import check, claims_table, read_claims
from cooperation.reports.drawing import save
from cooperation.reports.evidence import all_evidence
from cooperation.reports.figures import rounds
from cooperation.reports.page import Contents, render
from cooperation.reports.paper import read_published
from cooperation.reports.tables import paper_table

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), ""
)
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="no Chromium on PATH (Debian package chromium)")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-logging=stderr",
    "--virtual-time-budget=2000",
]
PAPER = ROOT / "paper"


@dataclass(frozen=True)
class Visit:
    """What a page made of itself, complained of and asked for."""

    dom: str
    console: list[str]
    requests: set[str]


def visit(text, folder, *flags):
    page, log = folder / "page.html", folder / "net.json"
    page.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [
            *(CHROMIUM, *FLAGS, *flags, "--dump-dom", f"--user-data-dir={folder / 'profile'}", f"--log-net-log={log}"),
            # The browser itself calls home; no test needs a network.
            "--host-resolver-rules=MAP * ~NOTFOUND",
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return Visit(done.stdout, re.findall(r"CONSOLE.*", done.stderr), requests(log.read_text(encoding="utf-8")))


def requests(log):
    """Addresses that the page asked for; the browser's own requests have no origin."""
    try:
        events = json.loads(log)["events"]
    except json.JSONDecodeError:
        # Killed before it closed the list.
        events = json.loads(log.rstrip().rstrip(",") + "]}")["events"]
    starts = [event["params"] for event in events if "initiator" in event.get("params", {})]
    return {params["url"] for params in starts if params["initiator"] != "not an origin" and "url" in params}


@pytest.fixture(scope="module")
def claims():
    evidence = all_evidence(made_resampled(50), PAPERS, read_published(PAPER / "published.csv", PAPERS), {}, [])
    verdicts = check(
        read_claims(PAPER / "claims.csv", PAPERS), evidence, STANDS_FOR, ["written", "released"], "miniature"
    )
    return claims_table(verdicts, "miniature", "")


@pytest.fixture(scope="module")
def page(claims, tmp_path_factory):
    material, published = made_material(), read_published(PAPER / "published.csv", PAPERS)
    tables = [paper_table(published, material.summary, number, STANDS_FOR) for number in (1, 2)]
    figure = tmp_path_factory.mktemp("figures") / "figure_1a.svg"
    save(rounds.draw(material, "1a"), figure)
    figures = {"1a": (rounds.describe(material, "1a"), figure.read_text(encoding="utf-8"))}
    return render(Contents(material, {table.name: table for table in (*tables, claims)}, figures))


def test_the_net_is_fine_enough(tmp_path):
    """The checks below would notice an error and a request."""
    bad = '<img src="http://example.invalid/a.png"><script>console.error("ouch"); fetch("http://example.invalid/b")</script>'
    seen = visit(bad, tmp_path)
    assert any("ouch" in line for line in seen.console)
    assert seen.requests == {"http://example.invalid/a.png", "http://example.invalid/b"}


def test_the_page_has_no_errors_and_asks_for_nothing(page, tmp_path):
    seen = visit(page, tmp_path)
    assert seen.console == []
    assert seen.requests == set()
    assert seen.dom.count('<button type="button">') == 9


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_but_tables_and_figures_scrolls_sideways(page, width, tmp_path):
    source = json.dumps(page).replace("</", r"<\/")
    measure = (
        # A frame, since a window can't be made as narrow as a phone.
        f"<!DOCTYPE html><iframe id=f style='border:0;width:{width}px;height:800px'></iframe><script>"
        "f.onload = () => { const root = f.contentDocument.documentElement;"
        " document.title = `${root.scrollWidth} of ${root.clientWidth}` };"
        f"f.srcdoc = {source};</script>"
    )
    found = re.search(r"<title>(\d+) of (\d+)</title>", visit(measure, tmp_path).dom)
    assert found
    assert found[1] == found[2]
    # Less than asked for by the width of the scroll bar.
    assert width - 30 < int(found[2]) <= width


def test_claims_sort_by_number_and_by_text(claims, tmp_path):
    click = "<script>document.querySelectorAll('th button')[{column}].click();</script></body>"
    page, verdicts = claims.html(), claims.frame
    by_number = visit(page.replace("</body>", click.format(column=5)), tmp_path)
    assert by_number.console == []
    shown = [float(text) for text in re.findall(r'<tr>(?:.|\n)*?data-value="([^"]*)"', by_number.dom)]
    ours = verdicts.loc[verdicts["reading"] == "written", "ours"]
    count = int(ours.notna().sum())
    assert shown[:count] == sorted(ours.dropna())
    assert all(math.isnan(value) for value in shown[count:])
    assert 'aria-sort="ascending"' in by_number.dom
    twice = click.format(column=1).replace("</body>", "") + click.format(column=1)
    by_text = visit(page.replace("</body>", twice), tmp_path)
    sources = re.findall(r'<td class="text source">([^<]*)</td>', by_text.dom)
    assert sources[0].startswith("Table")
    assert sources[-1].startswith("Abstract")
    assert 'aria-sort="descending"' in by_text.dom


def test_claims_sort_by_the_papers_value(claims, tmp_path):
    """Whole and broken numbers, bounds, typeset minus signs; words come last."""
    click = "<script>document.querySelectorAll('th button')[3].click();</script></body>"
    dom = visit(claims.html().replace("</body>", click), tmp_path).dom
    rows = re.findall(r"<tr><th scope=\"row\"(?:.|\n)*?</tr>", dom)
    printed = [re.sub("<small>.*?</small>|<[^>]*>", "", re.findall(r"<td.*?</td>", row)[2]).strip() for row in rows]
    printed = list(map(unescape, printed))
    numbers = [text.replace("−", "-").replace(",", "").lstrip("<> ") for text in printed]
    values = [float(text) if re.fullmatch(r"-?[\d.]+", text) else math.inf for text in numbers]
    assert values == sorted(values)
    assert {"37", "93.7", "−0.5", "> 0", "minimal"} <= set(printed)


def test_values_are_told_by_pointer_and_by_keyboard(page, tmp_path):
    """The first point is a stop of the keyboard, arrows lead on, and what is told stands below the figure."""
    script = """<script>
    const figure = [...document.querySelectorAll("figure")].find((one) => one.querySelector(".value"));
    const [first, second] = figure.querySelectorAll(".value"), told = figure.querySelector("output");
    const said = [];
    first.dispatchEvent(new MouseEvent("mouseenter"));
    said.push(told.textContent === first.getAttribute("aria-label"));
    first.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
    said.push(document.activeElement === second, told.textContent === second.getAttribute("aria-label"));
    said.push(figure.querySelectorAll(".value[tabindex='0']").length);
    document.body.dataset.said = JSON.stringify(said);
    </script></body>"""
    seen = visit(page.replace("</body>", script), tmp_path)
    assert re.search(r'data-said="([^"]*)"', seen.dom)[1] == "[true,true,true,1]"
    assert re.search(r'aria-label="[^"]*, round 10: [0-9.]+ \[', seen.dom)
