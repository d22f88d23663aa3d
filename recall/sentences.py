"""Texts cut into sentences that can stand by themselves, and sentences into stems, in any language.

Chats are written in Markdown. Its marks are dropped, and so is what says nothing when it stands
alone: headings, labels, rules, code. This goes by lines and patterns, because a full parser takes
longer over a message than all the rest of a recall.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import zip_longest

from backread.store.fulltext import words
from backread.text.stemmers import stem_in
from recall.query import QUESTION_WORDS

_MAX_CHARACTERS = 400
# Only from where a run of signs begins: a line of dots must not be tried from each of them.
_END = re.compile(r"(?<![.!?…])[.!?…]+[\"'”’)\]]*\s+|[。！？]+[」』”）]*")
# Abbreviations that end with a dot and do not end a sentence.
_ABBREVIATION = re.compile(
    r"\b(?:mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|approx|no|fig|jan|feb|mar|apr|jun|jul|aug|sep|"
    r"sept|oct|nov|dec|[A-Z])\.$",
    re.IGNORECASE,
)
_ABBREVIATION_CHARACTERS = 8

_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})[ \t]*([^\s`]*)")
_HEADING = re.compile(r"\s{0,3}#{1,6}(?:\s|$)")
_RULE = re.compile(r"[\s|:+*_=–—-]*$")
_LIST_MARK = re.compile(
    r"\s*(?:>\s*)*(?:(?:[-+*•◦▪–]|\(?\d{1,3}[.)]|[a-zA-Z]\))\s+)?(?:\[[ xX]\]\s+)?"
)
_ALL_BOLD = re.compile(r"(\*\*|__)(?:(?!\1).)+\1\s*[:：]?\s*$")
_IMAGE_OR_LINK = re.compile(r"!?\[([^\[\]]{0,300})\]\([^()\s]{0,1000}(?:\([^()\s]*\)[^()\s]*)?\)")
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,200}>")
_SOURCE_MARK = re.compile(r"【[^】\n]{0,80}】|\ue200[^\ue201]{0,200}\ue201")
_EMPHASIS = re.compile(r"(?<![\w*])\*(?=\S)([^*\n]+)(?<=\S)\*(?![\w*])")
_UNDERLINED = re.compile(r"(?<!\w)_(?=\S)([^_\n]+)(?<=\S)_(?!\w)")
_STRONG = re.compile(r"(?<![\w_])__(?=\S)([^_\n]* [^_\n]*)(?<=\S)__(?![\w_])")  # not __init__
_DOUBLED = re.compile(r"\*{2,}|~~")
_ESCAPED = re.compile(r"\\([*_#`\[\]()>+.!~|-])")
_CODE = re.compile(
    r"(?:(?:from\s+[\w.]+\s+)?import\s+[\w.{*]|(?:async\s+)?def\s+\w+\(|class\s+\w+[(:{]|"
    r"(?:const|let|var)\s+[\w{\[][^=]*=|(?:export|public|private|static)\s+\w+\s|"
    r"(?:async\s+)?function\b\s*\w*\(|(?:if|for|while|switch)\s*\(.*[{;]?$|#include\b|@\w+\(|"
    r"return\b.*;$|\$\s+\w|>>>\s|</?\w+[^<>]*>\s*$|[\w.\[\]\"']+\s*[-+*/|&]?=\s*\S.*[;({\[,]$|"
    r"SELECT\s.*\sFROM\b|\"?\w+\"?:\s*[\[{\"].*[,{\[}\]]?$)|.*[{};]$|[)\]}]+[;,]?$"
)
_SIGNS = re.compile(r"[{}\[\]()<>=;|\\&^$@]")
_MOST_SIGNS = 0.12  # of a line's characters; prose stays far below


def sentences(text: str) -> Iterator[str]:
    """The sentences of a message in order, as plain text on one line each.

    Longer ones than 400 characters are cut at a word.
    """
    for line in _prose(text):
        yield from _cut(line)


@lru_cache(maxsize=100_000)
def stem(word: str, language: str = "en") -> str:
    """The stem of a folded word; `language` counts for Latin letters only."""
    return stem_in(word, language)


def stems(text: str) -> list[str]:
    """The stems of a text in order, question words left out."""
    return [stem(word) for word in words(text) if word not in QUESTION_WORDS]


def _prose(text: str) -> Iterator[str]:
    lines = text.splitlines()
    is_code = _starts_inside_code(lines)
    for line, following in zip_longest(lines, lines[1:], fillvalue=""):
        if _FENCE.match(line):
            is_code = not is_code
        elif line.lstrip().startswith("|") and following.lstrip().startswith(("|-", "| -", "|:")):
            continue  # the head of a table only names its columns
        elif not is_code and line and (said := _plain(line)):
            yield said


def _starts_inside_code(lines: list[str]) -> bool:
    """A passage is a part of its message, so it may begin within a block that began before it."""
    marks = [mark for line in lines if (mark := _FENCE.match(line))]
    if len(marks) % 2 == 0 or marks[0][2]:
        return False  # what is written behind a mark names a language, and so begins a block
    first = next((line.strip() for line in lines if line.strip()), "")
    return _FENCE.match(first) is not None or _is_code(first)


def _plain(line: str) -> str:
    """What a line says, without Markdown; empty for one that says nothing by itself."""
    if _RULE.match(line) or _HEADING.match(line):
        return ""
    if line.lstrip().startswith("|"):
        cells = (each.strip() for each in line.strip().strip("|").split("|"))
        line = " · ".join(cell for cell in cells if cell)
    else:
        line = line[_LIST_MARK.match(line).end() :]  # type: ignore[union-attr]  # it can be empty
    if _ALL_BOLD.match(line):
        return ""
    if not line.isalnum():
        if _is_code(line):
            return ""
        line = _without_marks(line)
    return "" if line.endswith((":", "：")) else line


def _without_marks(line: str) -> str:
    if "[" in line or "【" in line or "\ue200" in line:
        line = _SOURCE_MARK.sub("", _IMAGE_OR_LINK.sub(r"\1", line))
    if "<" in line:
        line = _TAG.sub(" ", line)
    if "*" in line or "_" in line or "~~" in line:
        line = _EMPHASIS.sub(r"\1", _DOUBLED.sub("", line))
        line = _UNDERLINED.sub(r"\1", _STRONG.sub(r"\1", line))
    if "\\" in line:
        line = _ESCAPED.sub(r"\1", line)
    return " ".join(line.replace("`", "").split())


def _is_code(line: str) -> bool:
    if _CODE.match(line.strip()):
        return True
    return len(line) > 8 and len(_SIGNS.findall(line)) > _MOST_SIGNS * len(line)


def _cut(line: str) -> Iterator[str]:
    start = 0
    for match in _END.finditer(line):
        end = match.end()
        before = line[max(start, match.start() - _ABBREVIATION_CHARACTERS) : match.start() + 1]
        if match.group().startswith(".") and _ABBREVIATION.search(before):
            continue
        yield from _bounded(line[start:end].strip())
        start = end
    yield from _bounded(line[start:].strip())


def _bounded(sentence: str) -> Iterator[str]:
    while len(sentence) > _MAX_CHARACTERS:
        space = sentence.rfind(" ", _MAX_CHARACTERS // 2, _MAX_CHARACTERS)
        end = space if space > 0 else _MAX_CHARACTERS
        yield sentence[:end]
        sentence = sentence[end:].lstrip()
    if any(character.isalnum() for character in sentence):
        yield sentence
