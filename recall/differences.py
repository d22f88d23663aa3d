"""What changed from one text to another, line by line."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

CONTEXT_LINES = 3
_MOST_LINES = 20_000  # of a text that is compared line by line


@dataclass(frozen=True, slots=True)
class DiffLine:
    """`kind` is "same", "added", "removed" or "gap"; numbers count lines from 1."""

    kind: str
    text: str
    old: int | None = None
    new: int | None = None


def difference(old: str, new: str, *, context: int = CONTEXT_LINES) -> list[DiffLine]:
    """What changed, line by line, with some lines around each change."""
    before, after = old.splitlines(), new.splitlines()
    if len(before) > _MOST_LINES or len(after) > _MOST_LINES:
        return [
            *(DiffLine("removed", text, old=index) for index, text in enumerate(before, 1)),
            *(DiffLine("added", text, new=index) for index, text in enumerate(after, 1)),
        ]
    lines: list[DiffLine] = []
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for group in matcher.get_grouped_opcodes(context):
        if lines or group[0][1] or group[0][3]:
            lines.append(DiffLine("gap", ""))
        for tag, *ends in group:
            lines += _changed(tag, ends, before, after)
    return lines


def unified(old: str, new: str, old_name: str, new_name: str) -> str:
    """The same as a patch."""
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        for line in difflib.unified_diff(
            old.splitlines(keepends=True), new.splitlines(keepends=True), old_name, new_name
        )
    )


def _changed(
    tag: str, ends: Sequence[int], before: Sequence[str], after: Sequence[str]
) -> list[DiffLine]:
    old_start, old_end, new_start, new_end = ends
    if tag == "equal":
        return [
            DiffLine("same", before[old], old=old + 1, new=new + 1)
            for old, new in zip(range(old_start, old_end), range(new_start, new_end), strict=True)
        ]
    return [
        *(DiffLine("removed", before[old], old=old + 1) for old in range(old_start, old_end)),
        *(DiffLine("added", after[new], new=new + 1) for new in range(new_start, new_end)),
    ]
