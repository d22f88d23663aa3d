"""Puts vectors into the index, and notes them once they are safe there.

A flush writes many small files, and until the disk has them the index answers nobody: a fifth of
a second on a slow disk. So many batches share one flush. What was put in and not noted yet is made
again after a crash.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from backread.indexing.switching import vector_marks
from backread.jobs import JobContext, LeaseLost, one_of_many
from backread.kernel import Kernel
from backread.llm.embedding import Embedder
from backread.store.repositories.embedding_models import all_models
from backread.store.repositories.indexed import (
    IndexedKind,
    IndexedRow,
    forget_vectors,
    gone_points,
    indexed_rows,
    mark_vectors,
    mark_words,
)
from backread.vectors.index import Collection, IndexPoint

NOTE_SECONDS = 20.0  # work that a crash may cost; a flush in so long is a hundredth of the time


@dataclass(frozen=True, slots=True)
class _Batch:
    """Rows whose vectors are in the index under `dense`. `beside`: the mark of the other model
    whose vectors were left; None for points that were put in whole."""

    rows: Sequence[IndexedRow]
    dense: str
    beside: str | None


class VectorWriter:
    """For the rows of one kind of one account. A context manager: at its end what was put in is
    noted, however the block ends, but for a lost lease, whose new holder does the work anew.

    The first rows are due at once, and the others every `NOTE_SECONDS`: so each run of a job gets
    on, even one that is killed again and again.
    """

    def __init__(
        self, kernel: Kernel, kind: IndexedKind, account_id: str, context: JobContext | None = None
    ) -> None:
        """`context` counts texts that cannot be embedded."""
        self._kernel = kernel
        self._kind = kind
        self._account_id = account_id
        self._context = context
        self._collection = Collection(kind.collection)
        self._batches: list[_Batch] = []
        self._noted_at = -NOTE_SECONDS

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if not isinstance(error, LeaseLost):
            self.note()

    @property
    def is_due(self) -> bool:
        """Whether `note()` should not wait any longer."""
        return bool(self._batches) and time.monotonic() - self._noted_at >= NOTE_SECONDS

    def put(self, points: Sequence[int]) -> None:
        """Gives these rows, whose words are indexed, their vectors of the serving model. Those of
        another model stay beside. Rows that are gone are passed over."""
        embedder = self._kernel.embedder  # the same one throughout, should models change meanwhile
        if not self._kind.has_words:
            self.put_whole(points, embedder)
            return
        with self._kernel.store.read() as session:
            marks = vector_marks(self._kernel, all_models(session))
        dense = self._kernel.signature_with(embedder)
        beside = marks.beside if dense == marks.serving else marks.serving
        self.put_beside(points, embedder, beside)

    def put_beside(self, points: Sequence[int], embedder: Embedder, beside: str) -> None:
        """Gives rows that the index has vectors of this model, beside those marked `beside`."""
        rows = self._read(points)
        if not rows:
            return
        vectors = dict(zip((row.id for row in rows), self._vectors(embedder, rows), strict=True))
        self._kernel.index.add_vectors(
            self._collection, self._account_id, vectors, model=embedder.signature
        )
        self._keep(rows, embedder, beside)

    def put_whole(self, points: Sequence[int], embedder: Embedder) -> None:
        """Words and vectors at once. Other vectors that the points had are gone."""
        rows = self._read(points)
        if not rows:
            return
        had_vectors = [row.id for row in rows if row.has_vector]
        if had_vectors:  # of another model, which are about to go
            with self._kernel.store.write() as session:
                forget_vectors(session, self._kind, had_vectors)
        vectors = self._vectors(embedder, rows)
        whole = [point_of(row, vector) for row, vector in zip(rows, vectors, strict=True)]
        self._kernel.index.upsert(self._collection, whole, model=embedder.signature)
        self._keep(rows, embedder, None)

    def note(self) -> int:
        """Marks what was put in since the last time, after a flush; returns how many rows. What the
        database lost meanwhile is taken out of the index."""
        batches, self._batches = self._batches, []
        if not batches:
            return 0
        index, kind = self._kernel.index, self._kind
        index.flush()
        self._noted_at = time.monotonic()
        points = [row.id for batch in batches for row in batch.rows]
        with self._kernel.store.write() as session:
            for batch in batches:
                mark_vectors(session, kind, batch.rows, batch.dense, beside=batch.beside or "")
                if batch.beside is None and kind.has_words:
                    numbers = [row.id for row in batch.rows]
                    mark_words(session, kind, numbers, index.lexical_signature)
            gone = gone_points(session, kind, points)
        index.delete(self._collection, self._account_id, gone)
        return len(points)

    def _read(self, points: Sequence[int]) -> list[IndexedRow]:
        with self._kernel.store.read() as session:
            return indexed_rows(session, self._kind, self._account_id, points)

    def _keep(self, rows: Sequence[IndexedRow], embedder: Embedder, beside: str | None) -> None:
        self._batches.append(_Batch(rows, self._kernel.signature_with(embedder), beside))

    def _vectors(self, embedder: Embedder, rows: Sequence[IndexedRow]) -> list[list[float]]:
        """A text at which the model fails, which of a batch is found out one by one, gets the
        vector of an empty text: it is found by its words, and keeps no other from its vector."""
        with one_of_many("embed_batch", rows[0].id):
            together: list[list[float]] = embedder.embed_passages(
                [row.text for row in rows]
            ).tolist()
            return together
        found: list[list[float]] = []
        for row in rows:
            alone: list[float] = []
            with one_of_many("embed", row.id, self._context):
                (alone,) = embedder.embed_passages([row.text]).tolist()
            found.append(alone or embedder.embed_passages([""])[0].tolist())
        return found


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
