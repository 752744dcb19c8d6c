"""The page, read as a browser does: what it shows, and that it needs nothing else."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from fakes import (
    PAPERS,
    ROOT,
    STANDS_FOR,
    WORDS,
    made_config,
    made_material,
    made_resampled,
    made_result,
)

from cooperation.config.experiment import Game, ManualGame, read
from cooperation.evaluation.transcripts import as_text, describe_manual
from cooperation.game.messages import Messages
from cooperation.game.vocabulary import Vocabulary
from cooperation.reports.claims import claims_table, read_claims
from cooperation.reports.corpus import describe as describe_corpus
from cooperation.reports.corpus import statistics_table
from cooperation.reports.diagnostics import diagnostics_table
from cooperation.reports.figures import Description, manual, rounds, why
from cooperation.reports.models import compare_models, models_table
from cooperation.reports.page import Contents, render
from cooperation.reports.paper import read_published
from cooperation.reports.tables import paper_table
from cooperation.reports.trainings import Estimate

PAPER = ROOT / "paper"
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


def paper_tables(material):
    published = read_published(PAPER / "published.csv", PAPERS)
    found = [paper_table(published, material.summary, number, STANDS_FOR) for number in (1, 2)]
    return {table.name: table for table in found}


def page_of(material, tables=None, figures=None):
    """The page of some material, with the paper's tables and Figures 1 unless others are given."""
    shown = {name: (rounds.describe(material, name), SVG) for name in ("1a", "1b")}
    return render(Contents(material, paper_tables(material) if tables is None else tables, figures or shown))


def game(condition, model="dialog"):
    return Game("miniature", model, 1, "written", condition)


def perturbed():
    """Answers in which the second of `a red cube EOS` became the word with markup, the third a START."""
    tokens = np.tile(np.array([1, 7, VOCABULARY.start, VOCABULARY.eos], np.int32), (3, 10, 1))
    return Messages(tokens, np.full((3, 10), 4, np.int32))


@pytest.fixture(scope="module")
def material():
    ranks = np.arange(3)[:, None] * np.ones(11)
    results = {
        game("none"): made_result(ranks, torch="2.14.1"),
        game("answer-from1-p1"): made_result(
            ranks, condition="answer-from1-p1", heard={"answer_heard": perturbed()}, torch="2.14.1"
        ),
    }
    return made_material(results=results)


@pytest.fixture(scope="module")
def text(material):
    return page_of(material)


def test_the_page_is_well_formed_and_needs_nothing_else(text):
    page = Page(text)
    assert page.open == []
    assert page.all("html") == [{"lang": "en"}]
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in page.all("meta")
    # A link is asked for by who clicks on it.
    elsewhere = {a["href"] for a in page.all("a") if not a["href"].startswith("#")}
    assert elsewhere == {"https://arxiv.org/abs/1712.01329"}
    loaded = [a for tag, a in page.tags if tag != "a"]
    addresses = [a.get(name, "") for a in loaded for name in ("src", "href", "srcset", "action", "data")]
    assert all(address == "" or address.startswith("data:") for address in addresses)
    assert "url(" not in text
    assert "@import" not in text


def test_links_lead_somewhere_and_ids_are_unique(text):
    page = Page(text)
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {a["href"][1:] for a in page.all("a") if a["href"].startswith("#")} <= set(ids)
    assert {attributes["aria-labelledby"] for attributes in page.all("section")} <= set(ids)


def test_pictures_and_tables_can_be_read_aloud(text):
    page = Page(text)
    figures = page.all("svg")
    assert len(figures) == 2
    assert all("Line charts of MPR" in attributes["aria-label"] for attributes in figures)
    assert all(attributes["role"] == "group" for attributes in figures)
    assert all(attributes.get("scope") in ("col", "row") for attributes in page.all("th"))
    assert len(page.all("caption")) == len(page.all("table"))


def test_the_page_states_what_was_run_and_where_numbers_come_from(text):
    for words in (
        "not expected to match the paper",
        "30 queries × 100 candidates, seed 1.",
        "extractor: VGG-16; preprocessing: small; weights: untrained, seed 1; normalisation: standardise",
        "2.14.1",
        "cooperation 0.1.0",
        "200\nbootstrap",
        "<code>mpr.csv</code>",
        "<code>table_2.csv</code>",
        "<code>figure_1b.svg</code>",
        "<code>results/miniature/dialog-seed1/written/none.h5</code>",
    ):
        assert words in text


