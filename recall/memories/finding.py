"""Finding memories by words and by meaning, and as of a day in the past."""

from collections.abc import Sequence
from datetime import datetime

from backread.domain import Principal
from backread.errors import InvalidInput, LimitExceeded
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.engine import ReadSession
from backread.store.models import Memory
from backread.store.repositories import memories as store
from backread.vectors.index import Collection, IndexFilter, ScoredPoint
from recall.hybrid import by_words_and_meaning, shares, word_scores
from recall.memories.buckets import existing_bucket
from recall.memories.results import FoundMemory, MemorySearchResult
from recall.memories.showing import shown
from recall.memories.strength import REINFORCE_EVERY
from recall.memories.superseding import line_of
from recall.query import read_bound

DEFAULT_RESULTS = 10
MAX_RESULTS = 20
MAX_QUERY_CHARACTERS = 4000

_DEPTH = 50
_DENSE_WEIGHT = 1.0
_LEAST_SIMILAR = 0.2
_USED = 3  # results that count as used


def search_memories(
    kernel: Kernel,
    principal: Principal,
    query: str,
    *,
    bucket_id: int | str | None = None,
    limit: int = DEFAULT_RESULTS,
    as_of: str | None = None,
) -> MemorySearchResult:
    """Memories by words and by meaning, best first. Of a fact that has changed all versions come
    together, the newest first; with `as_of` (ISO 8601) only what was stored and held then.

    Raises InvalidInput for an empty query or a date that cannot be read, LimitExceeded for a limit
    outside 1–20, NotFound for an unknown bucket.
    """
    if not 1 <= limit <= MAX_RESULTS:
        raise LimitExceeded(f"`limit` is {limit}; 1 to {MAX_RESULTS} are allowed.")
    moment = read_bound(as_of, "asOf") if as_of else None
    found = find_memories(kernel, principal, query, bucket_id=bucket_id, limit=limit, as_of=moment)
    _note_use(kernel, principal.account_id, [each.memory_id for each in found.memories[:_USED]])
    return found


def _note_use(kernel: Kernel, account_id: str, memory_ids: Sequence[str]) -> None:
    """The best ones count as used, which keeps them strong."""
    now = utcnow()
    with kernel.store.read() as session:
        due = store.memories_to_note(session, account_id, memory_ids, before=now - REINFORCE_EVERY)
    if due:
        with kernel.store.write() as session:
            store.note_use(session, account_id, due, now=now)


def find_memories(
    kernel: Kernel,
    principal: Principal,
    query: str,
    *,
    bucket_id: int | str | None = None,
    limit: int,
    as_of: datetime | None = None,
) -> MemorySearchResult:
    """As `search_memories`, with up to 50 results."""
    query = query.strip()
    if not query:
        raise InvalidInput("The query is empty.", hint="Say what to look for.")
    if len(query) > MAX_QUERY_CHARACTERS:
        raise LimitExceeded(f"A query may have {MAX_QUERY_CHARACTERS} characters at most.")
    account_id = principal.account_id
    with kernel.store.read() as session:
        bucket = existing_bucket(session, principal, bucket_id)
    scores = _search_index(kernel, account_id, query, bucket, as_of)
    dense = kernel.dense_signature  # may read by itself, so not within a session
    with kernel.store.read() as session:
        _add_not_indexed(session, dense, account_id, query, bucket, scores)
        found = [
            (memory, scores[point])
            for point, (memory, _) in store.memories_by_point(session, account_id, scores).items()
            # The index may still have it where it was a moment ago.
            if (bucket is None or memory.bucket_id == bucket) and _held(memory, as_of)
        ]
        ranked = _in_lines(session, account_id, found, as_of)[:limit]
        views = shown(session, account_id, [each for each, _ in ranked], kernel.settings.origin)
    return MemorySearchResult(
        query=query,
        as_of=as_of,
        memories=[
            FoundMemory(**view.model_dump(by_alias=False), score=round(score, 4))
            for view, (_, score) in zip(views, ranked, strict=True)
        ],
    )


def _held(memory: Memory, as_of: datetime | None) -> bool:
    if as_of is None:
        return True
    is_over = memory.superseded_at is not None and memory.superseded_at <= as_of
    return memory.created_at <= as_of and not is_over


def _in_lines(
    session: ReadSession,
    account_id: str,
    found: Sequence[tuple[Memory, float]],
    as_of: datetime | None,
) -> list[tuple[Memory, float]]:
    """Best first, and versions of one fact together, the newest first: what was found of a fact
    that has changed is never shown without what holds now."""
    ranked = sorted(found, key=lambda each: (-each[1], each[0].id))
    if as_of is not None or not any(memory.superseded_by for memory, _ in ranked):
        return ranked
    lines = line_of(session, account_id, [memory for memory, _ in ranked])
    groups: dict[str, dict[str, tuple[Memory, float]]] = {}
    for memory, score in ranked:
        present = lines[memory.id][-1]
        group = groups.setdefault(present.id, {})
        group.setdefault(present.id, (present, score))
        group.setdefault(memory.id, (memory, score))
    return [
        each
        for group in groups.values()
        for each in sorted(
            group.values(), key=lambda pair: (pair[0].created_at, pair[0].id), reverse=True
        )
    ]


def _search_index(
    kernel: Kernel,
    account_id: str,
    query: str,
    bucket_id: int | None,
    as_of: datetime | None,
) -> dict[int, float]:
    groups = () if bucket_id is None else (str(bucket_id),)
    within = IndexFilter(account_id=account_id, groups=groups, before=as_of)
    by_words, by_meaning = by_words_and_meaning(
        kernel, Collection.MEMORIES, query, within, limit=_DEPTH
    )
    scores = shares(by_words)
    for point in _near(by_meaning):
        scores[point.id] = scores.get(point.id, 0.0) + _DENSE_WEIGHT * point.score
    return scores


def _near(points: Sequence[ScoredPoint]) -> list[ScoredPoint]:
    """Without those that only happen to be the nearest of what there is."""
    return [point for point in points if point.score >= _LEAST_SIMILAR]


def _add_not_indexed(
    session: ReadSession,
    dense: str,
    account_id: str,
    query: str,
    bucket_id: int | None,
    scores: dict[int, float],
) -> None:
    fresh = store.memories_not_indexed(session, account_id, dense, bucket_id=bucket_id)
    by_words = word_scores(query, [memory.text for memory in fresh])
    for memory, score in zip(fresh, by_words, strict=True):
        if score:
            scores.setdefault(memory.point_id, score)
