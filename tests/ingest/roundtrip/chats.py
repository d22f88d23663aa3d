"""A chat that belongs to no format: a tree of messages with texts of every kind."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import cached_property

from hypothesis import strategies as st

from backread.domain import Role

_START = datetime(2025, 3, 5, 12, 0, tzinfo=UTC)
_LONGEST = 7  # messages: enough for branches in branches, and quick
# What importers stumble over: quotes, escapes, marks, line ends, scripts, signs of many parts.
_AWKWARD = (
    "\x00",
    "\ufeff",
    "\ud83d",
    "\r\n",
    "\r",
    "\n\n\n",
    "\t",
    "    indented",
    "\u2028",
    "\x0b",
    "\x85",
    "\x1e",
    "\u200f\u202eabc",
    "e\u0301",
    "👩‍👩‍👧‍👦",
    "𝒳",
    "\\",
    '\\"',
    "\\ud83d",
    '"',
    "'",
    ",",
    "<b>&amp;</b>",
    "</script>",
    "<!-- ",
    "{[",
    "]}",
    "null",
    "```\ncode\n```",
    "# User",
    "User:",
    "---",
    "| a | b |",
    "$&",
    "%s",
    "会話",
    "नमस्ते",
    "A long sentence about swifts. " * 80,
)


class Times(Enum):
    """Which times a format keeps."""

    EACH = "each message's"
    PAIR = "a question's, for the answer too"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Said:
    """One message. Ids are unique in the chat; times go up with the order of writing."""

    id: str
    parent: str | None
    role: Role
    text: str
    at: datetime


@dataclass(frozen=True)
class Chat:
    """Parents come before children; a question's answers are questions' parents, and so on.
    `leaf` is the end of what is shown."""

    id: str
    title: str
    messages: tuple[Said, ...]
    leaf: str

    @cached_property
    def line(self) -> list[Said]:
        by_id = {said.id: said for said in self.messages}
        line = [by_id[self.leaf]]
        while (parent := line[-1].parent) is not None:
            line.append(by_id[parent])
        return line[::-1]

    @cached_property
    def pairs(self) -> list[tuple[Said, Said | None]]:
        """The line as questions with their answers."""
        answers = [*self.line[1::2], None]
        return list(zip(self.line[::2], answers, strict=False))


def awkward_texts() -> st.SearchStrategy[str]:
    piece = st.one_of(
        st.sampled_from(_AWKWARD),
        st.text(st.characters(exclude_categories=("Cs", "Co")), max_size=12),
        st.sampled_from(("word ", "another word", ". ", "\n")),
    )
    return st.lists(piece, min_size=1, max_size=6).map("".join).filter(has_words)


def has_words(text: str) -> bool:
    """Whether anything of it can be stored: blank messages are none."""
    return bool(re.sub("[\x00\ufeff\ud800-\udfff]", "", text).strip())


@st.composite
def chats(
    draw: st.DrawFn,
    *,
    texts: st.SearchStrategy[str],
    has_branches: bool,
    has_leaf: bool,
) -> Chat:
    """`has_leaf`: the format says which line is shown; without it that is the newest one."""
    count = draw(st.integers(1, _LONGEST))
    said: list[Said] = []
    for place in range(count):
        parent = _parent(draw, said, has_branches=has_branches)
        asked = parent is None or parent.role is Role.ASSISTANT
        said.append(
            Said(
                id=f"m{place}",
                parent=parent.id if parent else None,
                role=Role.USER if asked else Role.ASSISTANT,
                text=draw(texts),
                at=_START + timedelta(seconds=60 * place),
            )
        )
    leaf = draw(st.sampled_from(_leaves(said))) if has_leaf else said[-1].id
    return Chat(
        "chat-1", draw(st.sampled_from(("Swifts", "Ünïcode: “title”", "x"))), tuple(said), leaf
    )


def _parent(draw: st.DrawFn, said: Sequence[Said], *, has_branches: bool) -> Said | None:
    if not said:
        return None
    if has_branches and draw(st.booleans()):
        return draw(st.sampled_from(said))
    return said[-1]


def _leaves(said: Sequence[Said]) -> list[str]:
    inner = {each.parent for each in said}
    return [each.id for each in said if each.id not in inner]
