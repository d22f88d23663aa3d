"""Memories: statements that a person or a client chose to keep, in buckets.

Each tool of the contract is one public function here: `store_memory`, `search_memories` and
`list_buckets`.
"""

from collections.abc import Sequence
from datetime import datetime

from rank_bm25 import BM25Plus

from backread.domain import Principal
from backread.errors import InvalidInput, LimitExceeded, NotFound, Unavailable
from backread.identity import statement_hash
from backread.jobs import enqueue
from backread.kernel import Kernel
from backread.store.engine import ReadSession, WriteSession
from backread.store.fulltext import words
from backread.store.models import Bucket, Memory
from backread.store.repositories import memories as store
from backread.vectors.index import Collection, IndexFilter, IndexPoint, IndexQuery, ScoredPoint
from recall.query import without_question_words
from recall.rendering import NOTICE, clean, day, envelope, one_line
from recall.sentences import stems
from recall.wire import ResultModel

DEFAULT_RESULTS = 10
MAX_RESULTS = 20
MAX_CHARACTERS = 10_000
MAX_QUERY_CHARACTERS = 4000

_DEPTH = 50
_DENSE_WEIGHT = 1.0
_LEAST_SIMILAR = 0.2
_ARTICLES = frozenset({"a", "an", "the"})


class StoredMemory(ResultModel):
    """What became of a memory. `stored` is False when it was there already: `memoryId` is then
    the one that was kept, and `duplicate` says whether it is the same text or as good as."""

    memory_id: str
    bucket_id: int
    bucket_name: str
    stored: bool
    duplicate: str = ""  # "" | exact | near
    existing_text: str = ""

    @property
    def text(self) -> str:
        """One line for a model."""
        bucket = one_line(self.bucket_name)
        if self.stored:
            return f"Stored as memory {self.memory_id} in bucket {self.bucket_id}, “{bucket}”."
        how = "the same" if self.duplicate == "exact" else "nearly the same"
        lead = f"Not stored: memory {self.memory_id} in bucket {self.bucket_id} says {how}."
        return envelope([clean(self.existing_text)], before=lead)


class FoundMemory(ResultModel):
    memory_id: str
    text: str
    bucket_id: int
    bucket_name: str
    created_at: datetime
    stored_by: str  # client that stored it; empty for its owner
    score: float


class MemorySearchResult(ResultModel):
    """Memories by relevance, best first."""

    query: str
    memories: list[FoundMemory]
    notice: str = NOTICE

    @property
    def text(self) -> str:
        """For a model: one line a memory, marked as data."""
        if not self.memories:
            return "No memory matches."
        lines = [
            f"- {clean(each.text)} [memory {each.memory_id}, bucket {each.bucket_id} "
            f"“{one_line(each.bucket_name)}”, stored {day(each.created_at)}]"
            for each in self.memories
        ]
        return envelope(["\n".join(lines)])


class BucketView(ResultModel):
    bucket_id: int
    name: str
    is_default: bool
    memory_count: int


class BucketList(ResultModel):
    """All buckets of the account."""

    buckets: list[BucketView]
    notice: str = NOTICE

    @property
    def text(self) -> str:
        """For a model: one line a bucket."""
        if not self.buckets:
            return f"There are no buckets yet. The first memory makes “{store.DEFAULT_BUCKET}”."
        lines = [
            f"- {each.bucket_id}: {one_line(each.name)} ({each.memory_count} "
            f"{'memory' if each.memory_count == 1 else 'memories'}"
            f"{', default' if each.is_default else ''})"
            for each in self.buckets
        ]
        return envelope(["\n".join(lines)])


def store_memory(
    kernel: Kernel, principal: Principal, text: str, *, bucket_id: int | str | None = None
) -> StoredMemory:
    """Keeps a memory, in the default bucket unless one is given. What the bucket holds already,
    word for word but for case, punctuation and articles, is not stored again.

    Raises InvalidInput for an empty text, LimitExceeded beyond 10,000 characters and NotFound
    for a bucket that does not exist or is another account's.
    """
    text = checked_text(text)
    with kernel.store.write() as session:
        bucket = find_bucket(session, principal, bucket_id)
        ((result, memory),) = keep_memories(session, principal, bucket, [text])
    if memory is not None:
        index_memories(kernel, principal.account_id, [memory])
    return result


def checked_text(text: str) -> str:
    """The text of a memory, trimmed. Raises InvalidInput for an empty one, LimitExceeded beyond
    10,000 characters."""
    text = text.strip()
    if not text:
        raise InvalidInput("The memory is empty.", hint="Give the text to remember.")
    if len(text) > MAX_CHARACTERS:
        raise LimitExceeded(
            f"A memory may have {MAX_CHARACTERS} characters; this one has {len(text)}.",
            hint="Split it into several memories.",
        )
    return text


