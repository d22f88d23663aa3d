"""The background jobs that keep the search index in step with the database.

What they do, and what a new kind of row needs, is in `backread/indexing`.
"""

from functools import partial

from backread.indexing import (
    VectorWriter,
    carry_out_removals,
    embed_job,
    enqueue_embedding,
    forget_and_delete,
    index_words,
)
from backread.indexing.switching import ask_for_missing, settle
from backread.jobs import JobContext, Queue, enqueue, job
from backread.kernel import Kernel
from backread.store.engine import WriteSession
from backread.store.repositories.indexed import (
    KINDS,
    PASSAGES,
    IndexedKind,
    count_without_vector,
    points_to_embed,
)

EMBED_PASSAGES = embed_job("passages")
EMBED_MEMORIES = embed_job("memories")
CATCH_UP = "ingest.catch_up"

_EMBED_BATCH = 64  # a few seconds of work, between two looks at whether the job is to end
_EMBED_LIST = 20_000  # after so many, newer rows get their turn first


def index_lexical(kernel: Kernel, account_id: str) -> int:
    """Makes the account's passages findable by their words; returns how many were not before.
    See `index_words`."""
    return index_words(kernel, PASSAGES, account_id)


def enqueue_passages(session: WriteSession, account_id: str) -> None:
    """Asks for the words and vectors of the account's passages."""
    enqueue_embedding(session, account_id, PASSAGES.collection)


@job(CATCH_UP, queue=Queue.BACKGROUND)
def catch_up(context: JobContext) -> None:
    """Asks for what the index lacks of any account, after the index was lost and after a restore,
    and for another embedding model where the settings name one. A server enqueues it at each
    start."""
    settle(context.kernel)
    ask_for_missing(context.kernel)


def enqueue_catch_up(session: WriteSession) -> None:
    """Asks for a look at whether every account is indexed as it should be."""
    enqueue(session, CATCH_UP, account_id=None, dedupe_key="catch_up")


def embed_kind(context: JobContext, *, kind: IndexedKind) -> None:
    """Puts the account's rows of one kind into the index: first the words of all, then the
    vectors, newest first. Words that come in meanwhile go before the next vectors, and their
    vectors within half a minute before those of what is older. Resumes where it was stopped; what
    was made in the last seconds before a crash is made again."""
    kernel = context.kernel
    account_id = context.account_id
    if account_id is None:
        raise ValueError(f"job {context.job_id} is for no account")
    done, has_newer = 0, False
    with VectorWriter(kernel, kind, account_id, context) as writer:
        while True:
            writer.note()
            index_words(kernel, kind, account_id)
            words, dense = kernel.index.lexical_signature, kernel.dense_signature
            with kernel.store.read() as session:
                points = points_to_embed(
                    session, kind, account_id, words=words, dense=dense, limit=_EMBED_LIST
                )
                total = done + count_without_vector(session, kind, account_id, dense)
            context.report(done, total)
            if not points:
                return
            came_in = 0
            for start in range(0, len(points), _EMBED_BATCH):
                batch = points[start : start + _EMBED_BATCH]
                writer.put(batch)
                done += len(batch)
                context.report(done, max(done, total))
                came_in += index_words(kernel, kind, account_id)
                is_due = writer.is_due
                if is_due or (has_newer and start == 0):
                    writer.note()
                has_newer = is_due and came_in > 0
                if has_newer:
                    break  # the list is made anew, the newest first, and they are noted at once


for _kind in KINDS.values():
    job(embed_job(_kind.collection), queue=Queue.BACKGROUND)(partial(embed_kind, kind=_kind))


def reindex(kernel: Kernel, account_id: str) -> int:
    """Builds the account's index anew from the database: words at once, vectors by the jobs that
    this enqueues. Returns how many passages there are to be found by their words."""
    forget_and_delete(kernel, account_id)
    counts = {kind.collection: index_words(kernel, kind, account_id) for kind in KINDS.values()}
    with kernel.store.write() as session:
        enqueue_embedding(session, account_id)
    return counts[PASSAGES.collection]


__all__ = [
    "CATCH_UP",
    "EMBED_MEMORIES",
    "EMBED_PASSAGES",
    "carry_out_removals",
    "catch_up",
    "embed_kind",
    "enqueue_catch_up",
    "enqueue_embedding",
    "enqueue_passages",
    "index_lexical",
    "reindex",
]
