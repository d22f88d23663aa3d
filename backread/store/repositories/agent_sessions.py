"""Conversations of coding agents as sessions, and what was read out of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, delete, func, or_, select

from backread.domain import Platform
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import AgentSession, Conversation, Memory, Message

AGENT_PLATFORMS = tuple(
    each.value
    for each in (
        Platform.CLAUDE_CODE,
        Platform.CODEX,
        Platform.CURSOR,
        Platform.GEMINI_CLI,
        Platform.COPILOT_CLI,
        Platform.VSCODE_COPILOT,
    )
)
_PAGE = 500


@dataclass(frozen=True, slots=True)
class ReadSessionRow:
    """A digest with what its conversation says of itself."""

    conversation_id: str
    project: str
    is_subagent: bool
    body: dict[str, Any]
    title: str
    platform: str
    first_at: datetime | None
    last_at: datetime | None


def sessions_to_read(
    session: ReadSession, account_id: str, made_with: str, *, limit: int
) -> Sequence[Conversation]:
    """Agents' conversations that are new or have changed, or that another maker read."""
    query = (
        select(Conversation)
        .outerjoin(AgentSession, AgentSession.conversation_id == Conversation.id)
        .where(_is_agents(account_id), _is_outdated(made_with))
        .order_by(Conversation.id)
        .limit(limit)
    )
    return session.scalars(query).all()


def accounts_with_sessions_to_read(session: ReadSession, made_with: str) -> list[str]:
    query = (
        select(Conversation.account_id)
        .outerjoin(AgentSession, AgentSession.conversation_id == Conversation.id)
        .where(Conversation.platform.in_(AGENT_PLATFORMS), _is_outdated(made_with))
    )
    return sorted(session.scalars(query.distinct()))


def messages_of_session(
    session: ReadSession, conversation_id: str, *, most: int
) -> Iterator[Message]:
    """Messages of the shown line in their order, at most so many, a page in memory at a time."""
    after = -1
    while most > 0:
        page = session.scalars(
            select(Message)
            .where(
                Message.conversation_id == conversation_id,
                Message.on_shown_line.is_(True),
                Message.position > after,
            )
            .order_by(Message.position)
            .limit(min(_PAGE, most))
        ).all()
        yield from page
        if len(page) < _PAGE:
            return
        after, most = page[-1].position, most - len(page)
        session.expunge_all()


def replace_session(session: WriteSession, row: AgentSession) -> None:
    """Keeps the digest in the place of a former one, with whose graph it goes."""
    session.execute(delete(AgentSession).where(AgentSession.conversation_id == row.conversation_id))
    session.add(row)
    session.flush()


def sessions_of(
    session: ReadSession, account_id: str, projects: Sequence[str]
) -> list[ReadSessionRow]:
    """Read sessions of these projects, the latest first."""
    query = _rows(account_id).where(AgentSession.project.in_(projects))
    return [ReadSessionRow(*row) for row in session.execute(query)]


def latest_sessions(
    session: ReadSession, account_id: str, projects: Sequence[str], *, limit: int
) -> list[ReadSessionRow]:
    """The same, and no part of another session."""
    query = _rows(account_id).where(
        AgentSession.project.in_(projects), AgentSession.is_subagent.is_(False)
    )
    return [ReadSessionRow(*row) for row in session.execute(query.limit(limit))]


def project_folders(
    session: ReadSession, account_id: str
) -> list[tuple[str, int, datetime | None]]:
    """Every project with its number of sessions and when it was worked on last, the latest first.
    Sessions that name no folder belong to none."""
    last = func.max(Conversation.last_message_at)
    rows = session.execute(
        select(AgentSession.project, func.count(), last)
        .join(Conversation, Conversation.id == AgentSession.conversation_id)
        .where(
            AgentSession.account_id == account_id,
            AgentSession.project != "",
            AgentSession.is_subagent.is_(False),
        )
        .group_by(AgentSession.project)
    )
    found = [(project, count, moment) for project, count, moment in rows]
    return sorted(found, key=lambda row: (row[2] is not None, row[2], row[0]), reverse=True)


def count_sessions(session: ReadSession, account_id: str) -> int:
    """Conversations of agents, read or not, without those of subagents."""
    query = (
        select(func.count())
        .select_from(Conversation)
        .outerjoin(AgentSession, AgentSession.conversation_id == Conversation.id)
        .where(
            _is_agents(account_id),
            or_(AgentSession.is_subagent.is_(None), AgentSession.is_subagent.is_(False)),
        )
    )
    return session.scalars(query).one()


def count_memories(session: ReadSession, account_id: str) -> int:
    return session.scalars(select(func.count()).where(Memory.account_id == account_id)).one()


def latest_memories(session: ReadSession, account_id: str, *, limit: int) -> Sequence[Memory]:
    """Memories that were stored or used last, those that still hold."""
    touched = func.coalesce(Memory.used_at, Memory.created_at)
    query = (
        select(Memory)
        .where(Memory.account_id == account_id, Memory.superseded_by.is_(None))
        .order_by(touched.desc(), Memory.id.desc())
        .limit(limit)
    )
    return session.scalars(query).all()


def _rows(account_id: str) -> Any:
    return (
        select(
            AgentSession.conversation_id,
            AgentSession.project,
            AgentSession.is_subagent,
            AgentSession.body,
            Conversation.title,
            Conversation.platform,
            func.coalesce(Conversation.first_message_at, Conversation.created_at),
            Conversation.last_message_at,
        )
        .join(Conversation, Conversation.id == AgentSession.conversation_id)
        .where(AgentSession.account_id == account_id)
        .order_by(
            Conversation.last_message_at.is_(None),
            Conversation.last_message_at.desc(),
            Conversation.id.desc(),
        )
    )


def _is_agents(account_id: str) -> ColumnElement[bool]:
    return and_(Conversation.account_id == account_id, Conversation.platform.in_(AGENT_PLATFORMS))


def _is_outdated(made_with: str) -> ColumnElement[bool]:
    return or_(
        AgentSession.conversation_id.is_(None),
        AgentSession.made_with != made_with,
        AgentSession.source_changed_at != Conversation.changed_at,
    )
