"""Long lists of ids, in pieces that one statement takes."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

_IDS_PER_STATEMENT = 500  # SQLite allows far more; long lists only slow its parser


def chunks(ids: Sequence[T]) -> Iterator[Sequence[T]]:
    """The ids in their order, some hundred at a time."""
    for start in range(0, len(ids), _IDS_PER_STATEMENT):
        yield ids[start : start + _IDS_PER_STATEMENT]
