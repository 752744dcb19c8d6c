"""Text → tokens, as NLTK's word tokeniser makes them; it needs no downloaded data."""

import re
from functools import lru_cache

from nltk.tokenize import NLTKWordTokenizer

_NLTK = NLTKWordTokenizer()
# A full stop, quotes and brackets are read with what stands around them; all else splits its own word only.
_ACROSS_WORDS = re.compile(r"[^a-z0-9 ',!?&-]|'[^ ]*'")


def tokenise(text: str) -> list[str]:
    """Lower-case tokens of a caption or an answer: “he can't” → he, ca, n't."""
    text = text.lower()
    if _ACROSS_WORDS.search(text):
        return list(_NLTK.tokenize(text))
    return [token for word in text.split() for token in _word(word)]


def tokenise_question(text: str) -> list[str]:
    """Lower-case tokens of a question; it gets a question mark where it has none, as VisDial's texts have none."""
    return tokenise(text if text.rstrip().endswith("?") else text + "?")


# Most words come again and again, and NLTK takes 200 times as long as looking one up.
@lru_cache(maxsize=100_000)
def _word(word: str) -> tuple[str, ...]:
    return tuple(_NLTK.tokenize(word))
