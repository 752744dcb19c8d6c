import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fakes import PAPERS, STANDS_FOR, made_resampled, made_result, made_scores
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cooperation.config.conditions import Condition
from cooperation.io.files import InputError
from cooperation.reports.claims import (
    CLAIMS,
    FOUND,
    all_evidence,
    check,
    claims_table,
    dialog_evidence,
    judge,
    paper_evidence,
    read_claims,
    reproduced,
)
from cooperation.reports.paper import read_published
from cooperation.reports.quantities import ALL_QUANTITIES, chosen, estimate, parse_rounds
from cooperation.reports.statistics import resample

PAPER = Path(__file__).parents[1] / "paper"
PUBLISHED = read_published(PAPER / "published.csv", PAPERS)


@pytest.fixture(scope="module")
def claims():
    return read_claims(PAPER / "claims.csv", PAPERS)


def published_evidence():
    """The paper's own numbers as if they were ours, with no uncertainty."""
    found = {}
    for cell in PUBLISHED[PUBLISHED["quantity"] == "mpr"].to_dict("records"):
        key = (cell["model"], "written", cell["condition"])
        found.setdefault(key, np.full((3, 11), np.nan))[:, cell["round"]] = cell["value"]
    gaps = {("paper", "written", name): drawn for name, drawn in paper_evidence(PUBLISHED).items()}
    return found | gaps


def test_the_papers_own_numbers_reproduce_its_claims(claims):
    verdicts = check(claims, published_evidence(), STANDS_FOR, ["written"], "visdial").set_index("claim")
    # Table 1's answer gap is not what its cells give; its tables leave out what the other claims need.
    found = set(verdicts.index[verdicts["verdict"] == "reproduced"])
    assert found == {
        "caption-falls-most", "question-most-of-the-rest", "caption-recovers", "caption-never-fully", "negation-worse",
        "none-level", "none-flat", "caption-chance", "caption-gap", "image-gap", "answer-gap", "question-gap",
        "negation-level", "negation-small",
    }  # fmt: skip
    assert set(verdicts.index[verdicts["verdict"] == "not reproduced"]) == {"answer-gap-cells"}
    assert verdicts.loc["answer-gap-cells", "ours"] == 0.9
    assert verdicts.loc["negation-small", "ours"] == pytest.approx(0.2)
    numbers = sorted(found - {"negation-small"})
    published = verdicts.loc[numbers, ["published", "ours"]].astype(float)
    assert (published["published"] - published["ours"]).abs().max() <= 0.1 + 1e-9


def test_quantities_by_hand():
    """Three conditions (rows) in rounds 1 and 10 (columns)."""
    mpr = np.array([[90.0, 94.0], [80.0, 88.0], [70.0, 91.0]])
    found = {name: estimate(name, np.stack([mpr] * 4)) for name in ALL_QUANTITIES}
    # Means over the rounds: 92, 84, 80.5.
    expected = {
        "level": mpr.mean(),
        "gap": 8.0,
        "change": (4 + 8 + 21) / 3,
        "lead": 80.5 - 92,
        "step": 3.5,
        "spread": 20.0,
    }
    # Draws that equal the plain value leave no doubt.
    assert found == {name: pytest.approx((value,) * 3) for name, value in expected.items()}


def test_each_condition_in_rounds_of_its_own():
    games = [np.arange(22.0).reshape(2, 11) + 100 * number for number in range(2)]
    assert chosen(games, "1 10").tolist() == [[[1, 10], [101, 110]], [[12, 21], [112, 121]]]
    assert chosen(games, "8-10; 9-10")[0].tolist() == [pytest.approx(row, nan_ok=True) for row in (
        [8, 9, 10], [np.nan, 109, 110]
    )]  # fmt: skip
    # Round 8 parts them furthest, but only the first is there.
    games[1] = games[0] + [0, 0, 0, 0, 0, 0, 0, 0, 50, 3, 2]
    assert estimate("spread", chosen(games, "8-10; 9-10")) == pytest.approx((3, 3, 3))
    assert estimate("spread", chosen(games, "8-10")) == pytest.approx((50, 50, 50))


