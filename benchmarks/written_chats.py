"""Writes invented chats into the store the way an import does."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from backread.domain import (
    MessageKind,
    ParsedConversation,
    ParsedMessage,
    Platform,
    Principal,
    Role,
    Scope,
)
from backread.identity import conversation_id
from backread.jobs import run_pending
from backread.kernel import Kernel
from backread.store.models import Account
from ingest.indexing import enqueue_embedding, index_lexical
from ingest.merge import Merged, first_copy
from ingest.storing import write_merged


@dataclass(frozen=True, slots=True)
class WrittenChat:
    """Turns alternate, the person first, a minute apart. `key` names the chat."""

    key: str
    title: str
    turns: Sequence[str]
    at: datetime


def new_account(kernel: Kernel, name: str) -> Principal:
    with kernel.store.write() as session:
        account = Account(email=f"{name}@example.org", password_hash="unused")
        session.add(account)
        session.flush()
        return Principal(account.id, scopes=frozenset(Scope))


def keep(kernel: Kernel, principal: Principal, chats: Sequence[WrittenChat]) -> dict[str, str]:
    """Stores, indexes and embeds them; returns each key by its conversation's id."""
    merged = [_merged(principal.account_id, chat) for chat in chats]
    with kernel.store.write() as session:
        write_merged(session, principal.account_id, merged)
    index_lexical(kernel, principal.account_id)
    with kernel.store.write() as session:
        enqueue_embedding(session, principal.account_id)
    run_pending(kernel)
    ids = (each.conversation["id"] for each in merged)
    return dict(zip(ids, (chat.key for chat in chats), strict=True))


def _merged(account_id: str, chat: WrittenChat) -> Merged:
    messages = [
        ParsedMessage(
            external_id=f"{chat.key}-{place}",
            parent_external_id=f"{chat.key}-{place - 1}" if place else None,
            role=Role.ASSISTANT if place % 2 else Role.USER,
            kind=MessageKind.DIALOGUE,
            text=text,
            created_at=chat.at + timedelta(minutes=place),
        )
        for place, text in enumerate(chat.turns)
    ]
    parsed = ParsedConversation(
        platform=Platform.CHATGPT,
        external_id=chat.key,
        title=chat.title,
        messages=messages,
        shown_line=[message.external_id for message in messages],
        created_at=chat.at,
    )
    return first_copy(
        parsed,
        account_id=account_id,
        conversation_id=conversation_id(account_id, Platform.CHATGPT, chat.key, chat.at),
        capture_id="",
        parser_version=1,
    )
