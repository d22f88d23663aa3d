"""Points that the search index still has to forget.

A row here is written in the transaction that removes the passage or memory, so a crash between
that commit and the index's own deletion loses nothing: the next run of indexing deletes them.
"""

from collections.abc import Sequence

from sqlalchemy import delete, insert, select, tuple_

from backread.store.engine import ReadSession, WriteSession
from backread.store.models import IndexRemoval


def record_removals(
    session: WriteSession, account_id: str, collection: str, point_ids: Sequence[int]
) -> None:
    """Asks for the points' removal. Point ids are never used twice, so none is asked twice."""
    if point_ids:
        session.execute(
            insert(IndexRemoval),
            [
                {"collection": collection, "point_id": each, "account_id": account_id}
                for each in point_ids
            ],
        )


def pending_removals(
    session: ReadSession, account_id: str, collection: str, *, limit: int = 5000
) -> list[int]:
    """Point ids that the index should delete now. Deleting one that it lacks is harmless."""
    return list(
        session.scalars(
            select(IndexRemoval.point_id)
            .where(IndexRemoval.account_id == account_id, IndexRemoval.collection == collection)
            .limit(limit)
        )
    )


def confirm_removals(session: WriteSession, collection: str, point_ids: Sequence[int]) -> None:
    """Forgets removals that the index has carried out."""
    for start in range(0, len(point_ids), 500):
        pairs = [(collection, each) for each in point_ids[start : start + 500]]
        session.execute(
            delete(IndexRemoval)
            .where(tuple_(IndexRemoval.collection, IndexRemoval.point_id).in_(pairs))
            .execution_options(synchronize_session=False)
        )
