"""Passages: what recall finds. One dialogue message of the shown line, or a part of a long one;
behind them the parts of what stands beside the messages."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from datetime import datetime

from backread.domain import MessageKind, Role
from backread.store.repositories.conversations import ConversationRow, MessageRow
from backread.store.repositories.passages import PassageRow, passage_heading
from backread.tokens import estimate_tokens
from ingest.beside import BesidePart, parts_beside

PASSAGE_TOKENS = 256
# A rest this much longer than a passage stays with it rather than becoming a crumb.
_SLACK = 1.25
_HEADING_TITLE_CHARS = 200

_FENCE = re.compile(r"^[ ]{0,3}(?:```+|~~~+)", re.MULTILINE)
_SENTENCE_ENDS = (". ", "! ", "? ", "… ", "。", "！", "？")


def passages_of(conversation: ConversationRow, line: Sequence[MessageRow]) -> list[PassageRow]:
    """The passages of a conversation, in reading order. `line` is its shown line, root first.

    Together they cover every character of every dialogue message but blank borders. Last come
    those of artifacts and attachments, as `parts_beside` gives them.
    """
    rows: list[PassageRow] = []
    for message in line:
        if message["kind"] != MessageKind.DIALOGUE or not message["text"]:
            continue
        occurred_at = message["created_at"] or conversation["created_at"]
        heading = _heading(conversation, message, occurred_at)
        text = message["text"]
        for start, end in cut(text):
            part = text[start:end]
            rows.append(
                PassageRow(
                    message_id=message["id"],
                    start_offset=start,
                    end_offset=end,
                    role=message["role"],
                    heading=heading,
                    text=part,
                    token_count=estimate_tokens(part),
                    occurred_at=occurred_at,
                )
            )
    rows += [_beside(conversation, part) for part in parts_beside(line, cut)]
    return rows


def _beside(conversation: ConversationRow, part: BesidePart) -> PassageRow:
    occurred_at = part.said_at or conversation["created_at"]
    heading = _heading(conversation, part.message, occurred_at, part.role)
    return PassageRow(
        message_id=part.message["id"],
        start_offset=part.start,
        end_offset=part.end,
        role=part.role,
        heading=f"{heading} · {part.document}",
        text=part.text,
        token_count=estimate_tokens(part.text),
        occurred_at=occurred_at,
        document=part.document,
    )


def _heading(
    conversation: ConversationRow,
    message: MessageRow,
    occurred_at: datetime | None,
    role: str = "",
) -> str:
    role = role or message["role"]
    author = message["author"] if role == message["role"] else ""
    if role == Role.USER:
        speaker = author or "User"
    else:
        speaker = author or conversation["assistant_name"] or "Assistant"
    title = " ".join(conversation["title"][:_HEADING_TITLE_CHARS].split())
    return passage_heading(speaker, occurred_at, title)


def cut(text: str, limit: int = PASSAGE_TOKENS) -> Iterator[tuple[int, int]]:
    """Start and end of each part, in code points. Parts do not overlap and are not blank.

    A border is, in order of liking: beside a code block, between paragraphs, between lines,
    between sentences, between words; only text without any of these is cut anywhere.
    """
    tokens = estimate_tokens(text)
    if tokens <= limit * _SLACK:
        yield from _trimmed(text, 0, len(text))
        return
    reach = max(1, len(text) * limit // tokens)
    edges = _code_edges(text) if "```" in text or "~~~" in text else []
    start = 0
    while len(text) - start > reach * _SLACK:
        end = _border(text, start + reach // 2, start + reach, edges)
        yield from _trimmed(text, start, end)
        start = end
    yield from _trimmed(text, start, len(text))


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Without blank lines at the start and blanks at the end; indentation stays."""
    while end > start and text[end - 1].isspace():
        end -= 1
    if end <= start:
        return
    first = start
    while text[first].isspace():
        first += 1
    yield max(start, text.rfind("\n", start, first) + 1), end


def _code_edges(text: str) -> list[int]:
    """Start and end of each fenced block, in turn; an open one reaches to the end."""
    marks = [(match.start(), match.end()) for match in _FENCE.finditer(text)]
    edges: list[int] = []
    for (start, _), (_, end) in zip(marks[::2], marks[1::2], strict=False):
        line_end = text.find("\n", end)
        edges += [start, len(text) if line_end < 0 else line_end + 1]
    if len(marks) % 2:
        edges += [marks[-1][0], len(text)]
    return edges


def _border(text: str, low: int, high: int, edges: Sequence[int]) -> int:
    passed = bisect_right(edges, high)
    if passed and edges[passed - 1] >= low:
        return edges[passed - 1]
    # After the start of a block and before its end: where that block starts.
    holding = edges[passed - 1] if passed % 2 else None
    for mark in ("\n\n", "\n"):
        # A blank line inside code is no better a border than any other line of it.
        at = text.rfind(mark, low, high)
        if at >= 0 and not (mark == "\n\n" and holding is not None and holding < at):
            return at + len(mark)
    end = max(text.rfind(mark, low, high) + len(mark) for mark in _SENTENCE_ENDS)
    if end > low:
        return end
    at = text.rfind(" ", low, high)
    return at + 1 if at >= 0 else high
