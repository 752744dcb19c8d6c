import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fakes import PAPERS, STANDS_FOR, made_resampled, made_result, made_scores
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cooperation.config.conditions import Condition
from cooperation.game.messages import Messages
from cooperation.io.files import InputError
from cooperation.reports.claims import CLAIMS, FOUND, check, claims_table, counted, of_all, read_claims
from cooperation.reports.evidence import all_evidence, dialog_evidence, manual_evidence, paper_evidence
from cooperation.reports.paper import read_published
from cooperation.reports.quantities import QUANTITIES, chosen, estimate, parse_rounds
from cooperation.reports.statistics import resample
from cooperation.reports.trainings import Drawn

PAPER = Path(__file__).parents[1] / "paper"
PUBLISHED = read_published(PAPER / "published.csv", PAPERS)


@pytest.fixture(scope="module")
def claims():
    return read_claims(PAPER / "claims.csv", PAPERS)


def certain(mpr, seeds=(1, 2)):
    """Trainings that agree, and samples of the dialogs that change nothing."""
    return Drawn(seeds, np.broadcast_to(mpr, (len(seeds), 4, *np.shape(mpr))))


def published_mprs():
    """(model, condition) → the MPRs that the paper prints, of [11], NaN where it prints none."""
    found = {}
    for cell in PUBLISHED[PUBLISHED["quantity"] == "mpr"].to_dict("records"):
        found.setdefault((cell["model"], cell["condition"]), np.full(11, np.nan))[cell["round"]] = cell["value"]
    return found


def published_evidence(seeds=(1, 2)):
    """The paper's own numbers as if they were ours, with no uncertainty."""
    found = {(model, "written", name): certain(mpr, seeds) for (model, name), mpr in published_mprs().items()}
    return found | {("paper", "written", name): drawn for name, drawn in paper_evidence(PUBLISHED).items()}


# Of the paper's statements, those that its tables have the numbers of.
OF_THE_TABLES = {
    "caption-all-rounds-p1", "caption-falls-most", "question-most-of-the-rest", "caption-recovers",
    "caption-never-fully", "negation-worse", "none-level", "none-flat", "caption-chance", "caption-gap", "image-gap",
    "answer-gap", "question-gap", "negation-level", "negation-small",
}  # fmt: skip


def test_on_the_papers_own_numbers_every_claim_holds_that_can(claims):
    verdicts = check(claims, published_evidence(), STANDS_FOR, ["written"], "visdial").set_index("claim")
    assert set(verdicts.index[verdicts["verdict"] == "holds"]) == OF_THE_TABLES
    # Table 1's answer gap is not what its cells give; the tables leave out what the other claims need.
    assert set(verdicts["verdict"]) == {"holds", "about the paper itself", "not comparable"}
    assert verdicts.loc["answer-gap-cells", ["ours", "verdict"]].tolist() == [0.9, "about the paper itself"]
    # 0.9 from the printed cells, each of which is rounded.
    assert verdicts.loc["answer-gap-cells", "reason"].startswith("holds: ")
    numbers = sorted(OF_THE_TABLES - {"negation-small", "answer-gap"})
    published = verdicts.loc[numbers, ["published", "ours"]].astype(float)
    assert (published["published"] - published["ours"]).abs().max() <= 1e-9
    assert verdicts.loc["answer-gap", ["published", "ours"]].tolist() == ["0.8", pytest.approx(0.9)]
    assert verdicts.loc["negation-small", "ours"] == pytest.approx(0.2)


def of_dialogs(dialogs, pair, generator):
    """Evidence of the paper's cells from so many dialogs: means as printed, two games of a dialog apart by SD `pair`.

    The mean of many dialogs is as good as normal, so samples of it are drawn as such.
    """
    shared = generator.normal(0, 12 / np.sqrt(dialogs), 2000)[:, None]
    found = {("paper", "written", name): drawn for name, drawn in paper_evidence(PUBLISHED).items()}
    for (model, name), mpr in published_mprs().items():
        own = generator.normal(0, pair / np.sqrt(2 * dialogs), (2000, 11))
        drawn = np.concatenate([mpr[None], mpr + shared + own])
        found[model, "written", name] = Drawn((1, 2, 3), np.stack([drawn] * 3))
    return found


