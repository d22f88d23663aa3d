"""The steps that bring rows into the index and take them out. Each may be repeated."""

from collections.abc import Sequence

from backread.errors import Unavailable
from backread.indexing.asking import enqueue_embedding
from backread.indexing.switching import vector_marks
from backread.kernel import Kernel
from backread.llm.embedding import Embedder
from backread.store.repositories.embedding_models import all_models
from backread.store.repositories.indexed import (
    KINDS,
    IndexedKind,
    IndexedRow,
    forget_indexed,
    forget_vectors,
    gone_points,
    indexed_rows,
    mark_vectors,
    mark_words,
    rows_without_words,
)
from backread.store.repositories.removals import confirm_removals, pending_removals
from backread.vectors.index import Collection, IndexPoint

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


def embed_rows(kernel: Kernel, kind: IndexedKind, account_id: str, points: Sequence[int]) -> None:
    """Gives these rows, whose words are indexed, their vectors of the serving model. Those of
    another model stay beside. Rows that are gone are passed over."""
    embedder = kernel.embedder  # the same one throughout, should models change meanwhile
    if not kind.has_words:
        _put_whole(kernel, kind, account_id, points, embedder)
        return
    with kernel.store.read() as session:
        marks = vector_marks(kernel, all_models(session))
    dense = kernel.signature_with(embedder)
    beside = marks.beside if dense == marks.serving else marks.serving
    add_vectors(kernel, kind, account_id, points, embedder, beside=beside)


def add_vectors(
    kernel: Kernel,
    kind: IndexedKind,
    account_id: str,
    points: Sequence[int],
    embedder: Embedder,
    *,
    beside: str,
) -> None:
    """Gives rows that the index has vectors of this model, beside those marked `beside`."""
    with kernel.store.read() as session:
        rows = indexed_rows(session, kind, account_id, points)
    if not rows:
        return
    collection = Collection(kind.collection)
    vectors = embedder.embed_passages([row.text for row in rows]).tolist()
    named = {row.id: vector for row, vector in zip(rows, vectors, strict=True)}
    kernel.index.add_vectors(collection, account_id, named, model=embedder.signature)
    kernel.index.flush()
    with kernel.store.write() as session:
        mark_vectors(session, kind, rows, kernel.signature_with(embedder), beside=beside)
        gone = gone_points(session, kind, list(named))
    kernel.index.delete(collection, account_id, gone)


def _put_whole(
    kernel: Kernel,
    kind: IndexedKind,
    account_id: str,
    points: Sequence[int],
    embedder: Embedder,
) -> None:
    """Words and vectors at once. Other vectors that the points had are gone, and not marked."""
    with kernel.store.read() as session:
        rows = indexed_rows(session, kind, account_id, points)
    if not rows:
        return
    collection = Collection(kind.collection)
    words, dense = kernel.index.lexical_signature, kernel.signature_with(embedder)
    had_vectors = [row.id for row in rows if row.has_vector]
    if had_vectors:  # of another model, which are about to go
        with kernel.store.write() as session:
            forget_vectors(session, kind, had_vectors)
    vectors = embedder.embed_passages([row.text for row in rows]).tolist()
    whole = [point_of(row, vector) for row, vector in zip(rows, vectors, strict=True)]
    kernel.index.upsert(collection, whole, model=embedder.signature)
    kernel.index.flush()
    with kernel.store.write() as session:
        mark_vectors(session, kind, rows, dense)
        if kind.has_words:
            mark_words(session, kind, [row.id for row in rows], words)
        gone = gone_points(session, kind, [row.id for row in rows])
    kernel.index.delete(collection, account_id, gone)


def index_now(kernel: Kernel, kind: IndexedKind, account_id: str, points: Sequence[int]) -> None:
    """Makes a few rows searchable at once, by words and by meaning. When the index or the model
    is away, asks for the job that does it later."""
    if not points:
        return
    try:
        _put_whole(kernel, kind, account_id, points, kernel.embedder)
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


def point_of(row: IndexedRow, vector: Sequence[float] | None = None) -> IndexPoint:
    """How a row lies in the index."""
    return IndexPoint(
        id=row.id,
        account_id=row.account_id,
        group=row.group,
        text=row.text,
        vector=vector,
        occurred_at=row.occurred_at,
        platform=row.platform,
    )