def test_the_three_seeds_are_printed(material):
    config = made_config(seeds=[4, 5], game_seed=6, bootstrap_seed=7)
    text = page_of(replace(material, experiment=read(config)))
    rows = dict(re.findall(r"<dt>(Seeds? of [^<]*)</dt>\s*<dd>([^<]*)</dd>", text))
    assert rows == {"Seeds of training": "4, 5", "Seed of the games": "6", "Seed of the bootstrap": "7"}


def test_what_was_run_is_said_by_its_content(material):
    rows = dict(re.findall(r"<dt>([^<]*)</dt>\s*<dd>([^<]*)</dd>", page_of(material)))
    assert re.fullmatch(r"8 words \([0-9a-f]{12}\)", rows["Vocabulary"])
    assert re.fullmatch(r"100 dialogs \([0-9a-f]{12}\)", rows["Dialogs played"])
    assert rows["Bots, dialog, seed 1"] == "dialog, seed 1 (89ab)"
    assert rows["Bots, round, seed 1"] == "round, seed 1 (89ab)"
    assert not [name for name in rows if name.startswith("Other")]


@pytest.mark.parametrize(("model", "condition"), [("dialog", "none"), ("round", "negation-from8")])
def test_what_was_mixed_as_an_experiment_is_said_whichever_game_it_was_in(material, model, condition):
    mixed = {"other_features": "features: small (01) against caffe (23)"}
    scores = [
        replace(score, others=mixed) if (score.model, score.condition) == (model, condition) else score
        for score in material.scores
    ]
    rows = dict(re.findall(r"<dt>([^<]*)</dt>\s*<dd>([^<]*)</dd>", page_of(replace(material, scores=scores))))
    assert rows[f"Other features than in the training, {model}, seed 1"] == mixed["other_features"]
    assert sum(name.startswith("Other") for name in rows) == 1


def test_the_diagnostics_have_a_section_with_a_described_figure(material):
    cell = {"dataset": "miniature", "model": "dialog", "table": "swap", "reading": "written", "row": "image"}
    numbers = {"noise": (30, 28, 32), "swap": (20, 19, 21), "noise − swap": (10, 7, 13)}
    frame = pd.DataFrame(
        [
            cell | {"column": column, **Estimate(value, low, high, (1, 2), (value, value)).cells}
            for column, (value, low, high) in numbers.items()
        ]
    )
    shown = replace(material, diagnostics=frame)
    tables = {"diagnostics": diagnostics_table(frame, "9 queries × 9 candidates.")}
    text = page_of(shown, tables, {"why": (why.describe(shown, "why"), SVG)})
    page = Page(text)
    assert {"href": "#why"} in page.all("a")
    assert [one for one in page.all("svg") if "image, noise: 30.0" in one["aria-label"]]
    assert "costs more than a swap: noise − swap is image +10.0." in text
    assert "<b>20.0</b><small>[19.0, 21.0]</small>" in text
    assert "<code>diagnostics.csv</code>" in text
    assert "<code>figure_why.svg</code>" in text


def test_the_page_begins_with_how_many_claims_hold(material):
    claim = {"statement": "s", "source": "Table 1", "published": "> 0", "at_least": 0.0, "at_most": np.nan}
    claim |= {"counted": "", "why": "a direction"}
    numbers = {"ours": 1.0, "low": 0.5, "high": 1.5, "seeds": "1 2", "each": "0.9 1.1", "p": 0.01, "q": 0.02}
    numbers |= {"reason": "r", "model": "dialog"}
    verdicts = {"written": ("holds", "fails", "not comparable"), "released": ("not comparable",) * 3}
    lines = [
        claim | numbers | {"claim": f"c{number}", "reading": reading, "verdict": verdict}
        for number in range(3)
        for reading, verdict in ((reading, all_said[number]) for reading, all_said in verdicts.items())
    ]
    text = page_of(material, {"claims": claims_table(pd.DataFrame(lines), "miniature", "")})
    header = " ".join(text.split("<nav")[0].split())
    assert "1 hold, 1 fail and 0 are undecided in the reading written; 0 hold, 0 fail and 0 are undecided" in header


