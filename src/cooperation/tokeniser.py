"""Text → tokens, as NLTK's word tokeniser makes them; it needs no downloaded data."""

from nltk.tokenize import NLTKWordTokenizer

_NLTK = NLTKWordTokenizer()


def tokenise(text: str) -> list[str]:
    """Lower-case tokens of a caption or an answer: “he can't” → he, ca, n't."""
    tokens: list[str] = _NLTK.tokenize(text.lower())
    return tokens


def tokenise_question(text: str) -> list[str]:
    """Lower-case tokens of a question; it gets a question mark where it has none, as VisDial's texts have none."""
    text = text.rstrip()
    return tokenise(text if text.endswith("?") else text + "?")
