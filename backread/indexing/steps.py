"""The steps that bring rows into the index and take them out. Each may be repeated."""

from collections.abc import Sequence

from backread.errors import Unavailable
from backread.indexing.asking import enqueue_embedding
from backread.indexing.vectors import VectorWriter, point_of
from backread.kernel import Kernel
from backread.store.repositories.indexed import (
    KINDS,
    IndexedKind,
    forget_indexed,
    gone_points,
    mark_words,
    rows_without_words,
)
from backread.store.repositories.removals import confirm_removals, pending_removals
from backread.vectors.index import Collection

_WORDS_BATCH = 5_000
_REMOVAL_BATCH = 5_000


def index_words(kernel: Kernel, kind: IndexedKind, account_id: str) -> int:
    """Makes the account's rows findable by their words; returns how many were not before.

    Also takes out of the index what the database no longer has. Idempotent. Raises Unavailable
    when the index cannot be reached; what was done until then stays done.
    """
    carry_out_removals(kernel, account_id)
    if not kind.has_words:
        return 0
    signature = kernel.index.lexical_signature
    count = last = 0
    while True:
        with kernel.store.read() as session:
            rows = rows_without_words(
                session, kind, account_id, signature, limit=_WORDS_BATCH, after=last
            )
        if not rows:
            return count
        kernel.index.upsert(Collection(kind.collection), [point_of(row) for row in rows])
        kernel.index.flush()
        points = [row.id for row in rows]
        with kernel.store.write() as session:
            mark_words(session, kind, points, signature)
            gone = gone_points(session, kind, points)
        # Removed while they were on their way in, perhaps after their removal from the index.
        kernel.index.delete(Collection(kind.collection), account_id, gone)
        count += len(rows)
        last = rows[-1].id


def index_now(kernel: Kernel, kind: IndexedKind, account_id: str, points: Sequence[int]) -> None:
    """Makes a few rows searchable at once, by words and by meaning. When the index or the model
    is away, asks for the job that does it later."""
    if not points:
        return
    try:
        with VectorWriter(kernel, kind, account_id) as writer:
            writer.put_whole(points, kernel.embedder)
    except Unavailable:
        with kernel.store.write() as session:
            enqueue_embedding(session, account_id, kind.collection)


def carry_out_removals(kernel: Kernel, account_id: str) -> int:
    """Takes the points out of the index whose removal was asked for; returns how many."""
    count = 0
    for collection in Collection:
        while True:
            with kernel.store.read() as session:
                ids = pending_removals(session, account_id, collection, limit=_REMOVAL_BATCH)
            if not ids:
                break
            kernel.index.delete(collection, account_id, ids)
            kernel.index.flush()
            with kernel.store.write() as session:
                confirm_removals(session, collection, ids)
            count += len(ids)
    return count


def forget_and_delete(kernel: Kernel, account_id: str) -> None:
    """Empties the index of the account, so that all of it is indexed again."""
    with kernel.store.write() as session:
        for kind in KINDS.values():
            forget_indexed(session, kind, account_id)
    kernel.index.delete_account(account_id)
