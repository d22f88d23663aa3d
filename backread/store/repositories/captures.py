"""Raw captures and tombstones: what came in, and what its owner wants to stay out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict

from sqlalchemy import func, insert, select

from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Capture, Tombstone
from backread.store.repositories.chunks import chunks


class CaptureRow(TypedDict):
    id: str
    account_id: str
    platform: str
    external_id: str
    conversation_id: str
    content_hash: str
    importer: str
    codec: str
    body: bytes
    raw_bytes: int
    import_id: str | None
    captured_at: datetime


@dataclass(frozen=True, slots=True)
class KnownCaptures:
    """What is stored of one conversation: its id, and each capture's id by content hash."""

    conversation_id: str
    by_hash: Mapping[str, str]


def known_captures(
    session: ReadSession, account_id: str, platform: str, external_ids: Sequence[str]
) -> dict[str, KnownCaptures]:
    """By the platform's id; conversations never captured are absent."""
    found: dict[str, tuple[str, dict[str, str]]] = {}
    query = select(
        Capture.external_id, Capture.conversation_id, Capture.content_hash, Capture.id
    ).where(Capture.account_id == account_id, Capture.platform == platform)
    for some in chunks(external_ids):
        for row in session.execute(query.where(Capture.external_id.in_(some))):
            _, by_hash = found.setdefault(row.external_id, (row.conversation_id, {}))
            by_hash[row.content_hash] = row.id
    return {key: KnownCaptures(*value) for key, value in found.items()}


def last_captured_at(
    session: ReadSession, account_id: str, conversation_id: str
) -> datetime | None:
    """When a conversation was captured last; None when it never was."""
    query = select(func.max(Capture.captured_at)).where(
        Capture.account_id == account_id, Capture.conversation_id == conversation_id
    )
    return session.scalar(query)


def insert_captures(session: WriteSession, rows: Sequence[CaptureRow]) -> None:
    if rows:
        session.execute(insert(Capture), [dict(row) for row in rows])


def captured_conversations(
    session: ReadSession, account_id: str, *, after: str = "", limit: int = 500
) -> list[str]:
    """Ids of conversations that have captures, in order. Page with `after` = the last one."""
    query = (
        select(Capture.conversation_id)
        .where(Capture.account_id == account_id, Capture.conversation_id > after)
        .distinct()
        .order_by(Capture.conversation_id)
        .limit(limit)
    )
    return list(session.scalars(query))


def captures_of(session: ReadSession, account_id: str, conversation_id: str) -> Iterator[Capture]:
    """A conversation's captures in the order they came in, one in memory at a time."""
    query = (
        select(Capture.id)
        .where(Capture.account_id == account_id, Capture.conversation_id == conversation_id)
        .order_by(Capture.captured_at, Capture.id)
    )
    for capture_id in session.scalars(query).all():
        capture = session.get(Capture, capture_id)
        if capture is not None:
            yield capture
            session.expunge(capture)


def capture_ids(session: ReadSession, account_id: str) -> list[str]:
    return list(
        session.scalars(
            select(Capture.id).where(Capture.account_id == account_id).order_by(Capture.id)
        )
    )


def get_capture(session: ReadSession, account_id: str, capture_id: str) -> Capture | None:
    """None for an id that does not exist and for another account's alike."""
    capture = session.get(Capture, capture_id)
    return capture if capture is not None and capture.account_id == account_id else None


def tombstoned(
    session: ReadSession, account_id: str, platform: str, external_ids: Sequence[str]
) -> set[str]:
    """Those of the ids whose conversations the owner has deleted."""
    found: set[str] = set()
    query = select(Tombstone.external_id).where(
        Tombstone.account_id == account_id, Tombstone.platform == platform
    )
    for some in chunks(external_ids):
        found.update(session.scalars(query.where(Tombstone.external_id.in_(some))))
    return found