def test_negation_is_small_in_the_cells_of_table_2_alone(claims):
    """What happens without negation or before a row's start is no part of it."""
    evidence = published_evidence()
    start = {f"negation-from{start}": start for start in (1, 2, 4, 6, 8)}
    for name, first in start.items():
        evidence["round", "written", name][:, :first] = 0.0
    evidence["round", "written", "none"] = np.full((3, 11), 50.0)
    line = check(claims, evidence, STANDS_FOR, ["written"], "visdial").set_index("claim").loc["negation-small"]
    assert (line["ours"], line["verdict"]) == (pytest.approx(0.2), "reproduced")


EXTREMES = ("lead", "step", "spread")


@given(drawn=arrays(np.float64, (6, 3, 2), elements=st.floats(-9, 9)))
def test_an_interval_contains_its_estimate(drawn):
    """Whatever the resamples are, even far from the plain means."""
    for name in EXTREMES:
        value, low, high = estimate(name, drawn)
        assert low <= value <= high


def test_no_spread_where_chance_alone_parts_the_conditions():
    """Five conditions that differ by chance: the resampled spreads are all too wide, the interval reaches zero."""
    generator = np.random.default_rng(11)
    apart, replaced = 0, 0
    for _ in range(100):
        plain = generator.normal(90, 0.1, (1, 5, 3))
        drawn = np.concatenate([plain, generator.normal(plain, 0.1, (400, 5, 3))])
        value, low, high = estimate("spread", drawn)
        assert low <= value <= high
        apart += low > 0
        replaced += np.percentile((drawn[1:].max(1) - drawn[1:].min(1)).max(-1), 2.5) > 0
    # In 95 of 100 worlds the interval says that there may be no spread; the resampled spreads' percentiles never do.
    assert apart <= 10
    assert replaced == 100


@pytest.mark.parametrize(("name", "truth"), [("lead", 0.0), ("step", 0.0), ("spread", 0.3)])
def test_intervals_of_extremes_hold_as_often_as_they_say(name, truth):
    means = {
        "lead": [[90.0], [90], [90], [90.2], [91]],
        "step": [[90.0], [90], [90], [89], [89]],
        "spread": [[90.0], [90.3], [90], [90.1], [90.3]],
    }[name]
    generator = np.random.default_rng(5)
    right = 0
    for _ in range(200):
        plain = generator.normal(means, 0.1)[None]
        value, low, high = estimate(name, np.concatenate([plain, generator.normal(plain, 0.1, (300, 5, 1))]))
        assert low <= value <= high
        right += low <= truth <= high
    assert right >= 185


@pytest.mark.parametrize(
    ("low", "high", "at_least", "at_most", "verdict", "reason"),
    [
        (1, 2, 0, np.nan, "reproduced", "inside"),
        (0, 0, 0, np.nan, "not reproduced", "outside"),
        (-1, 2, 0, np.nan, "not reproduced", "reaches"),
        (-2, -1, 0, np.nan, "not reproduced", "outside"),
        (0.1, 0.2, np.nan, 0.3, "reproduced", "inside"),
        (0.1, 0.4, np.nan, 0.3, "not reproduced", "reaches"),
        (92, 93, 91.6, 93.6, "reproduced", "inside"),
        (91, 94, 91.6, 93.6, "not reproduced", "reaches"),
        (94, 95, 91.6, 93.6, "not reproduced", "outside"),
    ],
)
def test_verdicts(low, high, at_least, at_most, verdict, reason):
    found = judge(low, high, at_least, at_most)
    assert found["verdict"] == verdict
    assert reason in found["reason"]


@given(low=st.floats(-5, 5), width=st.floats(0, 5), grow=st.floats(0, 5))
def test_a_wider_interval_never_turns_into_a_reproduction(low, width, grow):
    if judge(low - grow, low + width + grow, -1, 1)["verdict"] == "reproduced":
        assert judge(low, low + width, -1, 1)["verdict"] == "reproduced"


