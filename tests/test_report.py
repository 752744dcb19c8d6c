import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fakes import WORDS, made_result, made_summary, write_results

from cooperation.commands import report as command
from cooperation.data.store import write_dialogs
from cooperation.files import InputError
from cooperation.games.transcripts import as_text, describe_manual
from cooperation.messages import Messages
from cooperation.reports.claims import read_claims
from cooperation.reports.corpus import describe as describe_corpus
from cooperation.reports.page import Source, describe, render
from cooperation.reports.paper import read_published
from cooperation.reports.tables import compare
from cooperation.text import Vocabulary

PUBLISHED = Path(__file__).parents[1] / "paper" / "published.csv"
VOCABULARY = Vocabulary.of(WORDS)
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path id="x" d="M0 0h9"/></svg>'


class Page(HTMLParser):
    """Tags with their attributes, and what is left open."""

    VOID = ("meta", "link", "img", "br")

    def __init__(self, text):
        super().__init__()
        self.tags, self.open = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


def sources(summary, results=()):
    published = read_published(PUBLISHED)
    tables = {which: Source(Path(f"table_{which}.csv"), compare(published, summary, which)) for which in (1, 2)}
    figures = {name: Source(Path(f"figure_{name}.svg"), SVG) for name in ("1a", "1b")}
    return Source(Path("mpr.csv"), summary), tables, figures, [Source(Path("a.h5"), result) for result in results]


def tampered():
    """Answers in which the second of `a red cube EOS` became the word with markup, the third a START."""
    tokens = np.tile(np.array([1, 7, VOCABULARY.start, VOCABULARY.eos], np.int32), (3, 10, 1))
    return Messages(tokens, np.full((3, 10), 4, np.int32))


@pytest.fixture(scope="module")
def text():
    ranks = np.arange(3)[:, None] * np.ones(11)
    results = [
        made_result(ranks, torch="2.14.1"),
        made_result(ranks, condition="answer-from1-p1", heard={"answer_heard": tampered()}),
    ]
    return render(*sources(made_summary(), results), VOCABULARY)


def test_the_page_is_well_formed_and_needs_nothing_else(text):
    page = Page(text)
    assert page.open == []
    assert page.all("html") == [{"lang": "en"}]
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in page.all("meta")
    addresses = [a.get(name, "") for _, a in page.tags for name in ("src", "href", "srcset", "action", "data")]
    assert all(address == "" or address.startswith(("data:", "#")) for address in addresses)
    assert "url(" not in text
    assert "@import" not in text


def test_links_lead_somewhere_and_ids_are_unique(text):
    page = Page(text)
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {attributes["href"][1:] for attributes in page.all("a")} <= set(ids)
    assert {attributes["aria-labelledby"] for attributes in page.all("section")} <= set(ids)


def test_pictures_and_tables_can_be_read_aloud(text):
    page = Page(text)
    assert len(page.all("img")) == 2
    assert all("Line chart of MPR" in attributes["alt"] for attributes in page.all("img"))
    assert all(attributes.get("scope") in ("col", "row") for attributes in page.all("th"))
    assert len(page.all("caption")) == len(page.all("table"))


def test_the_page_states_what_was_run_and_where_numbers_come_from(text):
    for words in (
        "not expected to match the paper",
        "30 queries × 100 candidates, seed 1.",
        "extractor: VGG-16; weights: seeded, untrained",
        "2.14.1",
        "cooperation 0.1.0",
        "200\nbootstrap",
        "<code>mpr.csv</code>",
        "<code>table_2.csv</code>",
        "<code>figure_1b.svg</code>",
        "<code>a.h5</code>",
    ):
        assert words in text


def test_the_diagnostics_have_a_section_with_a_described_figure():
    cell = {"dataset": "miniature", "table": "swap", "reading": "written", "row": "image"}
    numbers = {"noise": (30, 28, 32), "swap": (20, 19, 21), "noise − swap": (10, 7, 13)}
    frame = pd.DataFrame(
        [
            cell | {"column": column, "value": value, "low": low, "high": high}
            for column, (value, low, high) in numbers.items()
        ]
    )
    why = Source(Path("diagnostics.csv"), frame)
    text = render(*sources(made_summary()), None, None, why, Source(Path("figure_why.svg"), SVG))
    page = Page(text)
    assert {"href": "#why"} in page.all("a")
    assert [image["alt"] for image in page.all("img") if "image, noise: 30.0" in image["alt"]]
    assert "only because it is strange: image +10.0." in text
    assert "<b>20.0</b><small>[19.0, 21.0]</small>" in text
    assert "<code>diagnostics.csv</code>" in text
    assert "<code>figure_why.svg</code>" in text


def test_the_page_begins_with_how_many_claims_are_reproduced():
    claim = {"statement": "s", "source": "Table 1", "published": "> 0", "at_least": 0.0, "at_most": np.nan}
    numbers = {"ours": 1.0, "low": 0.5, "high": 1.5, "reason": "r"}
    verdicts = {"written": ("reproduced", "not reproduced", "not comparable"), "released": ("not comparable",) * 3}
    lines = [
        claim | numbers | {"claim": f"c{number}", "reading": reading, "verdict": verdict}
        for number in range(3)
        for reading, verdict in ((reading, all_said[number]) for reading, all_said in verdicts.items())
    ]
    text = render(*sources(made_summary()), None, Source(Path("claims.csv"), pd.DataFrame(lines)))
    header = " ".join(text.split("<nav")[0].split())
    assert "1 of 2 in the reading written, 0 of 0 in the reading released." in header


