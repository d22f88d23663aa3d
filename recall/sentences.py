"""Texts cut into sentences, and sentences into stems, in any language."""

import re
from collections.abc import Iterator
from functools import lru_cache

import snowballstemmer

from backread.store.fulltext import words
from recall.query import QUESTION_WORDS

_MAX_CHARACTERS = 400
_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？])|\n+")
_FENCE = re.compile(
    r"^[ ]{0,3}(?:```|~~~).*?(?:^[ ]{0,3}(?:```|~~~)[^\n]*$|\Z)", re.MULTILINE | re.DOTALL
)
_LIST_MARK = re.compile(r"[\s>#*+•-]*(?:\d{1,3}[.)]\s+)?")
# Abbreviations that end with a dot and do not end a sentence.
_ABBREVIATION = re.compile(
    r"\b(?:mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|approx|no|fig|jan|feb|mar|apr|jun|jul|aug|sep|"
    r"sept|oct|nov|dec|[A-Z])\.$",
    re.IGNORECASE,
)
_STEMMER = snowballstemmer.stemmer("english")


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each sentence, in code points, without blank borders and list marks.

    A code block is one sentence. Longer ones than 400 characters are cut at a word.
    """
    at = 0
    for block in _FENCE.finditer(text):
        yield from _plain(text, at, block.start())
        yield from _bounded(text, block.start(), block.end(), is_code=True)
        at = block.end()
    yield from _plain(text, at, len(text))


def _plain(text: str, low: int, high: int) -> Iterator[tuple[int, int]]:
    start = low
    for match in _END.finditer(text, low, high):
        if "\n" not in match.group() and _ABBREVIATION.search(
            text, max(low, match.start() - 8), match.start()
        ):
            continue
        yield from _bounded(text, start, match.start())
        start = match.end()
    yield from _bounded(text, start, high)


def _bounded(
    text: str, start: int, end: int, *, is_code: bool = False
) -> Iterator[tuple[int, int]]:
    while start < end:
        if not is_code and (mark := _LIST_MARK.match(text, start, end)):
            start = mark.end()
        stop = end
        if stop - start > _MAX_CHARACTERS:
            space = text.rfind(" ", start + _MAX_CHARACTERS // 2, start + _MAX_CHARACTERS)
            stop = space if space > 0 else start + _MAX_CHARACTERS
        last = stop
        while last > start and text[last - 1].isspace():
            last -= 1
        if last > start and any(character.isalnum() for character in text[start:last]):
            yield start, last
        start = stop


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """The English stem; words of other scripts stay as they are."""
    return str(_STEMMER.stemWord(word)) if word.isascii() else word


def stems(text: str) -> list[str]:
    """The stems of a text in order, question words left out."""
    return [stem(word) for word in words(text) if word not in QUESTION_WORDS]
