"""vector_search: parts of records by meaning, with a similarity that has a meaning itself."""

from backread.errors import InvalidInput, LimitExceeded
from backread.kernel import Kernel
from backread.store.models import FolderRecord, RecordChunk
from backread.store.repositories.record_chunks import chunks_by_point, count_not_indexed
from backread.vectors.index import Collection, IndexFilter, IndexQuery
from recall.folders.access import FolderAccess, get_folder
from recall.folders.calibration import THRESHOLD, calibration_of, word_share
from recall.folders.views import FoundChunk, SearchResult
from recall.hybrid import by_its_words

DEFAULT_RESULTS = 10
MAX_RESULTS = 100
MAX_QUERY_CHARACTERS = 4000

_DEPTH = 200  # candidates by meaning, and as many by words


def vector_search(
    kernel: Kernel,
    access: FolderAccess,
    query: str,
    *,
    limit: int = DEFAULT_RESULTS,
    similarity_threshold: float = THRESHOLD,
) -> SearchResult:
    """Parts of the folder's records whose similarity to the query is at least the threshold, best
    first.

    Raises InvalidInput for an empty query and for a folder that generates no embeddings,
    LimitExceeded for a limit outside 1–100 or a threshold outside 0–1, Unavailable when the model
    or the index cannot be reached.
    """
    query = query.strip()
    if not query:
        raise InvalidInput("The query is empty.", hint="Say what to look for.")
    if len(query) > MAX_QUERY_CHARACTERS:
        raise LimitExceeded(f"A query may have {MAX_QUERY_CHARACTERS} characters at most.")
    if not 1 <= limit <= MAX_RESULTS:
        raise LimitExceeded(f"`limit` is {limit}; 1 to {MAX_RESULTS} are allowed.")
    if not 0 <= similarity_threshold <= 1:
        raise LimitExceeded(
            f"`similarity_threshold` is {similarity_threshold}; 0 to 1 are allowed."
        )
    account_id, folder_id = access.account_id, access.folder_id
    with kernel.store.read() as session:
        if not get_folder(session, account_id, folder_id).generate_embeddings:
            raise InvalidInput(
                "This folder generates no embeddings, so it cannot be searched by meaning.",
                hint="Use query_memories or list_records, or ask the folder's owner to turn "
                "“Generate embeddings” on.",
            )
    cosines = _candidates(kernel, access, query)
    lexical, dense = kernel.index.lexical_signature, kernel.dense_signature
    with kernel.store.read() as session:
        found = chunks_by_point(session, account_id, folder_id, cosines)
        waiting = count_not_indexed(
            session,
            account_id,
            folder_id,
            lexical=lexical,
            dense=dense,
        )
    calibration = calibration_of(kernel)
    scored = [
        (calibration.score(cosines[point], word_share(query, _own_text(*row))), point)
        for point, row in found.items()
    ]
    scored = sorted((each for each in scored if each[0] >= similarity_threshold), reverse=True)
    results = [_found(*found[point], score) for score, point in scored[:limit]]
    return SearchResult(results=results, similarity_threshold=similarity_threshold, waiting=waiting)


def _candidates(kernel: Kernel, access: FolderAccess, query: str) -> dict[int, float]:
    """Points by meaning and by words, with their cosine. What only its words bring up is at most
    as near as the last one that its meaning does."""
    within = IndexFilter(account_id=access.account_id, groups=(access.folder_id,))
    embedder = kernel.embedder
    vector = embedder.embed_queries([query])[0].tolist()
    by_meaning, by_words = kernel.index.search(
        Collection.RECORDS,
        [
            IndexQuery(filter=within, limit=_DEPTH, vector=vector, model=embedder.signature),
            by_its_words(query, within, _DEPTH),
        ],
    )
    cosines = {point.id: point.score for point in by_meaning}
    least = min(cosines.values(), default=0.0)
    for point in by_words:
        cosines.setdefault(point.id, least)
    return cosines


def _own_text(chunk: RecordChunk, record: FolderRecord) -> str:
    """What is said in this part alone, without the description that all parts of the folder
    share: the words of that would make every one of them a match."""
    if record.vector_description:
        return record.vector_description
    return f"{record.name}\n{record.content[chunk.start : chunk.end]}"


def _found(chunk: RecordChunk, record: FolderRecord, score: float) -> FoundChunk:
    return FoundChunk(
        content=record.content[chunk.start : chunk.end],
        similarity=round(score, 4),
        record_id=record.id,
        record_name=record.name,
        metadata=record.fields,
        start=chunk.start,
        end=chunk.end,
        created_at=record.created_at,
        updated_at=record.updated_at,
    )
