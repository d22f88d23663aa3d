"""Questions of measure: "how big was the index?" is answered with gigabytes and not with "big".

English only. A question that asks for no measure is not looked at.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from recall.sentences import stem

_LENGTH = (
    r"mm|cm|m|km|met(?:re|er)s?|kilomet(?:re|er)s?|centimet(?:re|er)s?|miles?|feet|foot|inch(?:es)?"
)
_AREA = r"m2|m²|hectares?|acres?|square"
_BYTES = r"[kmgtp]i?b|bytes?|kilobytes?|megabytes?|gigabytes?|terabytes?"
_TIME = r"ms|seconds?|minutes?|min|hours?|h|days?|nights?|weeks?|months?|years?"
_WEIGHT = r"g|kg|grams?|kilos?|kilograms?|pounds?|lbs?|tons?|tonnes?"
_COUNT = r"rows?|lines?|pages?|people|litres?|liters?"
_UNITS = {
    "big": f"{_BYTES}|{_LENGTH}|{_AREA}|{_COUNT}",
    "large": f"{_BYTES}|{_LENGTH}|{_AREA}|{_COUNT}",
    "small": f"{_BYTES}|{_LENGTH}|{_AREA}|{_COUNT}",
    "long": f"{_TIME}|{_LENGTH}",
    "heavy": _WEIGHT,
    "far": _LENGTH,
    "tall": _LENGTH,
    "high": _LENGTH,
    "deep": _LENGTH,
    "wide": _LENGTH,
    "old": "days?|weeks?|months?|years?",
}
_ASKED = re.compile(rf"\bhow\s+({'|'.join(_UNITS)})\b", re.IGNORECASE)
_MEASURED = {
    word: re.compile(rf"\d[\d.,]*\s*(?:{units})(?![^\W_])", re.IGNORECASE)
    for word, units in _UNITS.items()
}
# They set two measures apart and are seldom said again.
_APART = ("before", "after")


@dataclass(frozen=True, slots=True)
class Measure:
    """`unsaid`: stems of the question that what answers it need not hold."""

    word: str
    unsaid: frozenset[str]

    def stands_in(self, texts: Sequence[str]) -> bool:
        """Whether one of the texts holds a number with a unit of this measure."""
        return any(_MEASURED[self.word].search(text) for text in texts)


def measure_asked(question: str) -> Measure | None:
    """The measure that a question asks for, if it does."""
    asked = _ASKED.search(question)
    if asked is None:
        return None
    word = asked[1].lower()
    return Measure(word, frozenset(map(stem, (word, *_APART))))