@pytest.mark.parametrize("pair", [5.7, 7.6])
def test_on_the_papers_own_dialogs_every_claim_holds_that_can(claims, pair):
    """40,000 dialogs, ranks in two games of a dialog as far apart as they are on the miniature; trainings agree."""
    evidence = of_dialogs(40_000, pair, np.random.default_rng(3))
    verdicts = check(claims, evidence, STANDS_FOR, ["written"], "visdial").set_index("claim")
    assert set(verdicts.index[verdicts["verdict"] == "holds"]) == OF_THE_TABLES


def test_a_tenth_of_the_dialogs_leaves_what_is_small_undecided(claims):
    evidence = of_dialogs(4000, 7.6, np.random.default_rng(3))
    verdicts = check(claims, evidence, STANDS_FOR, ["written"], "visdial").set_index("claim")["verdict"]
    assert verdicts["negation-small"] == "undecided"
    assert "fails" not in set(verdicts[list(OF_THE_TABLES)])


def test_quantities_by_hand():
    """Three conditions (rows) in rounds 1 and 10 (columns)."""
    mpr = np.array([[90.0, 94.0], [80.0, 88.0], [70.0, 91.0]])
    # Means over the rounds: 92, 84, 80.5.
    expected = {
        "level": mpr.mean(),
        "gap": 8.0,
        "change": (4 + 8 + 21) / 3,
        "lead": 80.5 - 92,
        "step": 3.5,
        "fall": 3.0,
        "spread": 20.0,
    }
    assert set(expected) == set(QUANTITIES)
    # Draws that equal the plain value leave no doubt.
    for name, value in expected.items():
        found = estimate(name, certain(mpr, (4, 5)))
        assert (found.value, found.low, found.high, *found.each) == pytest.approx((value,) * 5)
        assert found.seeds == (4, 5)


def test_each_condition_in_rounds_of_its_own():
    games = [Drawn((1,), np.arange(22.0).reshape(1, 2, 11) + 100 * number) for number in range(2)]
    assert chosen(games, "1 10").means.tolist() == [[[[1, 10], [101, 110]], [[12, 21], [112, 121]]]]
    assert chosen(games, "8-10; 9-10").means[0, 0].tolist() == [pytest.approx(row, nan_ok=True) for row in (
        [8, 9, 10], [np.nan, 109, 110]
    )]  # fmt: skip
    # Round 8 parts them furthest, but only the first is there.
    games[1] = games[0].of(lambda mpr: mpr + np.array([0, 0, 0, 0, 0, 0, 0, 0, 50, 3, 2]))
    for rounds, apart in (("8-10; 9-10", 3), ("8-10", 50)):
        found = estimate("spread", chosen(games, rounds))
        assert (found.value, found.low, found.high) == pytest.approx((apart,) * 3)


def test_conditions_are_compared_in_the_trainings_that_played_them_all():
    """Seed 2 would turn the gap, but did not play the second condition."""
    first, second = (
        Drawn(seeds, np.array([np.full((3, 11), level) for level in levels]))
        for seeds, levels in (((1, 2, 3), (90.0, 10.0, 92.0)), ((3, 1), (80.0, 85.0)))
    )
    drawn = chosen([first, second], "10")
    assert drawn.seeds == (1, 3)
    assert estimate("gap", drawn).each == (5, 12)
    assert chosen([first, Drawn((4,), second.means[:1])], "10") is None


