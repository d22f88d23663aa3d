"""The part of a passage to show in a list of results, with what was asked for marked."""

import re
from collections.abc import Sequence
from os.path import commonprefix
from typing import Final

from markupsafe import Markup, escape

from backread.store.fulltext import words
from recall.query import QUESTION_WORDS
from recall.sentences import stem

_SNIPPET_CHARACTERS: Final = 300
_LEAD_CHARACTERS: Final = 80
_SHORTEST_STEM: Final = 3
_ELLIPSIS: Final = "… "
# Markdown's own signs, which mean nothing in a line of plain text.
_LINE_SIGNS: Final = re.compile(r"^[ \t]{0,3}(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+)", re.MULTILINE)
_LINK: Final = re.compile(r"!?\[([^\[\]]{0,200})\]\([^()\s]{0,500}\)")
_WORD_SIGNS: Final = re.compile(r"\*\*|__|`+")
_MARK: Final = Markup("<mark>{}</mark>")


def plain_line(text: str) -> str:
    """The text in one line, without the signs of Markdown."""
    text = _LINK.sub(r"\1", _LINE_SIGNS.sub("", text))
    return " ".join(_WORD_SIGNS.sub("", text).split())


def query_terms(text: str) -> list[str]:
    """The words of a query worth marking, folded, without those that only ask."""
    found = [word for word in words(text) if word not in QUESTION_WORDS and len(word) > 1]
    return list(dict.fromkeys(found or words(text)))


def marked_snippet(text: str, terms: Sequence[str]) -> Markup:
    """About 300 characters around where most of the terms stand, escaped, the terms marked."""
    flat = plain_line(text)
    pattern = _pattern(terms)
    if pattern is None:
        return escape(_cut(flat, 0))
    return mark(_cut(flat, _best_start(flat, pattern)), pattern)


def marked_text(text: str, query: str) -> Markup:
    """The text, escaped, with every place where it holds the query letter for letter, in any
    case, marked."""
    return mark(text, re.compile(re.escape(query), re.IGNORECASE)) if query else escape(text)


def mark(text: str, pattern: re.Pattern[str]) -> Markup:
    """The text, escaped, with every match inside `<mark>`."""
    pieces: list[Markup] = []
    end = 0
    for match in pattern.finditer(text):
        pieces.append(escape(text[end : match.start()]))
        pieces.append(_MARK.format(match.group()))
        end = match.end()
    pieces.append(escape(text[end:]))
    return Markup("").join(pieces)


def _pattern(terms: Sequence[str]) -> re.Pattern[str] | None:
    """Matches the terms and, for Latin words, their other endings."""
    parts = [
        rf"\b{re.escape(_stem(term))}\w*" if term.isascii() else re.escape(term)
        for term in sorted(terms, key=len, reverse=True)
    ]
    return re.compile("|".join(parts), re.IGNORECASE) if parts else None


def _stem(word: str) -> str:
    """What the word's other endings begin with, too: "bak" for bake, "memor" for memory."""
    shared = commonprefix([word, stem(word)])  # noqa: RUF071 - no paths
    if len(shared) > _SHORTEST_STEM and shared.endswith("e"):
        shared = shared[:-1]
    return shared if len(shared) >= _SHORTEST_STEM else word


def _best_start(text: str, pattern: re.Pattern[str]) -> int:
    """Where the window that holds the most different matches begins, with some words before."""
    matches = [(match.start(), match.group().lower()) for match in pattern.finditer(text)]
    if not matches or matches[-1][0] < _SNIPPET_CHARACTERS - _LEAD_CHARACTERS:
        return 0
    best, most = 0, 0
    for start, _ in matches:
        inside = {word for at, word in matches if start <= at < start + _SNIPPET_CHARACTERS}
        if len(inside) > most:
            best, most = start, len(inside)
    return max(0, best - _LEAD_CHARACTERS)


def _cut(text: str, start: int) -> str:
    """A window that begins and ends between words where there are spaces."""
    if start:
        space = text.find(" ", start)
        start = space + 1 if 0 <= space < start + 30 else start
    window = text[start : start + _SNIPPET_CHARACTERS]
    if start + _SNIPPET_CHARACTERS < len(text):
        head, _, tail = window.rpartition(" ")
        window = (head if head and len(tail) < 30 else window) + " …"
    return (_ELLIPSIS if start else "") + window
