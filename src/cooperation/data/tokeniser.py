"""NLTK's word tokeniser, made fast; it needs no downloaded data."""

import re
from functools import lru_cache

from nltk.tokenize import NLTKWordTokenizer

_NLTK = NLTKWordTokenizer()
# NLTK reads full stops, quotes and brackets with the words around them; all else splits its own word only.
_ACROSS_WORDS = re.compile(r"[^a-z0-9 ',!?&-]|'[^ ]*'")


def tokenise(text: str) -> list[str]:
    """Tokenise a caption or an answer in lower case: “he can't” → he, ca, n't."""
    text = text.lower()
    if _ACROSS_WORDS.search(text):
        return list(_NLTK.tokenize(text))
    return [token for word in text.split() for token in _word(word)]


def tokenise_question(text: str) -> list[str]:
    """Tokenise a question in lower case; it gets a question mark where it has none, as in VisDial's files."""
    return tokenise(text if text.rstrip().endswith("?") else text + "?")


# Words repeat, and NLTK takes 200 times as long as a look-up.
@lru_cache(maxsize=100_000)
def _word(word: str) -> tuple[str, ...]:
    return tuple(_NLTK.tokenize(word))
