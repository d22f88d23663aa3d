"""Notes by their meaning and their words. The index follows a change after a moment."""

from collections.abc import Sequence

from backread.domain import Principal
from backread.errors import InvalidInput, LimitExceeded, Unavailable
from backread.kernel import Kernel
from backread.notes.content import folded, snippet_of
from backread.notes.paths import folder_path
from backread.store.models import Note
from backread.store.repositories.notes import notes_by_point
from backread.vectors.index import Collection, IndexFilter, IndexQuery
from recall.hybrid import by_its_words
from recall.notes.searching import MAX_QUERY, checked_tags, search_notes
from recall.notes.views import FoundNote, SimilarNote, SimilarNotes, moment, seen
from recall.query import without_question_words

DEFAULT_RESULTS = 20
MAX_RESULTS = 50

_DEPTH = 300  # passages; folders and tags are looked at afterwards
_LEAST_SIMILAR = 0.2
_FITS_WELL = 0.5


def similar_notes(
    kernel: Kernel,
    principal: Principal,
    query: str,
    *,
    folder: str = "",
    tags: Sequence[str] = (),
    limit: int = DEFAULT_RESULTS,
) -> SimilarNotes:
    """Notes that match by words or by meaning, best first.

    Raises InvalidInput for an empty query, Unavailable when the index is away.
    """
    query, folder, wanted = query.strip(), folder_path(folder), set(checked_tags(tags))
    if not query:
        raise InvalidInput("The query is empty.", hint="Say what to look for.")
    if len(query) > MAX_QUERY:
        raise LimitExceeded(f"A query may have {MAX_QUERY} characters at most.")
    if not 1 <= limit <= MAX_RESULTS:
        raise LimitExceeded(f"`limit` is {limit}; 1 to {MAX_RESULTS} are allowed.")
    scores = _scores(kernel, principal.account_id, query)
    with kernel.store.read() as session:
        found = notes_by_point(session, principal.account_id, list(scores))
    best: dict[str, tuple[float, Note, str]] = {}
    for point, (note, text) in found.items():
        inside = not folder or note.path.startswith(f"{folder}/")
        if inside and wanted <= set(note.tags):
            best[note.path] = max(
                best.get(note.path, (-1.0, note, "")),
                (scores[point], note, text),
                key=lambda each: each[0],
            )
    ranked = sorted(best.values(), key=lambda each: (-each[0], each[1].path))[:limit]
    return SimilarNotes(results=[_shown(*each, query) for each in ranked])


def related_notes(
    kernel: Kernel, principal: Principal, query: str, *, limit: int
) -> list[FoundNote | SimilarNote]:
    """Notes for a search of everything: those that hold the text first, which a new note does at
    once, then those that fit well. Without an index only the former."""
    found: dict[str, FoundNote | SimilarNote] = {
        each.path: each for each in search_notes(kernel, principal, query, limit=limit).results
    }
    try:
        similar = similar_notes(kernel, principal, query, limit=limit).results
    except Unavailable:
        similar = []
    for each in similar:
        if each.score >= _FITS_WELL:
            found.setdefault(each.path, each)
    return list(found.values())[:limit]


def _scores(kernel: Kernel, account_id: str, query: str) -> dict[int, float]:
    within = IndexFilter(account_id=account_id)
    embedder = kernel.embedder
    vector = embedder.embed_queries([query])[0].tolist()
    by_words, by_meaning = kernel.index.search(
        Collection.NOTES,
        [
            by_its_words(query, within, _DEPTH),
            IndexQuery(filter=within, limit=_DEPTH, vector=vector, model=embedder.signature),
        ],
    )
    top = max((point.score for point in by_words), default=0.0) or 1.0
    scores = {point.id: point.score / top for point in by_words}
    for point in by_meaning:
        if point.score >= _LEAST_SIMILAR:
            scores[point.id] = scores.get(point.id, 0.0) + point.score
    return scores


def _shown(score: float, note: Note, text: str, query: str) -> SimilarNote:
    text = text.removeprefix(note.title)
    searched = folded(text)
    by_length = sorted(without_question_words(query).split(), key=len, reverse=True)
    word = next((each for each in by_length if folded(each) in searched), "")
    return SimilarNote(
        path=note.path,
        title=seen(note.title),
        snippet=seen(snippet_of(text, word)),
        score=round(score, 4),
        updated=moment(note.updated_at),
    )
