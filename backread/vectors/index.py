"""What the product asks of a search index, whoever provides it.

One suite, `tests/contract/test_vector_index.py`, runs against every adapter.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol


class Collection(StrEnum):
    """Separate spaces of points; ids are unique inside one."""

    PASSAGES = "passages"
    MEMORIES = "memories"
    FILES = "files"
    NOTES = "notes"
    RECORDS = "records"


@dataclass(frozen=True, slots=True)
class IndexPoint:
    """One text to be found again.

    `text` feeds the BM25 side. `vector` feeds the dense side and may be None: the point is then
    found by words only until it is upserted again with its vector. `group` is what siblings
    share and are deleted by: the conversation of a passage, the bucket of a memory.
    """

    id: int
    account_id: str
    group: str
    text: str
    vector: Sequence[float] | None = None
    occurred_at: datetime | None = None
    platform: str = ""


@dataclass(frozen=True, slots=True)
class IndexFilter:
    """Applied before ranking. The account is not optional. Times are inclusive; a point without
    a time never matches a filter that has one."""

    account_id: str
    after: datetime | None = None
    before: datetime | None = None
    platforms: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexQuery:
    """Exactly one of `words` (BM25) and `vector` (cosine) is given.

    `languages`: codes of those that the words may be in, where more was said than the words;
    told by the words themselves if not given.
    `model` is the signature of the embedding model that made the vector; empty means the one
    that the index is open for. Only vectors of the same model are compared.
    """

    filter: IndexFilter
    limit: int
    words: str | None = None
    vector: Sequence[float] | None = None
    model: str = ""
    languages: tuple[str, ...] = ()


class ScoredPoint(NamedTuple):
    id: int
    score: float


class VectorIndex(Protocol):
    """Guarantees: upsert and delete are idempotent; a search never returns another account's
    point; BM25 uses the document frequencies of the filtered account. Raises
    `backread.errors.Unavailable` when the index cannot be reached."""

    @property
    def lexical_signature(self) -> str:
        """Names the tokeniser and schema; changes when texts must be indexed again."""
        ...

    def upsert(
        self, collection: Collection, points: Sequence[IndexPoint], *, model: str = ""
    ) -> None:
        """Puts points in whole: vectors that they had before, of whatever model, are gone. The
        new ones are of the model with this signature, or of the one that the index is open
        for."""
        ...

    def add_vectors(
        self,
        collection: Collection,
        account_id: str,
        vectors: Mapping[int, Sequence[float]],
        *,
        model: str,
    ) -> None:
        """Gives the account's points, by id, a vector of the model with this signature, beside
        whatever else they have. Points that the index does not have are passed over."""
        ...

    def drop_model(self, model: str) -> None:
        """Removes every vector of the model with this signature, of all accounts. What else the
        points have stays."""
        ...

    def delete(self, collection: Collection, account_id: str, ids: Sequence[int]) -> None: ...

    def delete_group(self, collection: Collection, account_id: str, group: str) -> None: ...

    def delete_account(self, account_id: str) -> None: ...

    def search(
        self, collection: Collection, queries: Sequence[IndexQuery]
    ) -> list[list[ScoredPoint]]:
        """Answers all queries in one call, each best first, in the order asked. A cosine is right
        to two thousandths: the embedded index keeps one byte a number, a server half precision."""
        ...

    def count(self, collection: Collection, account_id: str) -> int: ...

    def flush(self) -> None:
        """Makes everything accepted so far survive a power cut."""
        ...

    def close(self) -> None: ...
