"""Keeps the search index in step with the database, which alone is the truth.

Each passage and memory carries the signature of what it is indexed with. Whatever differs from
the present one is indexed again: new text, text after a change of the embedding model or the
tokeniser, and everything after the index was lost. A step marks rows only after the index has
flushed them, so a crash anywhere repeats work and loses none.
"""

from collections.abc import Sequence

from backread.jobs import JobContext, Queue, enqueue, job
from backread.kernel import Kernel
from backread.store.engine import WriteSession
from backread.store.repositories.indexing import (
    accounts_to_index,
    count_to_embed,
    forget_index,
    gone_memories,
    gone_passages,
    mark_memories_embedded,
    memories_to_index,
    passage_ids_to_embed,
    passages_by_id,
)
from backread.store.repositories.passages import PassageToIndex, mark_indexed, passages_to_index
from backread.store.repositories.removals import confirm_removals, pending_removals
from backread.vectors.index import Collection, IndexPoint

EMBED_PASSAGES = "ingest.embed_passages"
EMBED_MEMORIES = "ingest.embed_memories"
CATCH_UP = "ingest.catch_up"

_LEXICAL_BATCH = 5_000
_EMBED_BATCH = 64  # a few seconds of work: progress is shown, and little is repeated after a crash
_EMBED_LIST = 20_000  # after so many, newer passages get their turn first
_REMOVAL_BATCH = 5_000


def index_lexical(kernel: Kernel, account_id: str) -> int:
    """Makes the account's passages findable by their words; returns how many were not before.

    Also takes out of the index what the database no longer has. Idempotent. Raises Unavailable
    when the index cannot be reached; what was done until then stays done.
    """
    carry_out_removals(kernel, account_id)
    signature = kernel.index.lexical_signature
    count = last_id = 0
    while True:
        with kernel.store.read() as session:
            passages = passages_to_index(
                session,
                signature,
                side="lexical",
                account_id=account_id,
                limit=_LEXICAL_BATCH,
                after_id=last_id,
            )
        if not passages:
            return count
        kernel.index.upsert(Collection.PASSAGES, [_point(each) for each in passages])
        _mark_passages(kernel, account_id, passages, lexical=signature)
        count += len(passages)
        last_id = passages[-1].id


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


def enqueue_embedding(session: WriteSession, account_id: str) -> None:
    """Asks for whatever the index lacks of the account: words and vectors, of passages and of
    memories."""
    enqueue_passages(session, account_id)
    enqueue(
        session, EMBED_MEMORIES, account_id=account_id, dedupe_key=f"embed_memories:{account_id}"
    )


def enqueue_passages(session: WriteSession, account_id: str) -> None:
    """Asks for the words and vectors of the account's passages."""
    enqueue(session, EMBED_PASSAGES, account_id=account_id, dedupe_key=f"embed:{account_id}")


@job(CATCH_UP, queue=Queue.BACKGROUND)
def catch_up(context: JobContext) -> None:
    """Asks for what the index lacks of any account: after a change of the model, after the index
    was lost, and after a restore. A server enqueues it at each start."""
    kernel = context.kernel
    with kernel.store.read() as session:
        lacking = accounts_to_index(
            session,
            lexical=kernel.index.lexical_signature,
            dense=kernel.dense_signature,
            memories=kernel.dense_signature,
        )
    for account_id in sorted(lacking):
        with kernel.store.write() as session:
            enqueue_embedding(session, account_id)


def enqueue_catch_up(session: WriteSession) -> None:
    """Asks for a look at whether every account is indexed as it should be."""
    enqueue(session, CATCH_UP, account_id=None, dedupe_key="catch_up")