def find_bucket(session: WriteSession, principal: Principal, bucket_id: int | str | None) -> Bucket:
    """The bucket with this id, or the default one. Raises NotFound."""
    if bucket_id is None:
        return store.default_bucket(session, principal.account_id)
    return store.get_bucket(session, principal.account_id, _bucket_number(bucket_id))


def keep_memories(
    session: WriteSession, principal: Principal, bucket: Bucket, texts: Sequence[str]
) -> list[tuple[StoredMemory, Memory | None]]:
    """For each checked text what became of it, and the memory that was added, if one was. The
    caller hands those to `index_memories` after the commit."""
    # Read once for all texts: a bucket may hold thousands, and hundreds may come at a time.
    known = _near_forms(session, principal.account_id, bucket.id, texts)
    return [_keep(session, principal, bucket, text, known) for text in texts]


def search_memories(
    kernel: Kernel,
    principal: Principal,
    query: str,
    *,
    bucket_id: int | str | None = None,
    limit: int = DEFAULT_RESULTS,
) -> MemorySearchResult:
    """Memories by words and by meaning, best first.

    Raises InvalidInput for an empty query, LimitExceeded for a limit outside 1–20, NotFound for
    an unknown bucket.
    """
    query = query.strip()
    if not query:
        raise InvalidInput("The query is empty.", hint="Say what to look for.")
    if len(query) > MAX_QUERY_CHARACTERS:
        raise LimitExceeded(f"A query may have {MAX_QUERY_CHARACTERS} characters at most.")
    if not 1 <= limit <= MAX_RESULTS:
        raise LimitExceeded(f"`limit` is {limit}; 1 to {MAX_RESULTS} are allowed.")
    account_id = principal.account_id
    bucket = None if bucket_id is None else _bucket_number(bucket_id)
    with kernel.store.read() as session:
        if bucket is not None:
            store.get_bucket(session, account_id, bucket)
    scores = _search_index(kernel, account_id, query, bucket)
    with kernel.store.read() as session:
        _add_not_indexed(session, kernel, account_id, query, bucket, scores)
        found = store.memories_by_point(session, account_id, scores)
    ranked = sorted(found, key=lambda point: (-scores[point], found[point][0].id))[:limit]
    return MemorySearchResult(
        query=query, memories=[_found(*found[point], scores[point]) for point in ranked]
    )


def list_buckets(kernel: Kernel, principal: Principal) -> BucketList:
    """All buckets with the number of their memories, the default one first."""
    with kernel.store.read() as session:
        counted = store.buckets_of(session, principal.account_id)
    return BucketList(
        buckets=[
            BucketView(
                bucket_id=each.bucket.id,
                name=each.bucket.name,
                is_default=each.bucket.is_default,
                memory_count=each.memories,
            )
            for each in counted
        ]
    )


def memory_point(memory: Memory, vector: Sequence[float] | None) -> IndexPoint:
    """How a memory lies in the search index."""
    return IndexPoint(
        id=memory.point_id,
        account_id=memory.account_id,
        group=str(memory.bucket_id),
        text=memory.text,
        vector=vector,
        occurred_at=memory.created_at,
    )


def _bucket_number(value: int | str) -> int:
    try:
        number = int(value)
    except ValueError:
        number = 0
    if not 0 < number < 2**63:
        raise NotFound(
            "There is no bucket with this id.", hint="list_buckets shows the buckets and their ids."
        )
    return number


def _near_form(text: str) -> tuple[str, ...]:
    """Words in order, without case, punctuation and articles. Nothing that changes the sense is
    dropped: not a negation, a number, a tense or a name."""
    return tuple(word for word in words(text) if word not in _ARTICLES)


def _near_forms(
    session: ReadSession, account_id: str, bucket_id: int, texts: Sequence[str]
) -> dict[tuple[str, ...], Memory]:
    """By its near form, what the bucket holds that may be as good as one of the texts; of several
    alike the oldest."""
    lengths = [len(text) for text in texts]
    if not lengths:
        return {}
    stored = store.of_similar_length(session, account_id, bucket_id, min(lengths), max(lengths))
    known: dict[tuple[str, ...], Memory] = {}
    for memory in stored:
        known.setdefault(_near_form(memory.text), memory)
    return known


