"""What the search index lacks, beyond the words of passages (`passages.py`)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, func, or_, select, update

from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Memory, Passage
from backread.store.repositories.chunks import chunks
from backread.store.repositories.passages import (
    PASSAGES_TO_INDEX,
    PassageToIndex,
    is_of,
    passage_to_index,
)


@dataclass(frozen=True, slots=True)
class MemoryToIndex:
    """What the index needs of a memory. `updated_at` tells whether it was changed meanwhile."""

    point_id: int
    bucket_id: int
    text: str
    created_at: datetime
    updated_at: datetime


def accounts_to_index(session: ReadSession, *, lexical: str, dense: str, memories: str) -> set[str]:
    """Accounts with a passage or a memory that the index does not have under these signatures."""
    stale_passages = select(Passage.account_id).where(
        or_(Passage.lexical_with != lexical, Passage.dense_with != dense)
    )
    stale_memories = select(Memory.account_id).where(Memory.dense_with != memories)
    return {
        *session.scalars(stale_passages.distinct()),
        *session.scalars(stale_memories.distinct()),
    }


def passage_ids_to_embed(
    session: ReadSession, account_id: str, *, lexical: str, dense: str, limit: int
) -> list[int]:
    """Passages whose words are indexed under `lexical` and whose vector is not under `dense`,
    newest first; those without a time come last."""
    query = (
        select(Passage.id)
        .where(*_to_embed(account_id, dense), Passage.lexical_with == lexical)
        .order_by(Passage.occurred_at.is_(None), Passage.occurred_at.desc(), Passage.id.desc())
        .limit(limit)
    )
    return list(session.scalars(query))


def count_to_embed(session: ReadSession, account_id: str, *, dense: str) -> int:
    """Passages whose vector is not indexed under `dense`, whether their words are or not."""
    query = select(func.count()).where(*_to_embed(account_id, dense))
    return session.scalars(query).one()


def _to_embed(account_id: str, dense: str) -> tuple[ColumnElement[bool], ...]:
    return Passage.account_id == account_id, Passage.dense_with != dense


def passages_by_id(
    session: ReadSession, account_id: str, ids: Sequence[int]
) -> list[PassageToIndex]:
    """Those of the passages that are still there, in the order of `ids`."""
    found: dict[int, PassageToIndex] = {}
    for some in chunks(ids):
        query = PASSAGES_TO_INDEX.where(Passage.id.in_(some), is_of(account_id))
        for row in session.execute(query):
            found[row.id] = passage_to_index(row)
    return [found[each] for each in ids if each in found]


def gone_passages(session: ReadSession, ids: Sequence[int]) -> list[int]:
    """Those of the ids that no passage has any more."""
    there: set[int] = set()
    for some in chunks(ids):
        there.update(session.scalars(select(Passage.id).where(Passage.id.in_(some))))
    return [each for each in ids if each not in there]


def memories_to_index(
    session: ReadSession, account_id: str, signature: str, *, limit: int
) -> list[MemoryToIndex]:
    """Memories that the index does not have under `signature`, newest first."""
    query = (
        select(Memory)
        .where(Memory.account_id == account_id, Memory.dense_with != signature)
        .order_by(Memory.created_at.desc(), Memory.point_id.desc())
        .limit(limit)
    )
    return [
        MemoryToIndex(row.point_id, row.bucket_id, row.text, row.created_at, row.updated_at)
        for row in session.scalars(query)
    ]


def mark_memories_embedded(
    session: WriteSession, memories: Sequence[MemoryToIndex], signature: str
) -> None:
    """Notes that the index has these memories. One that was changed meanwhile is passed over, so
    it is indexed again."""
    for memory in memories:
        session.execute(
            update(Memory)
            .where(Memory.point_id == memory.point_id, Memory.updated_at == memory.updated_at)
            .values(dense_with=signature)
            .execution_options(synchronize_session=False)
        )


def forget_memories(session: WriteSession, account_id: str) -> None:
    """Notes that the index has none of the account's memories, so that all are indexed again."""
    session.execute(
        update(Memory)
        .where(Memory.account_id == account_id)
        .values(dense_with="")
        .execution_options(synchronize_session=False)
    )


def gone_memories(session: ReadSession, point_ids: Sequence[int]) -> list[int]:
    """Those of the point ids that no memory has any more."""
    there: set[int] = set()
    for some in chunks(point_ids):
        there.update(session.scalars(select(Memory.point_id).where(Memory.point_id.in_(some))))
    return [each for each in point_ids if each not in there]


def forget_index(session: WriteSession, account_id: str) -> None:
    """Notes that the index has nothing of the account, so that all of it is indexed again."""
    session.execute(
        update(Passage)
        .where(Passage.account_id == account_id)
        .values(lexical_with="", dense_with="")
        .execution_options(synchronize_session=False)
    )
    forget_memories(session, account_id)
