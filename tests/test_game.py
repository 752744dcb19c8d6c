"""The game with bots whose words are known: who hears what, from which round on, and what it scores."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cooperation.bots.scripted import ConstantQuestioner, OracleAnswerer, OracleQuestioner
from cooperation.config.conditions import read_condition
from cooperation.evaluation.ranking import Ranker
from cooperation.game.match import Batch, Match, Perturbation, Script, join_games, play_branching
from cooperation.game.messages import Messages, stack_rounds
from cooperation.game.place import Context, OtherDialogs
from cooperation.game.readings import READINGS, delivered, own
from cooperation.game.vocabulary import Vocabulary

VOCABULARY = Vocabulary.of(["no", "yes", "red", "is", "it", "UNK"])
YES, NO, EOS = 2, 1, VOCABULARY.eos
CANDIDATES = np.random.default_rng(0).normal(size=(30, 6)).astype(np.float32)


@dataclass
class Recorder:
    """Says the round's number (question) or yes (answer), and writes down all it is told."""

    words: list = field(default_factory=list)
    facts: list = field(default_factory=list)
    seen: list = field(default_factory=list)
    heard: list = field(default_factory=list)
    rounds: int = 0

    def begin(self, captions):
        self.caption = captions
        self.rounds = 0

    def see(self, images):
        self.seen.append((self.rounds + 1, images))

    def hear(self, questions):
        self.heard.append(questions)

    def _say(self, word):
        return Messages.of([[word, EOS]] * len(self.caption))

    def ask(self):
        self.words.append(self.rounds + 1)
        return self._say(3 + self.rounds % 3)

    def answer(self):
        self.words.append(self.rounds + 1)
        return self._say(YES)

    def remember(self, questions, answers):
        self.facts.append((questions, answers))
        self.rounds += 1

    def guess(self):
        return np.zeros((len(self.caption), CANDIDATES.shape[1]), np.float32)


def perturbation(reading="written", channel="none", kind=None, start=1, **parameters):
    """What a condition, as config.yaml writes it, does under a reading."""
    settings = {"channel": channel, "kind": kind, "start": start, **parameters} if kind else {}
    condition = read_condition(settings, "here")
    return Perturbation.of(READINGS[reading], condition.channel, condition.kind, condition.start)


def match_of(questioner, answerer, done=None, script=None, dialogs=None, words=VOCABULARY, others=None, rank=None):
    """A game of all candidates' dialogs, or some of them, that has not begun."""
    rows = np.arange(len(CANDIDATES)) if dialogs is None else dialogs
    ranker = Ranker(CANDIDATES)
    return Match(
        questioner,
        answerer,
        Batch(rows, Messages.of([[3, 4, 5]] * len(rows)), CANDIDATES[rows]),
        script or Script.silent(len(rows)),
        done or Perturbation(),
        Context(1, words, others),
        rank or (lambda guess: ranker.rank(guess, rows)),
    )


def games(*players, **settings):
    return match_of(*players, **settings).finish()


def percentiles(ranks):
    return 100 * (1 - (ranks + 0.5) / len(CANDIDATES))


def test_an_oracle_scores_all_but_half_a_candidate():
    game = games(OracleQuestioner(CANDIDATES, 5), OracleAnswerer(CANDIDATES, 5))
    assert (percentiles(game.ranks[:, 1:]) == 100 * (1 - 0.5 / len(CANDIDATES))).all()


def test_silence_scores_50():
    game = games(ConstantQuestioner(CANDIDATES[0]), OracleAnswerer(CANDIDATES, 5))
    assert percentiles(game.ranks).mean(0) == pytest.approx([50] * 11)


def test_an_oracle_that_is_lied_to_falls_and_only_from_then_on():
    words = Vocabulary.of("abcde")
    done = perturbation(channel="answer", kind="replace", p=1.0, start=4)
    game = games(OracleQuestioner(CANDIDATES, 5), OracleAnswerer(CANDIDATES, 5), done=done, words=words)
    assert (game.ranks[:, 1:4] == 0).all()
    assert percentiles(game.ranks[:, 4:]).mean() < 80


def test_an_oracle_that_sees_noise_falls_and_only_from_then_on():
    done = perturbation(channel="image", kind="noise", start=3)
    game = games(OracleQuestioner(CANDIDATES, 5), OracleAnswerer(CANDIDATES, 5), done=done)
    assert (game.ranks[:, 1:3] == 0).all()
    assert percentiles(game.ranks[:, 3:]).mean() < 80


@pytest.mark.parametrize("channel", ["image", "answer"])
def test_an_oracle_that_gets_anothers_image_or_answers_is_never_right(channel):
    baseline = games(OracleQuestioner(CANDIDATES, 5), OracleAnswerer(CANDIDATES, 5))
    done = perturbation(channel=channel, kind="swap", start=3)
    others = OtherDialogs.of(np.arange(len(CANDIDATES)), CANDIDATES, {"answer": baseline.answer_said}, 1)
    game = games(OracleQuestioner(CANDIDATES, 5), OracleAnswerer(CANDIDATES, 5), done=done, others=others)
    assert (game.ranks[:, 1:3] == 0).all()
    assert (game.ranks[:, 3:] > 0).all()


def test_an_oracle_whose_answers_get_lost_hears_no_number_and_only_from_then_on():
    done = perturbation(channel="answer", kind="drop", start=4)
    game = games(OracleQuestioner(CANDIDATES, 5), OracleAnswerer(CANDIDATES, 5), done=done)
    assert (game.ranks[:, 1:4] == 0).all()
    assert (game.answer_said.lengths == 3).all()
    assert (game.answer_heard.lengths == [3] * 3 + [0] * 7).all()
    # No digits are the number 0, the first candidate.
    ranker = Ranker(CANDIDATES)
    of_the_first = ranker.rank(np.repeat(CANDIDATES[:1], len(CANDIDATES), 0), np.arange(len(CANDIDATES)))
    assert (game.ranks[:, 4:] == of_the_first[:, None]).all()


