"""Messages as an importer puts them together, and the tree or line that they make."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from backread.domain import (
    Aside,
    Attachment,
    Citation,
    MessageKind,
    ParsedMessage,
    Role,
)
from ingest.importers import tree

_TITLE_CHARS = 80


@dataclass(slots=True)
class Draft:
    """A message in the making. Without a `kind` it is dialogue when something was said."""

    external_id: str
    role: Role
    parent: str | None = None
    texts: list[str] = field(default_factory=list)
    created_at: datetime | None = None
    author: str = ""
    model: str = ""
    kind: MessageKind | None = None
    attachments: list[Attachment] = field(default_factory=list)
    asides: list[Aside] = field(default_factory=list)
    citations: dict[str, Citation] = field(default_factory=dict)
    has_weak_id: bool = False  # the format has no ids: `external_id` is only a place

    @property
    def text(self) -> str:
        return "\n\n".join(text.strip("\n") for text in self.texts if text.strip())

    @property
    def is_empty(self) -> bool:
        return not (self.text or self.asides or self.attachments)

    def aside(self, kind: str, text: str, name: str = "") -> None:
        """Adds it when it says anything; a call does so by its name alone."""
        if text.strip() or (name and kind != "tool_result"):
            self.asides.append(Aside(kind, text, name))

    def cite(self, url: str, title: str = "") -> None:
        """Adds the link once, when it is one that can be opened."""
        if url.startswith(("http://", "https://")):
            self.citations.setdefault(url, Citation(url, title))

    def finish(self, parent: str | None) -> ParsedMessage:
        return ParsedMessage(
            external_id=self.external_id,
            parent_external_id=parent,
            role=self.role,
            kind=self.kind or self._kind(),
            text=self.text,
            created_at=self.created_at,
            author=self.author,
            model=self.model,
            attachments=tuple(self.attachments),
            asides=tuple(self.asides),
            citations=tuple(self.citations.values()),
            has_weak_id=self.has_weak_id,
        )

    def _kind(self) -> MessageKind:
        if self.role is Role.SYSTEM:
            return MessageKind.SYSTEM
        if self.role is Role.TOOL:
            return MessageKind.TOOL
        has_files_to_say = self.role is Role.USER or not self.asides
        if self.text or (self.attachments and has_files_to_say):
            return MessageKind.DIALOGUE
        kinds = {aside.kind for aside in self.asides}
        if kinds & {"tool_call", "tool_result", "artifact"}:
            return MessageKind.TOOL
        return MessageKind.REASONING if "reasoning" in kinds else MessageKind.HIDDEN


@dataclass(frozen=True, slots=True)
class Thread:
    """What a parsed conversation needs: its messages, and which of them are shown."""

    messages: tuple[ParsedMessage, ...]
    shown_line: tuple[str, ...]

    @property
    def model(self) -> str:
        """The model that answered last on the shown line."""
        shown = set(self.shown_line)
        models = [
            message.model
            for message in self.messages
            if message.role is Role.ASSISTANT and message.model and message.external_id in shown
        ]
        return models[-1] if models else ""

    @property
    def first_words(self) -> str:
        """A title for chats that have none: the beginning of what the person first said."""
        for message in self.messages:
            if message.role is Role.USER and message.kind is MessageKind.DIALOGUE and message.text:
                return shortened(message.text)
        return ""

    @property
    def times(self) -> tuple[datetime | None, datetime | None]:
        """Of the earliest and the latest message, for chats that have no times of their own."""
        times = [message.created_at for message in self.messages if message.created_at]
        return min(times, default=None), max(times, default=None)


def in_a_line(drafts: Iterable[Draft]) -> Thread:
    """Each message the answer to the one before. Ids that repeat are told apart."""
    messages: list[ParsedMessage] = []
    taken: set[str] = set()
    parent: str | None = None
    for draft in drafts:
        draft.external_id = free_id(draft.external_id, taken)
        messages.append(draft.finish(parent))
        parent = draft.external_id
    return Thread(tuple(messages), tuple(message.external_id for message in messages))


def with_work_beside(drafts: Iterable[Draft]) -> Iterator[Draft]:
    """The dialogue alone: what an assistant or tool did without words stands beside the words
    that follow it, or came last. For formats whose messages are known by their words."""
    waiting: list[Aside] = []
    last: Draft | None = None
    for draft in drafts:
        if draft.role in (Role.ASSISTANT, Role.TOOL) and draft.kind is None and not draft.text:
            waiting += draft.asides
            continue
        if draft.role is Role.ASSISTANT:
            draft.asides[:0] = waiting
            waiting = []
        if last is not None:
            yield last
        last = draft
    if last is not None:
        last.asides += waiting
        yield last


def in_a_tree(
    drafts: Sequence[Draft],
    *,
    leaf: str | None = None,
    side: frozenset[str] = frozenset(),
) -> Thread:
    """Messages by their `parent`; ids must differ. `leaf` is the end of the shown line; without
    one it is the newest that is not in `side`."""
    by_id = {draft.external_id: draft for draft in drafts}
    parents = tree.sound_parents({each: draft.parent for each, draft in by_id.items()})
    if leaf not in by_id:
        times = {each: draft.created_at for each, draft in by_id.items()}
        candidates = [each for each in by_id if each not in side]
        leaf = tree.newest_leaf(parents, times, candidates or None)
        if leaf is None and candidates:
            leaf = candidates[-1]
    ordered = tree.parents_first(parents)
    messages = tuple(by_id[each].finish(parents[each]) for each in ordered)
    line = tuple(tree.line_to(leaf, parents)) if leaf is not None else ()
    return Thread(messages, line)


def shortened(text: str) -> str:
    """The beginning of a text as a title."""
    words = " ".join(text[: 20 * _TITLE_CHARS].split())
    return words if len(words) <= _TITLE_CHARS else words[: _TITLE_CHARS - 1] + "…"


def free_id(wanted: str, taken: set[str]) -> str:
    """The id itself, or with a number when it is taken; then it is taken."""
    result, count = wanted, 2
    while result in taken:
        result, count = f"{wanted}#{count}", count + 1
    taken.add(result)
    return result


def digest_id(*parts: str) -> str:
    """An id for what has none, from what does not change as it grows."""
    joined = "\x00".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(joined).hexdigest()[:32]


def news_of_lines(unread: Sequence[object], news: Counter[str]) -> None:
    """Counts the lines of a session that were no JSON."""
    if unread:
        news["line:unreadable"] += len(unread)