def test_statistics_of_the_dialogs_have_a_section(material):
    counted = describe_corpus({"train_kept": 5}, 8, read_claims(PAPER / "claims.csv", PAPERS))
    text = page_of(material, {"statistics": statistics_table(counted, "miniature")})
    page = Page(text)
    assert page.open == []
    assert 'href="#corpus"' in text
    assert "<code>statistics.csv</code>" in text
    assert '<th scope="row">Rounds</th><td>50</td>' in text


def test_models_have_a_section(material):
    text = page_of(material, {"models": models_table(compare_models(made_resampled()), "")})
    assert 'href="#models"' in text
    assert "<code>models.csv</code>" in text
    assert '<th scope="row">round</th>' in text.split('id="models"')[1]


def test_genuine_says_that_its_mpr_means_nothing(material):
    genuine = replace(material, experiment=read(made_config(dataset="genuine")))
    assert "MPR means nothing" in page_of(genuine)


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


def test_every_transcript_counts_ranks_from_one_and_keeps_halves(material):
    ranks = np.linspace([3.5, 12.0], [1233.5, 4.5], 11).T
    settings = '{"dialog": 5, "caption": "a red cube"}'
    intervened = made_result(ranks, condition="figure_2", settings=settings, candidates=2000, title="", text="")
    by_hand = {ManualGame("miniature", "dialog", 1, "written", "2", "figure_2.yaml"): intervened}
    results = {game("none"): made_result(ranks[:1], candidates=2000)}
    shown = replace(material, manual=by_hand, results=results)
    text = page_of(shown, figures={"2": (manual.describe(shown, "2"), SVG)})
    for page in (text.split('id="dialogs"')[0], text.split('id="dialogs"')[1]):
        assert "rank 4.5 of 2,000" in page
        assert "rank 1,234.5 of 2,000" in page
    assert "rank 13 of 2,000" in text
    assert "from 4.5 by caption to 1,234.5 in round 10" in describe_manual(intervened)
    assert "rank 1,234.5)" in as_text(intervened, VOCABULARY)
    assert "0 is best" not in text


def test_attributes_of_results_are_listed_by_model_and_the_dialog_is_one_models(material):
    ranks = np.arange(33.0).reshape(3, 11)
    results = {
        game("none"): made_result(ranks, device="cpu", inputs='{"checkpoint": "0a"}'),
        game("image-from1"): made_result(ranks, condition="image-from1", device="cpu", inputs='{"checkpoint": "0a"}'),
        game("none", "round"): made_result(ranks, model="round", device="cpu", inputs='{"checkpoint": "1b"}'),
    }
    text = page_of(replace(material, results=results))
    rows = re.findall(r"<dt>(device|inputs[^<]*)</dt>\s*<dd>([^<]*)</dd>", text)
    assert rows == [("device", "cpu"), ("inputs, dialog", "checkpoint: 0a"), ("inputs, round", "checkpoint: 1b")]
    talks = text.split('id="dialogs"')[1]
    assert "image-from1" in talks
    assert "<code>results/miniature/dialog-seed1/written/image-from1.h5</code>" in talks
    assert "round-seed1" not in talks


def test_two_models_with_several_conditions_have_the_same_dialog_one_after_the_other(material):
    ranks = np.arange(33.0).reshape(3, 11)
    results = {
        game(condition, model): made_result(ranks, model=model, condition=condition)
        for model in ("dialog", "round")
        for condition in ("none", "image-from1")
    }
    talks = page_of(replace(material, results=results)).split('id="dialogs"')[1]
    shown = re.findall(r"<code>results/miniature/(\w+)-seed1/written/([\w-]+)\.h5</code>, image (\d+)", talks)
    assert shown == [(model, condition, "8") for model in ("dialog", "round") for condition in ("none", "image-from1")]


def test_without_results_the_page_has_no_transcripts(material):
    assert 'id="dialogs"' not in page_of(replace(material, results={}))


def test_a_figure_of_no_section_of_the_page_has_one_of_its_own(material):
    toy = Description("Figure of toys", "A bear & a <ball>.", "Toys.", "toys.csv")
    text = page_of(material, figures={"toy": (toy, SVG)})
    page = Page(text)
    assert {"href": "#figure-toy"} in page.all("a")
    assert [image["aria-label"] for image in page.all("svg")] == ["A bear & a <ball>."]
    assert "<code>figure_toy.svg</code>" in text