def test_statistics_of_the_dialogs_have_a_section():
    counted = describe_corpus({"train_kept": 5}, 8, read_claims(PUBLISHED.with_name("claims.csv")))
    text = render(*sources(made_summary()), None, statistics=Source(Path("statistics.csv"), counted))
    page = Page(text)
    assert page.open == []
    assert 'href="#corpus"' in text
    assert "<code>statistics.csv</code>" in text
    assert '<th scope="row">Rounds</th><td>50</td>' in text


def test_genuine_says_that_its_mpr_means_nothing():
    summary = made_summary()
    summary["dataset"] = "genuine"
    assert "MPR means nothing" in render(*sources(summary), None)


def test_transcripts_show_said_and_heard_and_escape_both(text):
    talk = text.split("answer-from1-p1 <small>")[1]
    heard = re.search(r">heard</span> (.*?)</p>", talk)
    assert heard
    assert heard[1].split(" ", 1)[0] == "a"
    assert "<mark>&lt;script&gt;alert(1)&lt;/script&gt;</mark> <mark>‹start›</mark>" in heard[1]
    assert talk.count(">heard<") == 10
    assert "<script>alert" not in text
    # The median of the ranks 0, 1, 2, counted from 1.
    assert "rank 2 of 100" in talk
    assert "image 8" in talk


def test_every_transcript_counts_ranks_from_one_and_keeps_halves():
    ranks = np.linspace([3.5, 12.0], [1233.5, 4.5], 11).T
    settings = '{"dialog": 5, "caption": "a red cube"}'
    names = {"model": "manual", "settings": settings, "candidates": 2000, "title": "", "text": ""}
    manual = made_result(ranks, condition="figure_2", **names)
    shown = [(Source(Path("figure_2.h5"), manual), Source(Path("figure_2.svg"), SVG))]
    summary, tables, figures, results = sources(made_summary(), [made_result(ranks[:1], candidates=2000)])
    text = render(summary, tables, figures, results, VOCABULARY, manual=shown)
    for page in (text.split('id="dialogs"')[0], text.split('id="dialogs"')[1]):
        assert "rank 4.5 of 2,000" in page
        assert "rank 1,234.5 of 2,000" in page
    assert "rank 13 of 2,000" in text
    assert "from 4.5 by caption to 1,234.5 in round 10" in describe_manual(manual)
    assert "rank 1,234.5)" in as_text(manual, VOCABULARY)
    assert "0 is best" not in text


def test_what_models_were_run_with_is_said_of_each_and_the_dialog_is_one_models():
    ranks = np.arange(33.0).reshape(3, 11)
    results = [
        made_result(ranks, device="cpu", training='{"epochs": 10}'),
        made_result(ranks, condition="image-from1", device="cpu", training='{"epochs": 10}'),
        made_result(ranks, model="round", device="cpu", training='{"epochs": 5}'),
    ]
    summary, tables, figures, _ = sources(made_summary())
    shown = [Source(Path(f"{number}.h5"), result) for number, result in enumerate(results)]
    text = render(summary, tables, figures, shown, VOCABULARY)
    rows = re.findall(r"<dt>(device|training[^<]*)</dt>\s*<dd>([^<]*)</dd>", text)
    assert rows == [("device", "cpu"), ("training, dialog", "epochs: 10"), ("training, round", "epochs: 5")]
    talks = text.split('id="dialogs"')[1]
    assert "image-from1" in talks
    assert "<code>1.h5</code>" in talks
    assert "<code>2.h5</code>" not in talks


def test_without_results_the_page_has_no_transcripts():
    assert 'id="dialogs"' not in render(*sources(made_summary()), VOCABULARY)


def test_the_command_line_from_results_to_page_never_loads_torch_or_matplotlib(tmp_path):
    results = write_results(tmp_path / "results")
    write_dialogs(tmp_path / "dialogs.h5", VOCABULARY, {}, {})

    def cooperation(*words):
        program = (
            "import sys; from cooperation.cli import main; sys.argv[1:] = sys.argv[1:]; main();"
            "print(*sorted({'torch', 'matplotlib'} & set(sys.modules)))"
        )
        done = subprocess.run(
            [sys.executable, "-c", program, *map(str, words)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    mpr, tables = tmp_path / "mpr.csv", [tmp_path / f"table_{which}.csv" for which in (1, 2)]
    assert cooperation("summarise", *results, "--out", mpr, "--resamples", 50) == []
    for which, table in zip((1, 2), tables, strict=True):
        assert cooperation("table", which, "--summary", mpr, "--published", PUBLISHED, "--out", table) == []
    figure = tmp_path / "figure_1a.svg"
    assert cooperation("figure", "1a", "--summary", mpr, "--out", figure) == ["matplotlib"]
    page = tmp_path / "index.html"
    arguments = [
        "--tables",
        *tables,
        "--figures",
        figure,
        "--results",
        results[0],
        "--dialogs",
        tmp_path / "dialogs.h5",
    ]
    assert cooperation("report", "--summary", mpr, *arguments, "--out", page) == []
    assert Page(page.read_text()).open == []


def test_files_with_strange_names_are_refused():
    with pytest.raises(InputError, match=r"tables/first\.csv: the name must end in _ and one of 1, 2"):
        command._name(Path("tables/first.csv"), (1, 2))
    assert command._name(Path("x/figure_1a.svg"), ("1a", "1b")) == "1a"


def test_the_description_tells_the_ends_of_the_lines():
    summary = made_summary()
    rows = summary[(summary["model"] == "dialog") & (summary["reading"] == "written")]
    line = rows[rows["condition"] == "image-from5"].set_index("round")["mpr"]
    assert f"Image from {line[1]:.1f} to {line[10]:.1f}" in describe(summary, "1b")
