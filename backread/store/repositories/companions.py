"""Companions: what exports hold beside conversations, raw."""

from collections.abc import Iterator
from datetime import datetime
from typing import TypedDict

from sqlalchemy import insert, select, update

from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Companion


class CompanionRow(TypedDict):
    id: str
    account_id: str
    reader: str
    reader_version: int
    external_id: str
    content_hash: str
    codec: str
    body: bytes
    raw_bytes: int
    import_id: str | None
    captured_at: datetime


def known_version(
    session: ReadSession, account_id: str, reader: str, external_id: str, content_hash: str
) -> int | None:
    """The version of the reader that has read these very bytes last; None when nobody has."""
    return session.scalar(
        select(Companion.reader_version).where(
            Companion.account_id == account_id,
            Companion.reader == reader,
            Companion.external_id == external_id,
            Companion.content_hash == content_hash,
        )
    )


def insert_companion(session: WriteSession, row: CompanionRow) -> None:
    session.execute(insert(Companion), [dict(row)])


def note_reader_version(
    session: WriteSession, account_id: str, reader: str, content_hash: str, version: int
) -> None:
    """Notes that these bytes were read again by a newer reader."""
    session.execute(
        update(Companion)
        .where(
            Companion.account_id == account_id,
            Companion.reader == reader,
            Companion.content_hash == content_hash,
        )
        .values(reader_version=version)
    )


def companions_of(session: ReadSession, account_id: str) -> Iterator[Companion]:
    """The account's companions in the order they came in, one in memory at a time."""
    query = (
        select(Companion.id)
        .where(Companion.account_id == account_id)
        .order_by(Companion.captured_at, Companion.id)
    )
    for companion_id in session.scalars(query).all():
        companion = session.get(Companion, companion_id)
        if companion is not None:
            yield companion
            session.expunge(companion)
