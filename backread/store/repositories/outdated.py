"""Conversations that an older release has read, with a parser that has learnt more since."""

from collections.abc import Mapping, Sequence

from sqlalchemy import ColumnElement, and_, func, or_, select, update

from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Capture, Conversation


def count_outdated(session: ReadSession, account_id: str, versions: Mapping[str, int]) -> int:
    """`versions`: today's version of each parser, by the slug that captures name it with."""
    query = select(func.count()).select_from(Conversation)
    return session.scalar(query.join(*_CAPTURE).where(_is_outdated(account_id, versions))) or 0


def outdated_conversations(
    session: ReadSession,
    account_id: str,
    versions: Mapping[str, int],
    *,
    after: str = "",
    limit: int,
) -> list[str]:
    """Their ids, in order. Page with `after` = the last one."""
    query = (
        select(Conversation.id)
        .join(*_CAPTURE)
        .where(_is_outdated(account_id, versions), Conversation.id > after)
        .order_by(Conversation.id)
        .limit(limit)
    )
    return list(session.scalars(query))


def mark_read(session: WriteSession, ids: Sequence[str], versions: Mapping[str, int]) -> None:
    """Notes that today's parsers have seen these conversations, whatever came of it."""
    for slug, version in versions.items():
        captures = select(Capture.id).where(
            Capture.conversation_id.in_(ids), Capture.importer == slug
        )
        session.execute(
            update(Conversation)
            .where(
                Conversation.id.in_(ids),
                Conversation.capture_id.in_(captures),
                Conversation.parser_version < version,
            )
            .values(parser_version=version)
            .execution_options(synchronize_session=False)
        )


_CAPTURE = (Capture, Capture.id == Conversation.capture_id)


def _is_outdated(account_id: str, versions: Mapping[str, int]) -> ColumnElement[bool]:
    return and_(
        Conversation.account_id == account_id,
        Conversation.parser_version < max(versions.values()),
        or_(
            *(
                and_(Capture.importer == slug, Conversation.parser_version < version)
                for slug, version in versions.items()
            )
        ),
    )
