"""Queries that take one conversation away, and count what went."""

from sqlalchemy import delete, func, select, update

from backread.store.base import Base
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import (
    Capture,
    Conversation,
    ForgottenMemory,
    ImportItem,
    Memory,
    Overview,
    SuggestedMemory,
    Tombstone,
)


def identities(session: ReadSession, conversation: Conversation) -> set[tuple[str, str]]:
    """Every (platform, platform's id) under which the conversation ever came in."""
    rows = session.execute(
        select(Capture.platform, Capture.external_id)
        .where(
            Capture.account_id == conversation.account_id,
            Capture.conversation_id == conversation.id,
        )
        .distinct()
    )
    return {(row.platform, row.external_id) for row in rows} | {
        (conversation.platform, conversation.external_id)
    }


def add_tombstones(session: WriteSession, account_id: str, found: set[tuple[str, str]]) -> None:
    """From here on no import takes these in."""
    for platform, external_id in sorted(found):
        if session.get(Tombstone, (account_id, platform, external_id)) is None:
            session.add(
                Tombstone(account_id=account_id, platform=platform, external_id=external_id)
            )
    session.flush()


def count_dependents(session: ReadSession, conversation_id: str) -> dict[str, int]:
    """Rows that go with the conversation by the database's own rule, by table: of every table that
    refers to it, those without any as well."""
    counts: dict[str, int] = {}
    for table in Base.metadata.sorted_tables:
        for key in table.foreign_keys:
            if key.column.table.name == "conversations" and key.ondelete == "CASCADE":
                query = select(func.count()).select_from(table).where(key.parent == conversation_id)
                counts[table.name] = session.scalars(query).one()
    return counts


def delete_captures(session: WriteSession, account_id: str, conversation_id: str) -> int:
    """The raw forms; returns how many they were."""
    conditions = (Capture.account_id == account_id, Capture.conversation_id == conversation_id)
    count = session.scalars(select(func.count()).select_from(Capture).where(*conditions)).one()
    session.execute(delete(Capture).where(*conditions).execution_options(synchronize_session=False))
    return count


def delete_suggestions(session: WriteSession, account_id: str, conversation_id: str) -> int:
    """Suggestions that came from the conversation and were not accepted go; accepted ones are
    memories now, and forget where they were said. Returns how many went."""
    here = (
        SuggestedMemory.account_id == account_id,
        SuggestedMemory.conversation_id == conversation_id,
    )
    not_kept = (*here, SuggestedMemory.state != "accepted")
    query = select(func.count()).select_from(SuggestedMemory).where(*not_kept)
    count = session.scalars(query).one()
    options = {"synchronize_session": False}
    session.execute(delete(SuggestedMemory).where(*not_kept).execution_options(**options))
    session.execute(
        update(SuggestedMemory)
        .where(*here)
        .values(conversation_id=None, message_id=None)
        .execution_options(**options)
    )
    return count


def unlink_memories(session: WriteSession, account_id: str, conversation_id: str) -> int:
    """Memories that were said there stay, without the way back. Returns how many there are."""
    count = 0
    options = {"synchronize_session": False}
    for model in (Memory, ForgottenMemory):
        conditions = (model.account_id == account_id, model.conversation_id == conversation_id)
        query = select(func.count()).select_from(model).where(*conditions)
        count += session.scalars(query).one()
        session.execute(
            update(model)
            .where(*conditions)
            .values(conversation_id=None, message_id=None)
            .execution_options(**options)
        )
    return count


def clear_import_items(session: WriteSession, conversation_id: str) -> int:
    """Import reports keep their counts and lose the title. Returns how many lines had it."""
    conditions = (ImportItem.conversation_id == conversation_id,)
    query = select(func.count()).select_from(ImportItem).where(*conditions)
    count = session.scalars(query).one()
    session.execute(
        update(ImportItem)
        .where(*conditions)
        .values(title="", conversation_id=None)
        .execution_options(synchronize_session=False)
    )
    return count


def delete_portrait(session: WriteSession, account_id: str) -> int:
    """What the overview says of the person, part of it perhaps from the conversation. It is made
    again from what is left. Returns how many there were."""
    condition = Overview.account_id == account_id
    count = session.scalars(select(func.count()).select_from(Overview).where(condition)).one()
    session.execute(delete(Overview).where(condition).execution_options(synchronize_session=False))
    return count
