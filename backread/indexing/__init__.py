"""Keeps the search index in step with the database, which alone is the truth.

Each row carries the signature of what it is indexed with. Whatever differs from the present one
is indexed again: new text, text after a change of the tokeniser, and everything after the index
was lost. A step marks rows only after the index has flushed them, so a crash anywhere repeats
work and loses none.

**A new kind of row to be found** takes four things:

1. A table with `account_id`, a number that is unique and never used twice (`point_id`, as
   `Memory` has, or a primary key that counts up), and the columns of `IndexMarks`
   (`backread/store/models/marks.py`: `lexical_with`, `dense_with`, `beside_with`).
2. One line in `KINDS` of `backread/store/repositories/indexed.py`: an `IndexedKind` that names
   the collection of the index, the number, the text, the group that rows are filtered by, and the
   time. Set `changed=` when a row's text is edited in place.
3. `enqueue_embedding(session, account_id, "<collection>")` in the transaction that adds or changes
   rows. A change in place sets all marks to "" as well. Or, for a few rows that a person waits
   for, `index_now(kernel, kind, account_id, points)` after the commit.
4. `record_removals(session, account_id, "<collection>", points)` in the transaction that removes
   rows, and `enqueue_embedding`, or `carry_out_removals(kernel, account_id)` after the commit.

Everything else follows from the line: the background job, catching up at a start, `backread
reindex`, `backread verify`, erasing an account, and the change to another embedding model. To
search, ask `kernel.index` for the collection; `IndexQuery.model` is `embedder.signature`.
"""

from backread.indexing.asking import embed_job, enqueue_embedding
from backread.indexing.steps import (
    carry_out_removals,
    forget_and_delete,
    index_now,
    index_words,
)
from backread.indexing.vectors import VectorWriter

__all__ = [
    "VectorWriter",
    "carry_out_removals",
    "embed_job",
    "enqueue_embedding",
    "forget_and_delete",
    "index_now",
    "index_words",
]
