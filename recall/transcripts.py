"""Whole conversations as they were: for reading, and as structured data."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pydantic import Field

from backread.artifacts import Artifact, Version, by_message
from backread.domain import Principal
from backread.errors import InvalidInput
from backread.kernel import Kernel
from backread.store.engine import ReadSession
from backread.store.models import Conversation, Message
from backread.store.repositories.browsing import ArtifactMessage, messages_with_artifacts
from backread.store.repositories.messages import get_conversation, shown_line
from backread.tokens import estimate_tokens
from recall.links import reader_link
from recall.rendering import NOTICE, clean, counted, days, envelope, one_line, without_hidden
from recall.wire import ResultModel

# A response larger than this no client takes; the rest follows page by page.
PAGE_TOKENS = 20_000
_ARTIFACT_TOKENS = 60  # of an artifact's name and its place among the versions
_MOST_ARTIFACTS = 20  # named at one message; the reader has all of them
_NAME_CHARS = 120


class TranscriptArtifact(ResultModel):
    """A version of a document that the conversation worked on beside the chat."""

    title: str
    type: str
    language: str
    version: int
    versions: int
    text: str = Field(
        description="The whole text of the latest version; empty for earlier ones, and where it "
        "is too long for what was asked."
    )

    @property
    def block(self) -> str:
        """As a named block of a message."""
        kind = one_line(", ".join(each for each in (self.type, self.language) if each), 80)
        name = f"artifact “{one_line(self.title, 120) or 'Untitled'}”{f' ({kind})' if kind else ''}"
        place = f"version {self.version} of {self.versions}"
        if self.version < self.versions:
            return f"[{name}, {place}, replaced later]"
        if not self.text:
            return f"[{name}, {place}, without its text]"
        return f"[{name}, {place}]\n{clean(self.text)}\n[end of artifact]"


class TranscriptMessage(ResultModel):
    """One dialogue message of the shown line, word for word; only invisible characters that
    could hide or reorder text are left out."""

    message_id: str
    role: str
    author: str
    created_at: datetime | None
    text: str
    attachments: list[str] = Field(description="Names of the files that belong to it.")
    artifacts: list[TranscriptArtifact] = Field(
        default=[], description="Artifacts and canvases that were made or changed up to here."
    )

    @property
    def tokens(self) -> int:
        """What it costs with its artifacts, estimated."""
        made = (estimate_tokens(each.text) + _ARTIFACT_TOKENS for each in self.artifacts)
        return estimate_tokens(self.text) + sum(made)


class ConversationHead(ResultModel):
    """What a conversation is, without its messages."""

    conversation_id: str
    title: str
    platform: str
    model: str
    project: str
    first_message_at: datetime | None
    last_message_at: datetime | None
    message_count: int
    token_count: int
    reader_url: str
    original_url: str

    @property
    def heading(self) -> str:
        """Title, platform, dates and where to read it, cleaned."""
        return (
            f"“{one_line(self.title) or 'Untitled'}” · {one_line(self.platform)} · "
            f"{days(self.first_message_at, self.last_message_at)} · "
            f"{counted(self.message_count, 'message')}\n"
            f"conversationId {self.conversation_id} · {self.reader_url}"
        )


class Transcript(ConversationHead):
    """A conversation, or one page of a very long one. `page` counts from 1."""

    messages: list[TranscriptMessage]
    page: int
    pages: int
    notice: str = NOTICE

    @property
    def text(self) -> str:
        """For a model: the messages in order, marked as data."""
        parts = [self.heading]
        if self.pages > 1:
            parts.append(f"Page {self.page} of {self.pages}.")
        parts += [message_block(message) for message in self.messages]
        return envelope(parts)


def message_block(message: TranscriptMessage) -> str:
    """One message as it is set down in a response."""
    when = message.created_at.strftime("%Y-%m-%d %H:%M UTC") if message.created_at else "no date"
    who = f"{message.role} ({one_line(message.author, 60)})" if message.author else message.role
    files = ", ".join(one_line(name, 80) for name in message.attachments)
    attached = f"\n(attached: {files})" if files else ""
    made = "".join(f"\n{artifact.block}" for artifact in message.artifacts)
    return f"— {who}, {when}, message {message.message_id}\n{clean(message.text)}{attached}{made}"


def full_conversation(
    kernel: Kernel,
    principal: Principal,
    conversation_id: str,
    *,
    page: int = 1,
    page_tokens: int = PAGE_TOKENS,
) -> Transcript:
    """The dialogue as the platform shows it, whole up to `page_tokens`, else a page of it.

    A message is never cut: one that is longer than a page is a page. Raises NotFound for an
    unknown or foreign id and InvalidInput for a page that does not exist.
    """
    with kernel.store.read() as session:
        conversation = get_conversation(session, principal.account_id, conversation_id)
        messages = shown_messages(session, principal.account_id, conversation_id)
    pages = _pages(messages, page_tokens)
    if not 1 <= page <= len(pages):
        raise InvalidInput(
            f"There is no page {page}.", hint=f"The conversation has pages 1 to {len(pages)}."
        )
    return Transcript(
        **head_fields(conversation, kernel.settings.origin),
        messages=pages[page - 1],
        page=page,
        pages=len(pages),
    )


def shown_messages(
    session: ReadSession, account_id: str, conversation_id: str
) -> list[TranscriptMessage]:
    """The dialogue as the platform shows it, with the artifacts that were made in it."""
    messages = shown_line(session, account_id, conversation_id)
    changes = messages_with_artifacts(session, account_id, conversation_id)
    artifacts = _artifacts(messages, [each for each in changes if each.on_shown_line])
    return [to_message(each, artifacts.get(each.id, [])) for each in messages]


def head_fields(conversation: Conversation, origin: str) -> dict[str, Any]:
    """The fields of `ConversationHead`, from the stored conversation."""
    return {
        "conversation_id": conversation.id,
        "title": conversation.title,
        "platform": conversation.platform,
        "model": conversation.model,
        "project": conversation.project,
        "first_message_at": conversation.first_message_at,
        "last_message_at": conversation.last_message_at,
        "message_count": conversation.message_count,
        "token_count": conversation.token_count,
        "reader_url": reader_link(origin, conversation.id),
        "original_url": conversation.url,
    }


def _artifacts(
    messages: Sequence[Message], changes: Sequence[ArtifactMessage]
) -> dict[str, list[TranscriptArtifact]]:
    """By the dialogue message at which they stand: the one that made them, else the next. Of
    several versions of one artifact at one message only the last is named."""
    found: dict[str, list[TranscriptArtifact]] = {}
    for message_id, group in by_message(messages, changes).items():
        last: dict[str, tuple[Artifact, Version]] = {}
        for artifact, version in reversed(group):
            last.setdefault(artifact.id, (artifact, version))
        kept = list(last.values())[:_MOST_ARTIFACTS]
        found[message_id] = [_named(*each) for each in reversed(kept)]
    return found


def _named(artifact: Artifact, version: Version) -> TranscriptArtifact:
    is_latest = version is artifact.latest
    return TranscriptArtifact(
        title=one_line(artifact.title, _NAME_CHARS),
        type=one_line(artifact.type, _NAME_CHARS),
        language=one_line(artifact.language, _NAME_CHARS),
        version=version.number,
        versions=len(artifact.versions),
        text=without_hidden(version.text) if is_latest else "",
    )


def to_message(message: Message, artifacts: Sequence[TranscriptArtifact] = ()) -> TranscriptMessage:
    return TranscriptMessage(
        message_id=message.id,
        role=message.role,
        author=message.author,
        created_at=message.created_at,
        text=without_hidden(message.text),
        attachments=[str(each.get("name", "")) for each in message.attachments],
        artifacts=list(artifacts),
    )


def _pages(
    messages: Sequence[TranscriptMessage], page_tokens: int
) -> list[list[TranscriptMessage]]:
    pages: list[list[TranscriptMessage]] = [[]]
    room = page_tokens
    for message in messages:
        cost = message.tokens
        if cost > room and pages[-1]:
            pages.append([])
            room = page_tokens
        pages[-1].append(message)
        room -= cost
    return pages
