"""What a text says regardless of how it is set: the common ground of two renderings of it."""

import re
from collections import Counter

_IMAGE = re.compile(r"!\[[^\]\n]{0,500}\]\([^)\n]{0,2000}\)")
_LINK = re.compile(r"\[([^\]\n]{0,500})\]\([^)\n]{0,2000}\)")
_FOOTNOTE = re.compile(r"^\[\^[^\]\n]{1,50}\]:[^\n]*$", re.MULTILINE)
_MARK = re.compile(r"\[\^[^\]\n]{1,50}\]|【[^】\n]{1,200}】|</?[a-zA-Z][^<>\n]{0,200}>")
_COMPARED_CHARS = 20_000
_GRAM = 3


def letters_of(text: str) -> str:
    """The letters and digits of a text, case folded: what is left when Markdown is flattened,
    re-wrapped or decorated. A text without any is its visible characters."""
    if "[" in text or "<" in text or "【" in text:
        text = _FOOTNOTE.sub("", _IMAGE.sub("", text))
        text = _MARK.sub("", _LINK.sub(r"\1", text))
    letters = "".join(filter(str.isalnum, text)).casefold()
    return letters or "".join(text.split())


def likeness(letters: str, others: str) -> float:
    """How much two texts have in common, 0 to 1, by the runs of three letters in them. Compares
    their beginnings only, in time that grows with their length."""
    first, second = _grams(letters), _grams(others)
    total = first.total() + second.total()
    return 2 * (first & second).total() / total if total else 1.0


def _grams(letters: str) -> Counter[str]:
    letters = letters[:_COMPARED_CHARS]
    return Counter(letters[at : at + _GRAM] for at in range(max(1, len(letters) - _GRAM + 1)))
