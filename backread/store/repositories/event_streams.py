"""Queries of open event streams and of the replies that wait for them."""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import delete, select, update

from backread.domain import Principal
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import EventStream, StreamReply


def find_stream(session: ReadSession, principal: Principal, stream_id: str) -> EventStream | None:
    """An open stream of the same account and client; somebody else's counts as none."""
    return session.scalar(
        select(EventStream).where(
            EventStream.id == stream_id,
            EventStream.account_id == principal.account_id,
            EventStream.client_id == (principal.client_id or ""),
        )
    )


def has_replies(session: ReadSession, stream_ids: Collection[str]) -> bool:
    statement = select(StreamReply.id).where(StreamReply.stream_id.in_(stream_ids)).limit(1)
    return session.scalar(statement) is not None


def take_replies(session: WriteSession, stream_ids: Collection[str]) -> list[tuple[str, str]]:
    """Removes the replies of these streams and returns them, oldest first: stream id and body."""
    replies = session.scalars(
        select(StreamReply).where(StreamReply.stream_id.in_(stream_ids)).order_by(StreamReply.id)
    ).all()
    session.execute(delete(StreamReply).where(StreamReply.id.in_([reply.id for reply in replies])))
    return [(reply.stream_id, reply.body) for reply in replies]


def mark_seen(
    session: WriteSession, stream_ids: Collection[str], *, now: datetime
) -> frozenset[str]:
    """Notes that these streams are open still. Returns those that are known: the others were
    removed, because their process had been silent for too long or their account is gone."""
    session.execute(update(EventStream).where(EventStream.id.in_(stream_ids)).values(seen_at=now))
    return frozenset(session.scalars(select(EventStream.id).where(EventStream.id.in_(stream_ids))))


def delete_streams(session: WriteSession, stream_ids: Collection[str]) -> None:
    session.execute(delete(EventStream).where(EventStream.id.in_(stream_ids)))


def delete_silent_streams(session: WriteSession, *, seen_before: datetime) -> None:
    """Forgets streams whose process ended without saying so."""
    session.execute(delete(EventStream).where(EventStream.seen_at < seen_before))
