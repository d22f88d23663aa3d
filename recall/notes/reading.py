"""Reading a note and its history."""

from dataclasses import dataclass
from datetime import datetime

from backread.domain import Principal
from backread.errors import NotFound
from backread.notes.frontmatter import join
from backread.notes.paths import note_path
from backread.store.engine import ReadSession
from backread.store.models import Note, NoteRevision
from backread.store.repositories import notes as store
from recall.notes.views import NoteView, moment, seen


@dataclass(frozen=True, slots=True)
class Revision:
    """One change of a note. `text` is the whole file, empty when it was deleted."""

    number: int
    kind: str
    is_deleted: bool
    author: str  # a client's name, words from elsewhere, or empty for the owner
    made_at: datetime
    text: str
    is_latest: bool


def get_note(session: ReadSession, principal: Principal, path: str) -> Note:
    """The note, also a deleted one. Raises InvalidInput for no path, NotFound for no note."""
    path = note_path(path)
    note = store.find_note(session, principal.account_id, path)
    if note is None:
        raise not_found(path)
    return note


def not_found(path: str) -> NotFound:
    return NotFound(
        f"There is no note at {path}.",
        hint="Paths are exact, upper and lower case included. memory__list and memory__search "
        "show them; memory__write makes a new note.",
    )


def note_view(note: Note) -> NoteView:
    return NoteView(
        path=note.path,
        title=seen(note.title),
        frontmatter=note.frontmatter,
        body=seen(note.body),
        tags=note.tags,
        updated=moment(note.updated_at),
        deleted=note.deleted_at is not None,
    )


def version_of(note: Note) -> str:
    """Names what the note says now, for whoever changes only what they have seen."""
    return f"{note.id}-{note.number}"


def history(
    session: ReadSession, principal: Principal, path: str, *, before: int | None = None
) -> list[Revision]:
    """Newest first, 200 at most, with their texts."""
    note = get_note(session, principal, path)
    found = store.revisions_of(session, note, before=before)
    names = store.client_names(session, [each.client_id for each in found])
    return [_revision(note, each, names) for each in found]


def revision(session: ReadSession, principal: Principal, path: str, number: int) -> Revision:
    """One of them. Raises NotFound."""
    note = get_note(session, principal, path)
    found = store.find_revision(session, note, number) if 0 < number < 2**31 else None
    if found is None:
        raise NotFound(
            f"{note.path} has no revision {number}.",
            hint=f"It has the revisions 1 to {note.number}.",
        )
    return _revision(note, found, store.client_names(session, [found.client_id]))


def text_before(session: ReadSession, principal: Principal, path: str, number: int) -> str:
    """What the revision before this one says; empty before the first."""
    return revision(session, principal, path, number - 1).text if number > 1 else ""


def _revision(note: Note, found: NoteRevision, names: dict[str, str]) -> Revision:
    return Revision(
        number=found.number,
        kind=found.kind,
        is_deleted=found.is_deleted,
        author=found.author or names.get(found.client_id or "", found.client_id or ""),
        made_at=found.made_at,
        text="" if found.is_deleted else join(found.front, found.body),
        is_latest=found.number == note.number,
    )
