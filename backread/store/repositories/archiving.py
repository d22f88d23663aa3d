"""All that is canonical of one account, in a fixed order, to be written into an archive; and what
of an archive has to be looked up to be taken in."""

from collections.abc import Collection
from datetime import datetime
from typing import TypeVar

from sqlalchemy import Select, select

from backread.store.engine import ReadSession
from backread.store.models import (
    Bucket,
    Capture,
    Companion,
    Conversation,
    Memory,
    Message,
    SuggestedMemory,
    Tombstone,
)

_Row = TypeVar("_Row")

PAGE = 500  # rows


def ordered_capture_ids(session: ReadSession, account_id: str) -> list[str]:
    """In the order in which they came in; it depends on their content alone, so that an archive
    of an archive has the same."""
    query = select(Capture.id).where(Capture.account_id == account_id)
    return list(
        session.scalars(
            query.order_by(
                Capture.captured_at, Capture.platform, Capture.external_id, Capture.content_hash
            )
        )
    )


def ordered_companion_ids(session: ReadSession, account_id: str) -> list[str]:
    """As captures are ordered."""
    query = select(Companion.id).where(Companion.account_id == account_id)
    return list(
        session.scalars(
            query.order_by(
                Companion.captured_at,
                Companion.reader,
                Companion.external_id,
                Companion.content_hash,
            )
        )
    )


def ordered_conversation_ids(session: ReadSession, account_id: str) -> list[str]:
    query = select(Conversation.id).where(Conversation.account_id == account_id)
    return list(session.scalars(query.order_by(Conversation.platform, Conversation.external_id)))


def get_own_conversation(
    session: ReadSession, account_id: str, conversation_id: str
) -> Conversation | None:
    """None for an id that does not exist and for another account's alike."""
    found = session.get(Conversation, conversation_id)
    return found if found is not None and found.account_id == account_id else None


def get_companion(session: ReadSession, account_id: str, companion_id: str) -> Companion | None:
    """None for an id that does not exist and for another account's alike."""
    companion = session.get(Companion, companion_id)
    return companion if companion is not None and companion.account_id == account_id else None


def tombstones_page(session: ReadSession, account_id: str, place: int) -> list[Tombstone]:
    """Those from `place` on, a page of them; an empty page is the end. So are all pages here."""
    query = select(Tombstone).where(Tombstone.account_id == account_id)
    return _page(session, query.order_by(Tombstone.platform, Tombstone.external_id), place)


def buckets_page(session: ReadSession, account_id: str, place: int) -> list[Bucket]:
    query = select(Bucket).where(Bucket.account_id == account_id)
    return _page(session, query.order_by(Bucket.name), place)


def memories_page(session: ReadSession, account_id: str, place: int) -> list[Memory]:
    """Those that hold first, then the superseded ones, the latest first: so each comes after what
    took its place."""
    query = select(Memory).where(Memory.account_id == account_id)
    ordered = query.order_by(
        Memory.superseded_by.is_not(None),
        Memory.superseded_at.desc(),
        Memory.created_at,
        Memory.text,
        Memory.bucket_id,
    )
    return _page(session, ordered, place)


def memory_places(
    session: ReadSession, account_id: str, memory_ids: Collection[str]
) -> dict[str, tuple[str, str, str]]:
    """By memory: platform, and the platform's ids of the conversation and the message that it was
    said in. Those that lead nowhere are left out."""
    query = (
        select(Memory.id, Conversation.platform, Conversation.external_id, Message.external_id)
        .join(Conversation, Conversation.id == Memory.conversation_id)
        .outerjoin(Message, Message.id == Memory.message_id)
        .where(Memory.account_id == account_id, Memory.id.in_(list(memory_ids)))
    )
    return {row[0]: (row[1], row[2], row[3] or "") for row in session.execute(query)}