def test_negation_is_small_in_the_cells_of_table_2_alone(claims):
    """What happens without negation or before a row's start is no part of it."""
    evidence = published_evidence()
    start = {f"negation-from{start}": start for start in (1, 2, 4, 6, 8)}
    for name, first in start.items():
        mpr = published_mprs()["round", name]
        mpr[:first] = 0.0
        evidence["round", "written", name] = certain(mpr)
    evidence["round", "written", "none"] = certain(np.full(11, 50.0))
    line = check(claims, evidence, STANDS_FOR, ["written"], "visdial").set_index("claim").loc["negation-small"]
    assert (line["ours"], line["verdict"]) == (pytest.approx(0.2), "holds")


EXTREMES = ("lead", "step", "fall", "spread")


def one_training(drawn):
    return Drawn((1,), np.asarray(drawn)[None])


@given(drawn=arrays(np.float64, (6, 3, 2), elements=st.floats(-9, 9)))
def test_an_interval_contains_its_estimate(drawn):
    """Whatever the resamples are, even far from the plain means."""
    for name in EXTREMES:
        found = estimate(name, one_training(drawn))
        assert found.low <= found.value <= found.high


def test_no_spread_where_chance_alone_parts_the_conditions():
    """Five conditions that differ by chance: the resampled spreads are all too wide, the interval reaches zero."""
    generator = np.random.default_rng(11)
    apart, replaced = 0, 0
    for _ in range(100):
        plain = generator.normal(90, 0.1, (1, 5, 3))
        drawn = np.concatenate([plain, generator.normal(plain, 0.1, (400, 5, 3))])
        found = estimate("spread", one_training(drawn))
        assert found.low <= found.value <= found.high
        apart += found.low > 0
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
        drawn = one_training(np.concatenate([plain, generator.normal(plain, 0.1, (300, 5, 1))]))
        found = estimate(name, drawn)
        assert found.low <= found.value <= found.high
        right += found.low <= truth <= found.high
    assert right >= 185


@pytest.mark.parametrize("name", ["lead", "fall", "spread"])
def test_intervals_of_extremes_hold_over_trainings_too(name):
    """Three trainings, fresh in each world: what they add to a condition differs more than the dialogs tell."""
    means = {"lead": [90.0, 90, 90, 91], "fall": [90.0, 89, 89, 89], "spread": [90.0, 90.3, 90, 90.3]}[name]
    truth = {"lead": 0.0, "fall": 1.0, "spread": 0.3}[name]
    generator = np.random.default_rng(6)
    right = 0
    for _ in range(200):
        plain = (
            generator.normal(0, 1, (3, 1, 4, 1)) + np.reshape(means, (4, 1)) + generator.normal(0, 0.3, (1, 1, 4, 1))
        )
        samples = plain + generator.normal(0, 0.3, (1, 500, 4, 1))
        found = estimate(name, Drawn((1, 2, 3), np.concatenate([plain, samples], 1)))
        right += found.low <= truth <= found.high
    assert right >= 185


def test_a_condition_that_changes_nothing_makes_no_direction_hold(claims):
    """Equal MPRs everywhere: nothing falls, so no claim of a fall may hold."""
    evidence = {key: certain(np.full(11, 90.0)) for key in published_evidence()}
    verdicts = check(claims, evidence, STANDS_FOR, ["written"], "miniature").set_index("claim")["verdict"]
    assert set(verdicts[["caption-falls-most", "caption-never-fully", "negation-worse"]]) == {"fails"}
    # The dialog adds nothing there, which is little.
    assert set(verdicts.index[verdicts == "holds"]) == {"dialog-adds-little"}


def test_numbers_of_other_data_sets_are_not_compared(claims):
    verdicts = check(claims, published_evidence(), STANDS_FOR, ["written"], "miniature").set_index("claim")
    assert verdicts.loc["image-gap", "verdict"] == "not comparable"
    assert verdicts.loc["image-gap", "reason"] == "for visdial only"
    assert verdicts.loc["image-gap", "ours"] == pytest.approx(0.4)
    assert verdicts.loc["caption-falls-most", "verdict"] == "holds"
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
    drawn = evidence["dialog", "written", Condition()]
    assert drawn.together[0] == pytest.approx(np.full(11, 95.0))
    assert drawn.each.tolist() == [[96.5] * 11, [93.5] * 11]