@job(EMBED_PASSAGES, queue=Queue.BACKGROUND)
def embed_passages(context: JobContext) -> None:
    """Puts the account's passages into the index: first the words of all, then the vectors,
    newest first. Words that an import adds meanwhile go before the next vectors. Resumes where
    it was stopped."""
    kernel, account_id = context.kernel, _account_of(context)
    done = 0
    while True:
        index_lexical(kernel, account_id)
        lexical, dense = kernel.index.lexical_signature, kernel.dense_signature
        with kernel.store.read() as session:
            ids = passage_ids_to_embed(
                session, account_id, lexical=lexical, dense=dense, limit=_EMBED_LIST
            )
            total = done + count_to_embed(session, account_id, dense=dense)
        context.report(done, total)
        if not ids:
            return
        for start in range(0, len(ids), _EMBED_BATCH):
            batch = ids[start : start + _EMBED_BATCH]
            _embed_batch(kernel, account_id, batch, dense)
            done += len(batch)
            context.report(done, max(done, total))
            index_lexical(kernel, account_id)


def _embed_batch(kernel: Kernel, account_id: str, ids: Sequence[int], dense: str) -> None:
    with kernel.store.read() as session:
        passages = passages_by_id(session, account_id, ids)
    if not passages:
        return
    vectors = kernel.embedder.embed_passages([each.text for each in passages])
    points = [_point(each, vector) for each, vector in zip(passages, vectors.tolist(), strict=True)]
    kernel.index.upsert(Collection.PASSAGES, points)
    _mark_passages(kernel, account_id, passages, dense=dense)


def _mark_passages(
    kernel: Kernel,
    account_id: str,
    passages: Sequence[PassageToIndex],
    *,
    lexical: str = "",
    dense: str = "",
) -> None:
    kernel.index.flush()
    ids = [each.id for each in passages]
    with kernel.store.write() as session:
        if lexical:
            mark_indexed(session, ids, lexical, side="lexical")
        if dense:
            mark_indexed(session, ids, dense, side="dense")
        gone = gone_passages(session, ids)
    # Removed while they were on their way into the index, perhaps after their removal from it.
    kernel.index.delete(Collection.PASSAGES, account_id, gone)


@job(EMBED_MEMORIES, queue=Queue.BACKGROUND)
def embed_memories(context: JobContext) -> None:
    """Indexes the account's memories, words and vectors. Resumes where it was stopped."""
    kernel, account_id = context.kernel, _account_of(context)
    carry_out_removals(kernel, account_id)
    signature = kernel.dense_signature
    done = 0
    while True:
        with kernel.store.read() as session:
            memories = memories_to_index(session, account_id, signature, limit=_EMBED_BATCH)
        context.report(done, done + len(memories))
        if not memories:
            return
        vectors = kernel.embedder.embed_passages([each.text for each in memories])
        points = [
            IndexPoint(
                id=each.point_id,
                account_id=account_id,
                group=str(each.bucket_id),
                text=each.text,
                vector=vector,
                occurred_at=each.created_at,
            )
            for each, vector in zip(memories, vectors.tolist(), strict=True)
        ]
        kernel.index.upsert(Collection.MEMORIES, points)
        kernel.index.flush()
        with kernel.store.write() as session:
            mark_memories_embedded(session, memories, signature)
            gone = gone_memories(session, [each.point_id for each in memories])
        kernel.index.delete(Collection.MEMORIES, account_id, gone)
        done += len(memories)


def reindex(kernel: Kernel, account_id: str) -> int:
    """Builds the account's index anew from the database: words at once, vectors by the job that
    this enqueues. Returns how many passages there are to be found by their words."""
    with kernel.store.write() as session:
        forget_index(session, account_id)
    kernel.index.delete_account(account_id)
    count = index_lexical(kernel, account_id)
    with kernel.store.write() as session:
        enqueue_embedding(session, account_id)
    return count


def _account_of(context: JobContext) -> str:
    if context.account_id is None:
        raise ValueError(f"job {context.job_id} is for no account")
    return context.account_id


def _point(passage: PassageToIndex, vector: Sequence[float] | None = None) -> IndexPoint:
    return IndexPoint(
        id=passage.id,
        account_id=passage.account_id,
        group=passage.conversation_id,
        text=passage.text,
        vector=vector,
        occurred_at=passage.occurred_at,
        platform=passage.platform,
    )
