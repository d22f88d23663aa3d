"""Suggested memories: what platforms remember, and what their owner decided about each."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from backread.domain import Principal
from backread.identity import new_id
from backread.store.base import utcnow
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Conversation, Document, Memory, SuggestedMemory
from backread.store.repositories.chunks import chunks


class SuggestionRow(TypedDict):
    account_id: str
    platform: str
    text: str
    text_hash: str
    source: str
    project_external_id: str
    conversation_id: str | None
    message_id: str | None
    occurred_at: datetime | None
    import_id: str | None


@dataclass(frozen=True, slots=True)
class SuggestionFilter:
    """Empty fields do not filter."""

    state: str = "open"  # open | accepted | dismissed
    platform: str = ""
    import_id: str = ""


@dataclass(frozen=True, slots=True)
class ListedSuggestion:
    """A suggestion with the names of what it came from; empty when that is gone or unknown."""

    suggestion: SuggestedMemory
    conversation_title: str | None  # None without a conversation
    project: str
    memory_text: str  # of the memory that it became


def known_statements(
    session: ReadSession, account_id: str, platform: str, hashes: Collection[str]
) -> set[str]:
    """Those of the hashes that were suggested before, whatever became of it, or that are the
    account's memories already."""
    known: set[str] = set()
    suggested = select(SuggestedMemory.text_hash).where(
        SuggestedMemory.account_id == account_id, SuggestedMemory.platform == platform
    )
    stored = select(Memory.text_hash).where(Memory.account_id == account_id)
    for some in chunks(sorted(hashes)):
        known.update(session.scalars(suggested.where(SuggestedMemory.text_hash.in_(some))))
        known.update(session.scalars(stored.where(Memory.text_hash.in_(some))))
    return known


def insert_suggestions(session: WriteSession, rows: Sequence[SuggestionRow]) -> None:
    """Those that another process has suggested since `known_statements` was asked are left out."""
    if rows:
        now = utcnow()
        is_sqlite = session.get_bind().dialect.name == "sqlite"
        insert = sqlite.insert if is_sqlite else postgresql.insert
        session.execute(
            insert(SuggestedMemory).on_conflict_do_nothing(),
            [{**row, "id": new_id(), "state": "open", "created_at": now} for row in rows],
        )


def count_suggestions(
    session: ReadSession, principal: Principal, wanted: SuggestionFilter
) -> dict[str, int]:
    """How many the filter leaves, by platform."""
    query = (
        select(SuggestedMemory.platform, func.count())
        .where(*_conditions(principal, wanted))
        .group_by(SuggestedMemory.platform)
        .order_by(SuggestedMemory.platform)
    )
    return {row[0]: row[1] for row in session.execute(query)}


def list_suggestions(
    session: ReadSession,
    principal: Principal,
    wanted: SuggestionFilter,
    *,
    offset: int = 0,
    limit: int = 50,
) -> list[ListedSuggestion]:
    """By platform and source, the newest statements first."""
    query = (
        select(SuggestedMemory, Conversation.title, Memory.text)
        .outerjoin(Conversation, Conversation.id == SuggestedMemory.conversation_id)
        .outerjoin(Memory, Memory.id == SuggestedMemory.memory_id)
        .where(*_conditions(principal, wanted))
        .order_by(
            SuggestedMemory.platform,
            SuggestedMemory.source,
            SuggestedMemory.project_external_id,
            func.coalesce(SuggestedMemory.occurred_at, SuggestedMemory.created_at).desc(),
            SuggestedMemory.id,
        )
        .offset(offset)
        .limit(limit)
    )
    rows = session.execute(query).all()
    projects = _projects(session, principal, {row[0].project_external_id for row in rows} - {""})
    return [
        ListedSuggestion(
            suggestion, title, projects.get(suggestion.project_external_id, ""), memory or ""
        )
        for suggestion, title, memory in rows
    ]


def suggestions_by_id(
    session: ReadSession, principal: Principal, ids: Collection[str]
) -> dict[str, SuggestedMemory]:
    """Those of the ids that exist and are the account's."""
    found: dict[str, SuggestedMemory] = {}
    query = select(SuggestedMemory).where(SuggestedMemory.account_id == principal.account_id)
    for some in chunks(sorted(ids)):
        for row in session.scalars(query.where(SuggestedMemory.id.in_(some))):
            found[row.id] = row
    return found


def note_accepted(
    session: WriteSession, principal: Principal, suggestion_id: str, memory_id: str
) -> None:
    """Notes which memory a suggestion has become."""
    session.execute(
        update(SuggestedMemory)
        .where(
            SuggestedMemory.account_id == principal.account_id, SuggestedMemory.id == suggestion_id
        )
        .values(state="accepted", memory_id=memory_id, decided_at=utcnow())
        .execution_options(synchronize_session=False)
    )


def move_suggestions(
    session: WriteSession, principal: Principal, ids: Collection[str], *, of: str, to: str
) -> int:
    """Gives those of the ids that are in state `of` the state `to`; returns how many."""
    moved = 0
    for some in chunks(sorted(ids)):
        result = session.execute(
            update(SuggestedMemory)
            .where(
                SuggestedMemory.account_id == principal.account_id,
                SuggestedMemory.state == of,
                SuggestedMemory.id.in_(some),
            )
            .values(state=to, decided_at=None if to == "open" else utcnow())
            .returning(SuggestedMemory.id)
        )
        moved += len(result.all())
    return moved


def _conditions(principal: Principal, wanted: SuggestionFilter) -> list[ColumnElement[bool]]:
    conditions = [
        SuggestedMemory.account_id == principal.account_id,
        SuggestedMemory.state == wanted.state,
    ]
    if wanted.platform:
        conditions.append(SuggestedMemory.platform == wanted.platform)
    if wanted.import_id:
        conditions.append(SuggestedMemory.import_id == wanted.import_id)
    return conditions


def _projects(session: ReadSession, principal: Principal, ids: Collection[str]) -> dict[str, str]:
    """Names of projects by the platform's id, as far as their documents tell."""
    if not ids:
        return {}
    query = (
        select(Document.project_external_id, func.max(Document.project))
        .where(
            Document.account_id == principal.account_id,
            Document.project_external_id.in_(sorted(ids)),
        )
        .group_by(Document.project_external_id)
    )
    return {row[0]: row[1] for row in session.execute(query)}
