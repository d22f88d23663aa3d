"""Searching notes by a literal text, a page at a time."""

from collections.abc import Sequence

from backread.cursors import pack, unpack
from backread.domain import Principal
from backread.errors import InvalidInput, LimitExceeded
from backread.kernel import Kernel
from backread.notes.content import folded, snippet_of
from backread.notes.paths import folder_path
from backread.store.repositories.note_search import NoteHit, NoteQuery, Place
from backread.store.repositories.note_search import search_notes as find
from backread.store.repositories.notes import latest_seq
from recall.notes.views import FoundNote, NoteResults, moment, seen

DEFAULT_RESULTS = 20
MAX_RESULTS = 50
MAX_TAGS = 50
MAX_QUERY = 1_000


def search_notes(
    kernel: Kernel,
    principal: Principal,
    query: str,
    *,
    folder: str = "",
    tags: Sequence[str] = (),
    limit: int = DEFAULT_RESULTS,
    cursor: str = "",
) -> NoteResults:
    """Notes whose title, body and tags hold the text, in any case, those with the most matches
    first. All pages show the notes as they were at the first one.

    Raises InvalidInput for an empty query and for a cursor of another search.
    """
    wanted = _checked(query, folder, tags, limit)
    with kernel.store.read() as session:
        as_of, after = _read_cursor(cursor) if cursor else (-1, None)
        if as_of < 0:
            as_of = latest_seq(session, principal.account_id)
        hits = find(
            session, principal.account_id, wanted, as_of=as_of, after=after, limit=limit + 1
        )
    shown = hits[:limit]
    more = len(hits) > limit
    return NoteResults(
        results=[_shown(hit, query) for hit in shown],
        next_cursor=_write_cursor(as_of, shown[-1].place) if more else None,
    )


def checked_tags(tags: Sequence[str]) -> list[str]:
    """Without a # before them. Raises LimitExceeded for more than 50."""
    if len(tags) > MAX_TAGS:
        raise LimitExceeded(f"`tags` has {len(tags)} entries; {MAX_TAGS} are allowed.")
    return [each.strip().removeprefix("#") for each in tags if each.strip().removeprefix("#")]


def _checked(query: str, folder: str, tags: Sequence[str], limit: int) -> NoteQuery:
    text = folded(query.strip())
    if not text:
        raise InvalidInput("The query is empty.", hint="Give a word to look for.")
    if len(query) > MAX_QUERY:
        raise LimitExceeded(f"A query may have {MAX_QUERY} characters at most.")
    if "\x00" in text or any("\ud800" <= each <= "\udfff" for each in text):
        raise InvalidInput("The query holds a NUL or half a character.", hint="Take it out.")
    if not 1 <= limit <= MAX_RESULTS:
        raise LimitExceeded(f"`limit` is {limit}; 1 to {MAX_RESULTS} are allowed.")
    return NoteQuery(text, folder_path(folder), checked_tags(tags))


def _shown(hit: NoteHit, query: str) -> FoundNote:
    return FoundNote(
        path=hit.path,
        title=seen(hit.title),
        snippet=seen(snippet_of(hit.body, query)),
        score=hit.score,
        updated=moment(hit.updated_at),
    )


def _write_cursor(as_of: int, place: Place) -> str:
    return pack([as_of, place.score, place.seq])


def _read_cursor(text: str) -> tuple[int, Place]:
    try:
        numbers = unpack(text)
        as_of, score, seq = numbers
        if any(type(each) is not int or not 0 <= each < 2**62 for each in numbers):
            raise ValueError(text)
    except (ValueError, TypeError) as error:
        raise InvalidInput(
            "The cursor is not one that this search gave.",
            hint="Give nextCursor of the page before back as it is, or leave it out.",
        ) from error
    return as_of, Place(score, seq)
