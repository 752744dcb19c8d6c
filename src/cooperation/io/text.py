"""Text that is safe to print: no character is invisible or changes the text around it."""

import unicodedata

# Control characters, marks of the direction of writing and the like, halves of characters, line separators.
HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")


def visible(text: str) -> str:
    """The text with its invisible and disturbing characters written out, as ‹U+202E›."""
    if text.isprintable():
        return text
    return "".join(f"‹U+{ord(sign):04X}›" if unicodedata.category(sign) in HIDDEN else sign for sign in text)
