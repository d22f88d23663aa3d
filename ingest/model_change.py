"""The background job of a change to another embedding model: see `backread/indexing/switching`.

It first removes what models left that play no part any more, then makes the vectors of the next
one, newest texts first, and lets it serve once no row would lose its vector. Stopped anywhere, it
goes on with what is left.
"""

from collections.abc import Iterator

from backread.errors import BackreadError, Unavailable
from backread.indexing.switching import (
    CHANGE_MODELS,
    VectorMarks,
    change_over,
    end_of_grace,
    fail,
    probe,
    vector_marks,
)
from backread.indexing.vectors import VectorWriter
from backread.jobs import UPKEEP, JobContext, Queue, job
from backread.kernel import Kernel
from backread.llm.embedding import Embedder
from backread.store.engine import WriteSession
from backread.store.models import Job
from backread.store.repositories.embedding_models import (
    Role,
    all_models,
    confirm_gone,
    gone_models,
    model_of,
    set_model,
)
from backread.store.repositories.indexed import (
    KINDS,
    IndexedKind,
)
from backread.store.repositories.second_vectors import (
    accounts_missing,
    clear_vector_marks,
    count_missing,
    points_missing,
)

_BATCH = 64
_LIST = 5_000

UPKEEP.append(end_of_grace)


def _could_not(context: JobContext, state: str, reason: str) -> None:
    del state
    name = _next_name(context.kernel)
    if name:
        fail(context.kernel, name, reason)


def _try_again(session: WriteSession, job: Job) -> None:
    del job
    coming = model_of(session, Role.NEXT)
    if coming is not None:
        set_model(session, Role.NEXT, coming.name, signature=coming.signature)


@job(
    CHANGE_MODELS,
    queue=Queue.BACKGROUND,
    on_unfinished=_could_not,
    on_retry=_try_again,
    backfill=True,
)
def change_models(context: JobContext) -> None:
    """Raises Unavailable when the index or the next model goes away in the middle; it is then
    tried again, and given up with the reason noted after some tries."""
    kernel = context.kernel
    remove_gone(context)
    name = _next_name(kernel)
    if not name:
        return
    try:
        embedder = kernel.models.open(name)
        probe(embedder)
    except BackreadError as error:
        fail(kernel, name, str(error))
        return
    done = 0
    while name == _next_name(kernel):
        done = _make_vectors(context, name, embedder, done)
        if name == _next_name(kernel) and change_over(kernel, name):
            return


def remove_gone(context: JobContext) -> None:
    """Removes the vectors of models without a part. Marks go first: a crash in between leaves
    vectors that nothing counts on."""
    kernel = context.kernel
    with kernel.store.read() as session:
        signatures = gone_models(session)
    for signature in signatures:
        if not _has_part(kernel, signature):
            for kind in KINDS.values():
                cleared = 1
                while cleared:
                    with kernel.store.write() as session:
                        cleared = clear_vector_marks(session, kind, signature)
                    context.check()
            kernel.index.drop_model(signature)
            kernel.index.flush()
        with kernel.store.write() as session:
            confirm_gone(session, signature)


def _has_part(kernel: Kernel, signature: str) -> bool:
    with kernel.store.read() as session:
        roles = all_models(session)
    parts = (Role.SERVING, Role.NEXT, Role.FORMER)
    return any(each in roles and roles[each].signature == signature for each in parts)


def _next_name(kernel: Kernel) -> str:
    """The model whose vectors are being made; empty when there is none, or it was given up."""
    with kernel.store.read() as session:
        coming = model_of(session, Role.NEXT)
    return "" if coming is None or coming.error else coming.name


def _make_vectors(context: JobContext, name: str, embedder: Embedder, done: int) -> int:
    """One round over all rows that lack the vector; returns how many were made so far."""
    kernel = context.kernel
    with kernel.store.read() as session:
        marks = vector_marks(kernel, all_models(session))
        total = done + sum(
            count_missing(session, kind, serving=marks.serving, wanted=marks.beside)
            for kind in KINDS.values()
        )
    context.report(done, total)
    for kind in KINDS.values():
        with kernel.store.read() as session:
            accounts = accounts_missing(session, kind, serving=marks.serving, wanted=marks.beside)
        for account_id in accounts:
            with VectorWriter(kernel, kind, account_id, context) as writer:
                for batch in _batches(kernel, kind, account_id, marks, writer):
                    if name != _next_name(kernel):
                        return done
                    writer.put_beside(batch, embedder, marks.serving)
                    if writer.is_due:
                        writer.note()
                    done += len(batch)
                    context.report(done, max(done, total))
    return done


def _batches(
    kernel: Kernel, kind: IndexedKind, account_id: str, marks: VectorMarks, writer: VectorWriter
) -> Iterator[list[int]]:
    former: list[int] = []
    while True:
        writer.note()
        with kernel.store.read() as session:
            points = points_missing(
                session,
                kind,
                account_id,
                serving=marks.serving,
                wanted=marks.beside,
                limit=_LIST,
            )
        if not points:
            return
        if points == former:
            raise Unavailable(
                f"The vectors of {len(points):,} {kind.collection} could not be noted down.",
                hint="They change all the time; the change of models is tried again.",
            )
        former = points
        for start in range(0, len(points), _BATCH):
            yield points[start : start + _BATCH]
