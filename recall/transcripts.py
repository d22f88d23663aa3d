"""Whole conversations as they were: for reading, and as structured data."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pydantic import Field

from backread.domain import Principal
from backread.errors import InvalidInput
from backread.kernel import Kernel
from backread.store.models import Conversation, Message
from backread.store.repositories.messages import get_conversation, shown_line
from backread.tokens import estimate_tokens
from recall.links import reader_link
from recall.rendering import NOTICE, clean, days, envelope, one_line, without_hidden
from recall.wire import ResultModel

# A response larger than this no client takes; the rest follows page by page.
PAGE_TOKENS = 20_000


class TranscriptMessage(ResultModel):
    """One dialogue message of the shown line, word for word; only invisible characters that
    could hide or reorder text are left out."""

    message_id: str
    role: str
    author: str
    created_at: datetime | None
    text: str
    attachments: list[str] = Field(description="Names of the files that belong to it.")


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
            f"{days(self.first_message_at, self.last_message_at)} · {self.message_count} messages"
            f"\nconversationId {self.conversation_id} · {self.reader_url}"
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
    return f"— {who}, {when}, message {message.message_id}\n{clean(message.text)}{attached}"


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
        messages = shown_line(session, principal.account_id, conversation_id)
    pages = _pages(messages, page_tokens)
    if not 1 <= page <= len(pages):
        raise InvalidInput(
            f"There is no page {page}.", hint=f"The conversation has pages 1 to {len(pages)}."
        )
    return Transcript(
        **head_fields(conversation, kernel.settings.origin),
        messages=[to_message(message) for message in pages[page - 1]],
        page=page,
        pages=len(pages),
    )


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


def to_message(message: Message) -> TranscriptMessage:
    return TranscriptMessage(
        message_id=message.id,
        role=message.role,
        author=message.author,
        created_at=message.created_at,
        text=without_hidden(message.text),
        attachments=[str(each.get("name", "")) for each in message.attachments],
    )


def _pages(messages: Sequence[Message], page_tokens: int) -> list[list[Message]]:
    pages: list[list[Message]] = [[]]
    room = page_tokens
    for message in messages:
        cost = estimate_tokens(message.text)
        if cost > room and pages[-1]:
            pages.append([])
            room = page_tokens
        pages[-1].append(message)
        room -= cost
    return pages