def test_a_condition_that_changes_nothing_reproduces_no_direction(claims):
    """Equal MPRs everywhere: nothing falls, so no claim of a fall may pass."""
    evidence = {key: np.full((3, 11), 90.0) for key in published_evidence()}
    verdicts = check(claims, evidence, STANDS_FOR, ["written"], "miniature")
    assert not (verdicts["verdict"] == "reproduced").any()


def test_numbers_of_other_data_sets_are_not_compared(claims):
    verdicts = check(claims, published_evidence(), STANDS_FOR, ["written"], "miniature").set_index("claim")
    assert verdicts.loc["image-gap", "verdict"] == "not comparable"
    assert verdicts.loc["image-gap", "reason"] == "for visdial only"
    assert verdicts.loc["image-gap", "ours"] == pytest.approx(0.4)
    assert verdicts.loc["caption-falls-most", "verdict"] == "reproduced"
    genuine = check(claims, published_evidence(), STANDS_FOR, ["written"], "genuine").set_index("claim")
    assert set(genuine["verdict"].drop("answer-gap-cells")) == {"not comparable"}


def test_what_was_not_played_is_named(claims):
    verdicts = check(claims, {}, STANDS_FOR, ["written", "released"], "visdial")
    assert len(verdicts) == 2 * len(claims)
    assert set(verdicts["verdict"]) == {"not comparable"}
    reasons = verdicts.set_index("claim")["reason"]
    assert reasons["image-gap"].iloc[0] == "not played: none, image-from1"


def test_evidence_is_the_mean_over_seeds():
    flat = np.zeros((2, 11))
    evidence = resample([made_scores(flat + 3 * seed, seed=seed) for seed in (1, 2)], 20).games
    assert evidence["dialog", "written", Condition()] == pytest.approx(np.full((21, 11), 95.0), abs=1e-4)


def test_every_game_claim_finds_its_conditions(claims):
    verdicts = check(
        claims, made_resampled(50).labelled(PAPERS.conditions), STANDS_FOR, ["written", "released"], "miniature"
    )
    played = verdicts[verdicts["model"].isin(["dialog", "round"])]
    assert not played["reason"].str.startswith("not played").any()
    assert (played["low"] <= played["high"]).all()


def test_shares_of_yes_and_no_are_those_that_the_dialogs_carry():
    counts = {"train_exactly_yes_no": 0.25, "val_exactly_yes_no": 0.5, "val_beginning_yes_no": 0.75, "val_kept": 3}
    found = {name: shares.tolist() for name, shares in dialog_evidence(counts).items()}
    assert found == {"train-exactly": [[25], [25]], "val-exactly": [[50], [50]], "val-beginning": [[75], [75]]}


@pytest.mark.parametrize(("text", "rounds"), [("10", [10]), ("1 10", [1, 10]), ("1-4", [1, 2, 3, 4])])
def test_rounds(text, rounds):
    assert parse_rounds(text) == rounds


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("quantity", "drop", "claim caption-more-is-worse: unknown quantity 'drop'; choose level, gap"),
        ("rounds", "ten", "claim caption-more-is-worse: rounds 'ten' are not like"),
        ("rounds", "1-10; 2-10", "claim caption-more-is-worse: rounds '1-10; 2-10': 2 lists; give one, or for spread"),
        ("conditions", "none", "claim caption-more-is-worse: step of 1 conditions; name more of them"),
    ],
)
def test_a_typo_in_the_claims_is_refused(column, value, message, tmp_path):
    claims = pd.read_csv(PAPER / "claims.csv", dtype=str)
    claims.loc[0, column] = value
    claims.to_csv(tmp_path / "claims.csv", index=False)
    with pytest.raises(InputError, match=message):
        read_claims(tmp_path / "claims.csv", PAPERS)