def test_every_game_claim_finds_its_conditions(claims):
    verdicts = check(
        claims, made_resampled(50).labelled(PAPERS.conditions), STANDS_FOR, ["written", "released"], "miniature"
    )
    played = verdicts[verdicts["model"].isin(["dialog", "round"])]
    assert not played["reason"].str.startswith("not played").any()
    assert (played["low"] <= played["high"]).all()


def test_shares_of_yes_and_no_are_those_that_the_dialogs_carry():
    counts = {"train_exactly_yes_no": 0.25, "val_exactly_yes_no": 0.5, "val_beginning_yes_no": 0.75, "val_kept": 3}
    found = {name: estimate("level", chosen([share], "0")) for name, share in dialog_evidence(counts).items()}
    assert {name: share.value for name, share in found.items()} == {
        "train-exactly": 25,
        "val-exactly": 50,
        "val-beginning": 75,
    }


@pytest.mark.parametrize(("text", "rounds"), [("10", [10]), ("1 10", [1, 10]), ("1-4", [1, 2, 3, 4])])
def test_rounds(text, rounds):
    assert parse_rounds(text) == rounds


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("quantity", "drop", "claim caption-more-is-worse: unknown quantity 'drop'; choose level, gap"),
        ("rounds", "ten", "claim caption-more-is-worse: rounds 'ten' are not like"),
        ("rounds", "1-10; 2-10", "claim caption-more-is-worse: rounds '1-10; 2-10': 2 lists; give one, or for spread"),
        (
            "conditions",
            "none",
            "claim caption-more-is-worse: step of 1 conditions; give at least 2, for it is the fall",
        ),
        ("quantity", "gap", "claim caption-more-is-worse: gap of 5 conditions; give exactly 2, for it is the first"),
        ("at_least", "", "claim caption-more-is-worse: nan to nan is no range; give one bound or two"),
        ("at_most", "-1", r"claim caption-more-is-worse: 0\.0 to -1\.0 is no range; give one bound or two"),
        ("at_most", "0", "claim caption-more-is-worse: nothing lies between 0 and itself"),
        ("counted", "yes", "claim caption-more-is-worse: counted is 'yes'; write no, or leave it empty"),
        ("claim", "caption-all-rounds", "claim caption-all-rounds is there twice; leave one out"),
    ],
)
def test_a_typo_in_the_claims_is_refused(column, value, message, tmp_path):
    claims = pd.read_csv(PAPER / "claims.csv", dtype=str)
    claims.loc[0, column] = value
    claims.to_csv(tmp_path / "claims.csv", index=False)
    with pytest.raises(InputError, match=message):
        read_claims(tmp_path / "claims.csv", PAPERS)


@pytest.mark.parametrize(
    ("quantity", "conditions", "rounds", "message"),
    [
        ("gap", "none image-from1 caption-p1", "10", "gap of 3 conditions; give exactly 2"),
        ("change", "none", "10", "change over 1 rounds; give exactly 2"),
        ("change", "none", "1-10", "change over 10 rounds; give exactly 2"),
        ("change", "none image-from1", "0 10", "change of 2 conditions; give exactly 1"),
        ("level", "none image-from1", "10", "level of 2 conditions; give exactly 1"),
        *(
            (name, "none", "10", f"{name} of 1 conditions; give at least 2")
            for name in ("lead", "fall", "step", "spread")
        ),
    ],
)
def test_a_quantity_says_of_how_many_it_is(quantity, conditions, rounds, message, tmp_path):
    """The range and all else are as they should be."""
    line = {"claim": "own", "quantity": quantity, "conditions": conditions, "rounds": rounds, "at_least": 0}
    shipped = pd.read_csv(PAPER / "claims.csv").iloc[:1]
    shipped.assign(**line).to_csv(tmp_path / "claims.csv", index=False)
    with pytest.raises(InputError, match=f"claim own: {message}, for it is"):
        read_claims(tmp_path / "claims.csv", PAPERS)


