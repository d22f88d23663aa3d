"""Dates in questions of several languages: which language it is, and what its words mean."""

import re
from datetime import date

from recall.dates import english, grammar
from recall.dates.grammar import Language
from recall.dates.languages.arabic import ARABIC
from recall.dates.languages.chinese import CHINESE
from recall.dates.languages.french import FRENCH
from recall.dates.languages.german import GERMAN
from recall.dates.languages.japanese import JAPANESE
from recall.dates.languages.portuguese import PORTUGUESE
from recall.dates.languages.spanish import SPANISH
from recall.dates.window import Days

_LATIN = (GERMAN, FRENCH, SPANISH, PORTUGUESE)
_ENGLISH_MARKS = frozenset(
    """the what did we is was were about of and when how do does who which my our you have has with
    where why that this to""".split()  # noqa: SIM905 - easier to read
)
_KANA = re.compile("[\u3040-\u30ff]")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_ARABIC = re.compile("[\u0600-\u06ff]")
_WORD = re.compile(r"[\w'’-]+")


def language_of(text: str) -> Language | None:
    """None for English, and for what is none of the languages known here."""
    if _ARABIC.search(text):
        return ARABIC
    if _KANA.search(text):
        return JAPANESE
    if _HAN.search(text):
        return CHINESE
    words = [word.lower() for word in _WORD.findall(text)]
    best: Language | None = None
    # One such word alone proves nothing: "comment" and "plan de" stand in English texts, too.
    most = max(1, sum(word in _ENGLISH_MARKS for word in words))
    for language in _LATIN:
        marks = sum(word in language.marks for word in words)
        if marks > most:
            best, most = language, marks
    return best


def find_days(text: str, today: date) -> tuple[Days, str] | None:
    """The days that a question is about and the words that say so; None if it names none.

    `today` is the day it was asked, in the asker's zone.
    """
    language = language_of(text)
    if language is None:
        return english.find_days(text, today)
    return grammar.find_days(text, today, language)
