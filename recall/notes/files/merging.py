"""Merging two changes of one text, line by line, as diff3 does (S. Khanna, K. Kunal, B. C. Pierce:
"A Formal Investigation of Diff3", 2007)."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

_MOST_LINES = 20_000  # comparing takes time that grows with their square


@dataclass(frozen=True, slots=True)
class _Common:
    """Lines that all three texts have in one stretch."""

    base: int
    ours: int
    theirs: int
    length: int


def merged(base: str, ours: str, theirs: str) -> str | None:
    """The text with both changes, or None when they touch the same or neighbouring lines in
    different ways."""
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs
    texts = [each.splitlines(keepends=True) for each in (base, ours, theirs)]
    if any(len(each) > _MOST_LINES for each in texts):
        return None
    result: list[str] = []
    at = _Common(0, 0, 0, 0)
    for common in [*_common(*texts), _Common(len(texts[0]), len(texts[1]), len(texts[2]), 0)]:
        chosen = _chosen(
            texts[0][at.base + at.length : common.base],
            texts[1][at.ours + at.length : common.ours],
            texts[2][at.theirs + at.length : common.theirs],
        )
        if chosen is None:
            return None
        result += chosen
        result += texts[0][common.base : common.base + common.length]
        at = common
    return "".join(result)


def _chosen(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]
) -> Sequence[str] | None:
    if ours == theirs or theirs == base:
        return ours
    return theirs if ours == base else None


def _common(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> list[_Common]:
    """Stretches of the base that both others kept, in order."""
    kept_by_us = SequenceMatcher(None, base, ours, autojunk=False).get_matching_blocks()
    kept_by_them = SequenceMatcher(None, base, theirs, autojunk=False).get_matching_blocks()
    found = []
    mine = yours = 0
    while mine < len(kept_by_us) and yours < len(kept_by_them):
        one, other = kept_by_us[mine], kept_by_them[yours]
        start = max(one.a, other.a)
        end = min(one.a + one.size, other.a + other.size)
        if start < end:
            found.append(
                _Common(start, one.b + start - one.a, other.b + start - other.a, end - start)
            )
        if one.a + one.size < other.a + other.size:
            mine += 1
        else:
            yours += 1
    return found
