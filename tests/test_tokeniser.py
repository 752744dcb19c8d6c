import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.tokenize import NLTKWordTokenizer

from cooperation.data.tokeniser import tokenise, tokenise_question

GENUINE = Path("../shared/data/visdial_1.0_val_165.json")
PIECES = st.sampled_from(
    [*"abnst012',!?&-.:\"()’é ", "  ", " ", "not", "can", "cannot", "wanna", "gimme ", "n't", "'t", "is", "'s ", "'ll"]
)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("a Nokia tablet", ["a", "nokia", "tablet"]),
        ("he can't, no!", ["he", "ca", "n't", ",", "no", "!"]),
        ("I cannot tell", ["i", "can", "not", "tell"]),
        ("the man's shirt.", ["the", "man", "'s", "shirt", "."]),
        ("2 or 3", ["2", "or", "3"]),
        ('the "stop" sign', ["the", "``", "stop", "''", "sign"]),
        ("", []),
    ],
)
def test_tokens(text, tokens):
    assert tokenise(text) == tokens


@pytest.mark.parametrize("text", ["is it red", "Is it red?", "is it red ", "is it red ? "])
def test_a_question_gets_one_question_mark(text):
    assert tokenise_question(text) == ["is", "it", "red", "?"]


@settings(deadline=None)
@given(st.lists(PIECES, max_size=12).map("".join) | st.text(max_size=20))
def test_word_by_word_is_what_nltk_makes_of_the_whole(text):
    assert tokenise(text) == NLTKWordTokenizer().tokenize(text.lower())


@pytest.mark.skipif(not GENUINE.exists(), reason="the genuine VisDial dialogs are not in ../shared/data")
def test_genuine_questions_and_answers():
    data = json.loads(GENUINE.read_text())["data"]
    for text in data["answers"][::7]:
        assert tokenise(text) == NLTKWordTokenizer().tokenize(text.lower())
    for text in data["questions"]:
        assert tokenise_question(text) == NLTKWordTokenizer().tokenize(text.lower() + "?")