def test_each_range_has_a_reason(claims):
    assert (claims["why"].str.len() > 10).all()


def test_evidence_is_of_games_cells_dialogs_and_single_dialogs():
    """Under every reading, but for single dialogs, which have one."""
    ranks = np.arange(22.0).reshape(2, 11)
    changes = {"settings": json.dumps({"dialog": 7, "caption": "a red cube"})}
    manual = made_result(ranks, condition="figure_2", reading="released", title="T", **changes)
    found = all_evidence(made_resampled(20), PAPERS, PUBLISHED, {"train_exactly_yes_no": 0.25}, [manual])
    assert {key[0] for key in found} == {"dialog", "round", "paper", "dialogs", "manual"}
    for reading in ("written", "released"):
        assert found["dialogs", reading, "train-exactly"].means.tolist() == [[[25]]]
        assert found["dialogs", reading, "candidates"].means.tolist() == [[[100]]]
        assert found["paper", reading, "gap-Questions"].means[0, :, 10].tolist() == [3]
        assert found["dialog", reading, "none"].means.shape == (1, 21, 11)
    # A result counts the candidates that are nearer, the paper from 1.
    drawn = found["manual", "released", "figure_2-caption-changed"]
    assert (drawn.seeds, drawn.each.tolist()) == ((1,), [(ranks[1] + 1).tolist()])
    assert ("manual", "written", "figure_2-caption-changed") not in found


def test_answers_that_differ_under_noise_are_counted():
    """In each training, however the questions go."""
    changes = {"settings": json.dumps({"dialog": 7, "image": "noise"})}
    results = []
    for seed, others in ((1, (3, 4)), (2, ())):
        result = made_result(np.zeros((2, 11)), condition="figure_4", seed=seed, title="T", **changes)
        tokens = result.answer_said.tokens.copy()
        tokens[1, list(others), 0] = 7
        results.append(replace(result, answer_said=Messages(tokens, result.answer_said.lengths)))
    drawn = manual_evidence(results, 20)["manual", "written", "figure_4-image-answers"]
    assert drawn.seeds == (1, 2)
    assert drawn.each.tolist() == [[0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 2], [0] * 11]


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
    assert "half a point more or less" in page
    lines = table.markdown().splitlines()
    assert len([line for line in lines if line.startswith("|")]) == 2 + len(claims)
    (image,) = [line for line in lines if line.startswith("| Replacing images by noise")]
    assert [cell.strip() for cell in image.split("|")[3:-1]] == [
        "dialog", "0.4", "−0.1 to 0.9", "0.4 [0.4, 0.4]", "not comparable: for visdial only"
    ]  # fmt: skip
    assert {"above 0", "below 0.4", "below 500"} <= {line.split("|")[5].strip() for line in lines if "|" in line}
    assert {line.split("|")[3].strip() for line in lines if "|" in line} >= {
        "the dialogs",
        "the paper",
        "single dialogs",
    }


def test_a_claim_is_judged_for_each_model_that_stands_for_its_own(claims):
    """One falls with the caption, the other does not; only the paper's model is named in the claims."""
    claims = claims[claims["claim"].isin(["caption-never-fully", "negation-worse", "answer-gap-cells"])]
    names = {"none": 90.0, "caption-p1": 50.0}
    evidence = {("w1", "written", name): certain(np.full(11, level)) for name, level in names.items()}
    evidence |= {("w10", "written", name): certain(np.full(11, 90.0)) for name in names}
    evidence |= {("paper", "written", name): drawn for name, drawn in paper_evidence(PUBLISHED).items()}
    verdicts = check(claims, evidence, {"dialog": ("w1", "w10")}, ["written"], "miniature")
    assert verdicts[["claim", "model", "verdict"]].to_numpy().tolist() == [
        ["caption-never-fully", "w1", "holds"],
        ["caption-never-fully", "w10", "fails"],
        ["negation-worse", "round", "not comparable"],
        ["answer-gap-cells", "paper", "about the paper itself"],
    ]
    assert len(claims_table(verdicts, "miniature", "").blocks[0].rows) == 4
    assert counted(verdicts) == [
        ("written, model w1", 1, 0, 0),
        ("written, model w10", 0, 1, 0),
        ("written, model round", 0, 0, 0),
    ]