def _keep(
    session: WriteSession,
    principal: Principal,
    bucket: Bucket,
    text: str,
    known: dict[tuple[str, ...], Memory],
) -> tuple[StoredMemory, Memory | None]:
    """Adds the text unless it is there. `known` is looked into and learns what was added."""
    digest = statement_hash(text)
    same = store.find_by_hash(session, principal.account_id, bucket.id, digest)
    if same is not None:
        return _not_stored(bucket, same, "exact"), None
    form = _near_form(text)
    if form and form in known:
        return _not_stored(bucket, known[form], "near"), None
    memory = _add(session, principal, bucket, text)
    if memory is None:  # another process has stored the same meanwhile
        same = store.find_by_hash(session, principal.account_id, bucket.id, digest)
        assert same is not None
        return _not_stored(bucket, same, "exact"), None
    known[form] = memory
    stored = StoredMemory(
        memory_id=memory.id, bucket_id=bucket.id, bucket_name=bucket.name, stored=True
    )
    return stored, memory


def _add(session: WriteSession, principal: Principal, bucket: Bucket, text: str) -> Memory | None:
    return store.add_memory(
        session,
        account_id=principal.account_id,
        bucket_id=bucket.id,
        text=text,
        text_hash=statement_hash(text),
        client_id=principal.client_id,
    )


def _not_stored(bucket: Bucket, memory: Memory, how: str) -> StoredMemory:
    return StoredMemory(
        memory_id=memory.id,
        bucket_id=bucket.id,
        bucket_name=bucket.name,
        stored=False,
        duplicate=how,
        existing_text=memory.text,
    )


def index_memories(kernel: Kernel, account_id: str, memories: Sequence[Memory]) -> None:
    """Makes them searchable at once. When the index is away a job does it later, and until then
    the words of a memory find it."""
    if not memories:
        return
    try:
        vectors = kernel.embedder.embed_passages([memory.text for memory in memories])
        points = [
            memory_point(memory, vector.tolist())
            for memory, vector in zip(memories, vectors, strict=True)
        ]
        kernel.index.upsert(Collection.MEMORIES, points)
    except Unavailable:
        with kernel.store.write() as session:
            enqueue(
                session,
                "ingest.embed_memories",
                account_id=account_id,
                dedupe_key=f"embed_memories:{account_id}",
            )
        return
    with kernel.store.write() as session:
        point_ids = [memory.point_id for memory in memories]
        store.mark_memories_indexed(session, account_id, point_ids, kernel.dense_signature)


def _search_index(
    kernel: Kernel, account_id: str, query: str, bucket_id: int | None
) -> dict[int, float]:
    groups = () if bucket_id is None else (str(bucket_id),)
    within = IndexFilter(account_id=account_id, groups=groups)
    vector = kernel.embedder.embed_queries([query])[0].tolist()
    by_words, by_meaning = kernel.index.search(
        Collection.MEMORIES,
        [
            IndexQuery(filter=within, limit=_DEPTH, words=without_question_words(query)),
            IndexQuery(filter=within, limit=_DEPTH, vector=vector),
        ],
    )
    scores: dict[int, float] = {}
    top = max((point.score for point in by_words), default=0.0) or 1.0
    for point in by_words:
        scores[point.id] = point.score / top
    for point in _near(by_meaning):
        scores[point.id] = scores.get(point.id, 0.0) + _DENSE_WEIGHT * point.score
    return scores


def _near(points: Sequence[ScoredPoint]) -> list[ScoredPoint]:
    """Without those that only happen to be the nearest of what there is."""
    return [point for point in points if point.score >= _LEAST_SIMILAR]


def _add_not_indexed(
    session: ReadSession,
    kernel: Kernel,
    account_id: str,
    query: str,
    bucket_id: int | None,
    scores: dict[int, float],
) -> None:
    fresh = store.memories_not_indexed(
        session, account_id, kernel.dense_signature, bucket_id=bucket_id
    )
    asked = stems(query)
    if not fresh or not asked:
        return
    texts = [stems(memory.text) or [""] for memory in fresh]
    found = BM25Plus(texts).get_scores(asked)
    matching = [
        (memory, float(score))
        for memory, text, score in zip(fresh, texts, found, strict=True)
        if not set(asked).isdisjoint(text)
    ]
    top = max((score for _, score in matching), default=0.0) or 1.0
    for memory, score in matching:
        scores.setdefault(memory.point_id, score / top)


def _found(memory: Memory, bucket: Bucket, score: float) -> FoundMemory:
    return FoundMemory(
        memory_id=memory.id,
        text=memory.text,
        bucket_id=bucket.id,
        bucket_name=bucket.name,
        created_at=memory.created_at,
        stored_by=memory.client_id or "",
        score=round(score, 4),
    )