@pytest.mark.parametrize("start", [1, 5, 10])
@pytest.mark.parametrize(("reading", "remembered"), [("written", own), ("released", delivered)])
def test_who_hears_and_remembers_what(start, reading, remembered):
    def perturb_question(messages, _place):
        return Messages(np.where(messages.real, 6, 0).astype(np.int32), messages.lengths)

    def perturb_answer(messages, _place):
        return Messages(np.where(messages.tokens == YES, NO, messages.tokens), messages.lengths)

    questioner, answerer = Recorder(), Recorder()
    done = Perturbation(
        question=perturb_question,
        answer=perturb_answer,
        image=lambda images, _place: images * 0,
        start=start,
        remember=remembered,
    )
    game = games(questioner, answerer, done=done)
    for number in range(1, 11):
        late = number >= start
        asked, said = [3 + (number - 1) % 3, EOS], [YES, EOS]
        heard, reply = ([6, 6], [NO, EOS]) if late else (asked, said)
        assert game.question_said[:, number - 1].lists()[0] == asked
        assert game.question_heard[:, number - 1].lists()[0] == heard
        assert game.answer_said[:, number - 1].lists()[0] == said
        assert game.answer_heard[:, number - 1].lists()[0] == reply
        assert answerer.heard[number - 1].lists()[0] == heard
        q_fact, a_fact = questioner.facts[number - 1], answerer.facts[number - 1]
        both = reading == "released"
        assert q_fact[0].lists()[0] == (heard if both else asked)
        assert q_fact[1].lists()[0] == reply
        assert a_fact[0].lists()[0] == heard
        assert a_fact[1].lists()[0] == (reply if both else said)
    assert READINGS[reading].remember is remembered
    assert [number for number, _ in answerer.seen] == [1, start]
    assert (answerer.seen[0][1] == CANDIDATES).all()
    assert (answerer.seen[1][1] == 0).all()


def test_both_bots_read_the_perturbed_caption():
    questioner, answerer = Recorder(), Recorder()
    game = games(questioner, answerer, done=perturbation("released", "caption", "replace"))
    assert questioner.caption is answerer.caption
    assert questioner.caption.lists() == game.caption_heard.lists() != [[3, 4, 5]] * 30


def test_a_script_speaks_for_the_bots_and_known_ranks_are_not_ranked_again():
    questioner, answerer = Recorder(), Recorder()
    questions = stack_rounds([Messages.of([[5, EOS]] * 30)] * 4)
    answers = stack_rounds([Messages.of([[NO, EOS]] * 30)] * 2)
    known = np.arange(90.0).reshape(30, 3)
    game = games(questioner, answerer, script=Script(questions, answers, known))
    assert questioner.words == [5, 6, 7, 8, 9, 10]
    assert answerer.words == [3, 4, 5, 6, 7, 8, 9, 10]
    assert game.question_said[:, 3].lists()[0] == [5, EOS]
    assert game.answer_said[:, 1].lists()[0] == [NO, EOS]
    assert (game.ranks[:, :3] == known).all()
    assert game.ranks.shape == (30, 11)


def test_a_branch_is_the_game_from_the_beginning_and_costs_its_own_rounds():
    words = Vocabulary.of([*"abcde", "yes", "no", "UNK"])
    rows = np.arange(len(CANDIDATES))
    starts = {("image", "noise"): 2, ("answer", "replace"): 2, ("question", "replace"): 7, ("answer", "negate"): 10}
    done = [perturbation(channel=channel, kind=kind, start=start) for (channel, kind), start in starts.items()]
    ranked = []

    def bots():
        return OracleQuestioner(CANDIDATES, 5), OracleAnswerer(CANDIDATES, 5)

    def rank(guess):
        ranked.append(len(guess))
        return Ranker(CANDIDATES).rank(guess, rows)

    found = play_branching(match_of(*bots(), words=words, rank=rank), done)
    assert len(ranked) == 11 + sum(11 - start for start in starts.values())
    for game, each in zip(found, [Perturbation(), *done], strict=True):
        alone = games(*bots(), done=each, words=words)
        for name, value in vars(game).items():
            other = getattr(alone, name)
            pairs = (
                [(value, other)] if name == "ranks" else zip(vars(value).values(), vars(other).values(), strict=True)
            )
            assert all((one == another).all() for one, another in pairs)
    # Oracles ignore questions, and say neither yes nor no.
    assert len({game.ranks.tobytes() for game in found}) == 3


@settings(max_examples=15, deadline=None)
@given(
    cut=st.integers(1, 29),
    perturbed=st.sampled_from(
        [("image", "noise"), ("answer", "negate")]
        + [(channel, kind) for channel in ("caption", "question", "answer") for kind in ("replace", "typos", "drop")]
    ),
)
def test_batches_do_not_matter(cut, perturbed):
    channel, kind = perturbed
    start = 1 if channel == "caption" else 2
    parameters = {} if kind in {"noise", "negate"} else {"p": 0.5}
    done = perturbation("released", channel, kind, start, **parameters)

    def part(dialogs):
        return games(Recorder(), Recorder(), done=done, dialogs=dialogs)

    whole = part(np.arange(30))
    joined = join_games([part(np.arange(cut)), part(np.arange(cut, 30))])
    for name in ("caption_heard", "question_heard", "answer_heard"):
        assert (getattr(whole, name).tokens == getattr(joined, name).tokens).all()
        assert (getattr(whole, name).lengths == getattr(joined, name).lengths).all()
    assert (whole.ranks == joined.ranks).all()