def test_evidence_is_of_games_cells_dialogs_and_single_dialogs():
    """Under every reading, but for single dialogs, which have one."""
    ranks = np.arange(22.0).reshape(2, 11)
    changes = {"settings": json.dumps({"dialog": 7, "caption": "a red cube"})}
    manual = made_result(ranks, condition="figure_2", reading="released", title="T", **changes)
    found = all_evidence(made_resampled(20), PAPERS, PUBLISHED, {"train_exactly_yes_no": 0.25}, [manual])
    assert {key[0] for key in found} == {"dialog", "round", "paper", "dialogs", "manual"}
    for reading in ("written", "released"):
        assert found["dialogs", reading, "train-exactly"].tolist() == [[25], [25]]
        assert found["paper", reading, "gap-Questions"][:, 10].tolist() == [3, 3]
        assert found["dialog", reading, "none"].shape == (21, 11)
    # A result counts the candidates that are nearer, the paper from 1.
    assert found["manual", "released", "figure_2-caption-changed"].tolist() == [(ranks[1] + 1).tolist()] * 2
    assert ("manual", "written", "figure_2-caption-changed") not in found


def test_verdicts_are_shown(claims):
    verdicts = check(claims, published_evidence(), STANDS_FOR, ["written"], "miniature")
    assert list(verdicts.columns) == [*CLAIMS, *FOUND]
    verdicts.loc[0, "statement"] = "<i>&"
    table = claims_table(verdicts, "miniature", "a size")
    page = table.html()
    assert "&lt;i&gt;&amp;" in page
    assert page.count('scope="row"') == len(claims)
    assert "<b>0.4</b><small>[0.4, 0.4]</small>" in page
    assert "a size" in page
    lines = table.markdown().splitlines()
    assert len([line for line in lines if line.startswith("|")]) == 2 + len(claims)
    (image,) = [line for line in lines if line.startswith("| Replacing images by noise")]
    assert [cell.strip() for cell in image.split("|")[3:-1]] == [
        "dialog", "0.4", "−0.1 to 0.9", "0.4 [0.4, 0.4]", "not comparable: for visdial only"
    ]  # fmt: skip
    assert {"above 0", "below 0.3", "below 500"} <= {line.split("|")[5].strip() for line in lines if "|" in line}
    assert {line.split("|")[3].strip() for line in lines if "|" in line} >= {
        "the dialogs",
        "the paper",
        "single dialogs",
    }


def test_a_claim_is_judged_for_each_model_that_stands_for_its_own(claims):
    """One falls with the caption, the other does not; only the paper's model is named in the claims."""
    claims = claims[claims["claim"].isin(["caption-never-fully", "negation-worse", "answer-gap-cells"])]
    names = {"none": 90.0, "caption-p1": 50.0}
    evidence = {("w1", "written", name): np.full((3, 11), level) for name, level in names.items()}
    evidence |= {("w10", "written", name): np.full((3, 11), 90.0) for name in names}
    evidence |= {("paper", "written", name): drawn for name, drawn in paper_evidence(PUBLISHED).items()}
    verdicts = check(claims, evidence, {"dialog": ("w1", "w10")}, ["written"], "miniature")
    assert verdicts[["claim", "model", "verdict"]].to_numpy().tolist() == [
        ["caption-never-fully", "w1", "reproduced"],
        ["caption-never-fully", "w10", "not reproduced"],
        ["negation-worse", "round", "not comparable"],
        ["answer-gap-cells", "paper", "not reproduced"],
    ]
    assert len(claims_table(verdicts, "miniature", "").blocks[0].rows) == 4
    assert reproduced(verdicts) == [
        ("written, model w1", 1, 1),
        ("written, model w10", 0, 1),
        ("written, model round", 0, 0),
        ("written, the paper", 0, 1),
    ]


def test_reproduced_claims_are_counted_by_reading():
    said = {"written": ("reproduced", "not reproduced", "not comparable"), "released": ("not comparable",) * 3}
    lines = [
        {"claim": f"c{at}", "model": "m", "reading": reading, "verdict": verdict}
        for reading, verdicts in said.items()
        for at, verdict in enumerate(verdicts)
    ]
    assert reproduced(pd.DataFrame(lines)) == [("written", 1, 2), ("released", 0, 0)]