def test_claims_are_counted_by_reading():
    """Not the paper's own arithmetic, nor one of several meanings of a statement."""
    said = {
        "written": ("holds", "fails", "not comparable", "undecided", "undecided", "about the paper itself"),
        "released": ("not comparable",) * 3,
    }
    lines = [
        {"claim": f"c{at}", "model": "m", "reading": reading, "verdict": verdict, "counted": ""}
        for reading, verdicts in said.items()
        for at, verdict in enumerate(verdicts)
    ]
    lines.append({**lines[0], "claim": "c0-otherwise", "counted": "no"})
    assert counted(pd.DataFrame(lines)) == [("written", 1, 1, 2), ("released", 0, 0, 0)]


def test_one_training_decides_nothing_that_trainings_move(claims):
    verdicts = check(claims, published_evidence(seeds=(7,)), STANDS_FOR, ["written"], "visdial").set_index("claim")
    assert set(verdicts.loc[list(OF_THE_TABLES), "verdict"]) == {"undecided"}
    assert verdicts.loc["image-gap", "reason"] == "one training, seed 7: it lies inside the range, others may not"
    assert verdicts["p"].isna().all()
    assert of_all(verdicts) == "No verdict is given from an interval over dialogs and trainings."


def test_no_verdict_where_trainings_disagree(claims):
    """Ten trainings, whose mean is sure to fall; but one of them rises."""
    generator = np.random.default_rng(2)
    noise = generator.normal(0, 0.01, (1000, 11))
    none = np.concatenate([np.full((1, 11), 90.0), 90 + noise])
    fallen = [none - fall for fall in (5, 6, 5, 4, 5, 6, 5, 4, 5, -0.5)]
    evidence = {
        ("dialog", "written", "none"): Drawn(tuple(range(10)), np.stack([none] * 10)),
        ("dialog", "written", "caption-p1"): Drawn(tuple(range(10)), np.stack(fallen)),
    }
    line = check(claims, evidence, STANDS_FOR, ["written"], "miniature").set_index("claim").loc["caption-never-fully"]
    assert line["low"] > 0
    assert (line["verdict"], line["reason"]) == (
        "undecided",
        "the interval lies inside the range, but not every training: seed 9",
    )


def test_the_table_says_how_many_verdicts_are_given(claims):
    verdicts = check(claims, published_evidence(), STANDS_FOR, ["written"], "visdial")
    judged = len(OF_THE_TABLES)
    assert f"Of {judged} quantities that trainings move, {judged} have a verdict, at 95 % each" in of_all(verdicts)
    assert of_all(verdicts) in claims_table(verdicts, "visdial", "").caption


def test_every_claim_stands_at_a_sentence_of_the_paper(claims):
    """In docs/claims.md, where each sentence has rows or says why none."""
    lines = (PAPER.parent / "docs" / "claims.md").read_text().splitlines()
    cells = [line.split("|")[2].strip() for line in lines if line.startswith("| ") and "Sentence" not in line]
    assert {name for cell in cells for name in re.findall(r"`([a-z0-9.-]+)`", cell)} == set(claims["claim"])
    assert all("`" in cell or re.match("none: .+", cell) for cell in cells)


def test_a_published_round_without_its_baseline_is_refused(tmp_path):
    lines = (PAPER / "published.csv").read_text().splitlines(keepends=True)
    (tmp_path / "p.csv").write_text("".join(line for line in lines if not line.startswith("1,Round 3,None,mpr")))
    with pytest.raises(InputError, match=r"p\.csv: Table 1, round 3: \w+ has a value, but the baseline has none"):
        read_published(tmp_path / "p.csv", PAPERS)
