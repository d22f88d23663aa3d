"""What is read out of a note: its title, its tags, and the form that a search looks through."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

from backread.notes.paths import stem_of

MAX_TITLE = 200
MAX_TAG = 128
_SNIPPET = 200  # characters
_BETWEEN = "\n\x1f\n"  # stands in no text, so that no match reaches from one field into the next

_HEADING = re.compile(r"#[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*")
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})")
_INLINE_CODE = re.compile(r"`[^`\n]*`")
_INLINE_TAG = re.compile(r"(?:^|(?<=\s))#([\w/-]+)")
_BLANKS = re.compile(r"\s+")


def title_of(path: str, frontmatter: dict[str, Any], body: str) -> str:
    """The front matter's `title`, else a heading that the body begins with, else the file's
    name."""
    given = frontmatter.get("title")
    if isinstance(given, str) and given.strip():
        return _one_line(given)
    first = next((line for line in body.splitlines() if line.strip()), "")
    heading = _HEADING.fullmatch(first.strip())
    if heading and heading[1].strip():
        return _one_line(heading[1])
    stem = stem_of(path)
    return _one_line(stem[:1].upper() + stem[1:])


def tags_of(frontmatter: dict[str, Any], body: str) -> list[str]:
    """Tags of the front matter and `#tags` in the body, in their order, each once. What is all
    digits is a number, and what stands in code is code."""
    found = [*_given_tags(frontmatter.get("tags")), *_inline_tags(body)]
    kept = (each.strip().lstrip("#")[:MAX_TAG] for each in found)
    return list(dict.fromkeys(each for each in kept if each and not each.isdigit()))


def searched_text(title: str, body: str, tags: Sequence[str]) -> str:
    """Title, body and tags in the form that a folded query is looked for in."""
    return folded(_BETWEEN.join([title, body, *tags]))


def folded(text: str) -> str:
    """Text without regard to case."""
    return unicodedata.normalize("NFC", text).casefold()


def snippet_of(body: str, query: str) -> str:
    """Around 200 characters of the body about its first match, on one line; else its beginning."""
    flat = _BLANKS.sub(" ", body).strip()
    wanted = _BLANKS.sub(" ", query).strip()
    at = _find(flat, wanted)
    start = max(0, at - _SNIPPET // 2) if at > 0 else 0
    end = min(len(flat), max(start + _SNIPPET, at + len(wanted)))
    return f"{'…' if start else ''}{flat[start:end].strip()}{'…' if end < len(flat) else ''}"


def _find(text: str, query: str) -> int:
    found = text.casefold().find(query.casefold())
    if found < 0 or len(text.casefold()) == len(text):
        return found
    # Some letters fold to more than one, so places in the folded text are not the text's.
    place = 0
    for index, character in enumerate(text):
        if place >= found:
            return index
        place += len(character.casefold())
    return -1


def _given_tags(value: Any) -> list[str]:
    if isinstance(value, str):
        return re.split(r"[,\s]+", value)
    if isinstance(value, list):
        return [str(each) for each in value if isinstance(each, str | int)]
    return []


def _inline_tags(body: str) -> list[str]:
    if "#" not in body:
        return []
    found: list[str] = []
    fence = ""
    for line in body.splitlines():
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            continue
        if mark:
            fence = mark[1]
            continue
        if "#" in line:
            found += _INLINE_TAG.findall(_INLINE_CODE.sub(" ` ", line))
    return found


def _one_line(text: str) -> str:
    return _BLANKS.sub(" ", text).strip()[:MAX_TITLE]