def has_former_memory(
    session: ReadSession, account_id: str, bucket_id: int, text: str, superseded_at: datetime
) -> bool:
    """Whether the bucket has this very version of a fact that has changed."""
    query = select(Memory.id).where(
        Memory.account_id == account_id,
        Memory.bucket_id == bucket_id,
        Memory.text == text,
        Memory.superseded_at == superseded_at,
    )
    return session.scalar(query.limit(1)) is not None


def memory_with_text(
    session: ReadSession, account_id: str, bucket_id: int, text: str
) -> Memory | None:
    """The one of the bucket with just this text, superseded or not; the newest of several."""
    query = select(Memory).where(
        Memory.account_id == account_id, Memory.bucket_id == bucket_id, Memory.text == text
    )
    return session.scalar(query.order_by(Memory.created_at.desc()).limit(1))


def suggestions_page(
    session: ReadSession, account_id: str, place: int
) -> list[tuple[SuggestedMemory, str, str]]:
    """With the platform's ids of the conversation and the message that each was said in."""
    query = (
        select(SuggestedMemory, Conversation.external_id, Message.external_id)
        .outerjoin(Conversation, Conversation.id == SuggestedMemory.conversation_id)
        .outerjoin(Message, Message.id == SuggestedMemory.message_id)
        .where(SuggestedMemory.account_id == account_id)
        .order_by(SuggestedMemory.platform, SuggestedMemory.text_hash)
        .offset(place)
        .limit(PAGE)
    )
    return [(row[0], row[1] or "", row[2] or "") for row in session.execute(query)]


def suggestion_of(
    session: ReadSession, account_id: str, platform: str, text_hash: str
) -> SuggestedMemory | None:
    """The suggestion of the platform whose folded text has this hash."""
    query = select(SuggestedMemory).where(
        SuggestedMemory.account_id == account_id,
        SuggestedMemory.platform == platform,
        SuggestedMemory.text_hash == text_hash,
    )
    return session.scalar(query)


def message_ids(
    session: ReadSession, account_id: str, platform: str, external_id: str, message: str
) -> tuple[str | None, str | None]:
    """Ids of a conversation and of a message in it, by the platform's ids; None for what is not
    here."""
    query = select(Conversation.id).where(
        Conversation.account_id == account_id,
        Conversation.platform == platform,
        Conversation.external_id == external_id,
    )
    conversation_id = session.scalar(query)
    if conversation_id is None or not message:
        return conversation_id, None
    within = select(Message.id).where(
        Message.conversation_id == conversation_id, Message.external_id == message
    )
    return conversation_id, session.scalar(within)


def memory_saying(session: ReadSession, account_id: str, text_hash: str) -> str | None:
    """The id of a memory, in any bucket, whose folded text has this hash."""
    query = select(Memory.id).where(Memory.account_id == account_id, Memory.text_hash == text_hash)
    return session.scalar(query.order_by(Memory.id).limit(1))


def bucket_names(session: ReadSession, account_id: str) -> dict[int, str]:
    """Names of all buckets by their ids."""
    query = select(Bucket.id, Bucket.name).where(Bucket.account_id == account_id)
    return {row.id: row.name for row in session.execute(query)}


def bucket_named(session: ReadSession, account_id: str, name: str) -> Bucket | None:
    query = select(Bucket).where(Bucket.account_id == account_id, Bucket.name == name)
    return session.scalar(query)


def has_default_bucket(session: ReadSession, account_id: str) -> bool:
    query = select(Bucket.id).where(Bucket.account_id == account_id, Bucket.is_default.is_(True))
    return session.scalar(query.limit(1)) is not None


def has_conversation(
    session: ReadSession, account_id: str, platform: str, external_id: str
) -> bool:
    query = select(Conversation.id).where(
        Conversation.account_id == account_id,
        Conversation.platform == platform,
        Conversation.external_id == external_id,
    )
    return session.scalar(query) is not None


def _page(session: ReadSession, query: Select[_Row], place: int) -> list[_Row]:
    return list(session.scalars(query.offset(place).limit(PAGE)))
