"""One conversation as a JSON file behind an address that lives for fifteen minutes.

The address is a bearer secret: 256 random bits, of which only a hash is stored. It opens one
conversation, five times at most, since agents ask twice and try again. The file is written while
it is sent, a page of messages at a time, so its size costs no memory and nothing lies on a disk
that would have to be swept away; a conversation that is deleted takes its links with it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import orjson
from pydantic import Field

from backread.crypto import hash_token, new_token
from backread.domain import Principal
from backread.errors import LimitExceeded
from backread.jobs import UPKEEP
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.models import ExportLink, Message
from backread.store.repositories import export_links
from backread.store.repositories.browsing import messages_after
from backread.store.repositories.messages import get_conversation
from recall.rendering import FIELDS_NOTICE, clean, day, envelope
from recall.transcripts import ConversationHead, head_fields

LIFE = timedelta(minutes=15)
MOST_DOWNLOADS = 5
MOST_LIVE = 100  # of one account
EXPORTS_PREFIX = "/exports/"
FORMAT = "backread.conversation.v1"
_PAGE = 200  # messages read at a time


class ConversationExport(ConversationHead):
    """Where to fetch a conversation, and until when."""

    url: str = Field(description="Fetch it with GET; no sign-in. It is a secret while it lives.")
    expires_at: datetime
    downloads_left: int
    content_type: str = "application/json"
    notice: str = FIELDS_NOTICE

    @property
    def text(self) -> str:
        """For a model: the address, then what it leads to."""
        lead = (
            f"The conversation as a JSON file: {self.url}\nIt needs no sign-in, works "
            f"{self.downloads_left} times and ends at {self.expires_at:%H:%M:%S} UTC on "
            f"{day(self.expires_at)}. Fetch it with GET; do not show the address to others."
        )
        return envelope([self.heading], before=lead)


@dataclass(frozen=True, slots=True)
class OpenExport:
    """A link that is good: whose conversation it opens."""

    account_id: str
    conversation_id: str


def export_conversation(
    kernel: Kernel, principal: Principal, conversation_id: str, *, now: datetime | None = None
) -> ConversationExport:
    """A fresh link to the conversation. Raises NotFound for an unknown or foreign id and
    LimitExceeded while too many links of the account are alive."""
    now = now or utcnow()
    token = new_token()
    with kernel.store.write() as session:
        conversation = get_conversation(session, principal.account_id, conversation_id)
        if export_links.count_live(session, principal.account_id, now=now) >= MOST_LIVE:
            raise LimitExceeded(
                f"{MOST_LIVE} export links are alive already.",
                hint="Use one of them, or wait: each ends after 15 minutes.",
            )
        link = ExportLink(
            account_id=principal.account_id,
            conversation_id=conversation.id,
            client_id=principal.client_id,
            token_hash=hash_token(token),
            created_at=now,
            expires_at=now + LIFE,
        )
        export_links.add_link(session, link)
        head = head_fields(conversation, kernel.settings.origin)
    return ConversationExport(
        **head,
        url=f"{kernel.settings.origin}{EXPORTS_PREFIX}{token}",
        expires_at=now + LIFE,
        downloads_left=MOST_DOWNLOADS,
    )


def look_at_export(kernel: Kernel, token: str, *, now: datetime) -> OpenExport | None:
    """What a download would open, without counting one. None for a token that was never given,
    has ended, is used up or whose conversation is gone: the four are not told apart."""
    with kernel.store.read() as session:
        link = export_links.find_live(
            session, hash_token(token), now=now, most_downloads=MOST_DOWNLOADS
        )
    return OpenExport(link.account_id, link.conversation_id) if link is not None else None


def open_export(kernel: Kernel, token: str, *, now: datetime) -> OpenExport | None:
    """As `look_at_export`, and counts a download."""
    with kernel.store.write() as session:
        link = export_links.use_link(
            session, hash_token(token), now=now, most_downloads=MOST_DOWNLOADS
        )
    return OpenExport(link.account_id, link.conversation_id) if link is not None else None


def exported(kernel: Kernel, export: OpenExport) -> Iterator[bytes]:
    """The file, piece by piece: the conversation, then every message of its tree, the shown line
    first. Holds no transaction between two pieces. Raises NotFound, in the middle if need be,
    once the conversation is deleted."""
    with kernel.store.read() as session:
        conversation = get_conversation(session, export.account_id, export.conversation_id)
        head = ConversationHead(**head_fields(conversation, kernel.settings.origin))
    start = {
        "format": FORMAT,
        "notice": FIELDS_NOTICE,
        "exportedAt": utcnow(),
        "conversation": head.model_dump(mode="json", by_alias=True),
    }
    yield orjson.dumps(start)[:-1] + b',"messages":['
    after, separator = -1, b"\n"
    while True:
        with kernel.store.read() as session:
            get_conversation(session, export.account_id, export.conversation_id)
            messages = messages_after(
                session, export.account_id, export.conversation_id, after=after, limit=_PAGE
            )
        if not messages:
            break
        piece = bytearray()
        for message in messages:
            piece += separator + orjson.dumps(_cleaned(_message(message)))
            separator = b",\n"
        after = messages[-1].position
        yield bytes(piece)
    yield b"\n]}\n"


def clear_ended_exports(kernel: Kernel) -> None:
    """Takes away links that have ended. Done with the hourly upkeep."""
    with kernel.store.write() as session:
        export_links.delete_ended(session, now=utcnow())


UPKEEP.append(clear_ended_exports)


def _message(message: Message) -> dict[str, Any]:
    return {
        "messageId": message.id,
        "parentId": message.parent_id,
        "onShownLine": message.on_shown_line,
        "kind": message.kind,
        "role": message.role,
        "author": message.author,
        "model": message.model,
        "createdAt": message.created_at.isoformat() if message.created_at else None,
        "text": message.text,
        "attachments": message.attachments,
        "asides": message.asides,
        "citations": message.citations,
    }


def _cleaned(value: Any) -> Any:
    """Every text in it as it may be shown to a model, as in all other results."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_cleaned(each) for each in value]
    if isinstance(value, dict):
        return {key: _cleaned(each) for key, each in value.items()}
    return value
