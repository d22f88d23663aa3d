"""Changing notes. Each change is one transaction and one revision; what changes nothing is none.

Whoever names the version that they have seen changes only that one: `Conflict` otherwise.
"""

from typing import Any, Literal

from backread.domain import Principal
from backread.errors import Conflict, InvalidInput, LimitExceeded, NotFound
from backread.indexing import enqueue_embedding
from backread.jobs.scrubbing import scrub_later
from backread.kernel import Kernel
from backread.notes import frontmatter
from backread.notes.paths import note_path
from backread.store.engine import WriteSession
from backread.store.models import Note
from backread.store.repositories import notes as store
from recall.notes.reading import not_found, version_of

Mode = Literal["replace", "append", "str_replace"]
ANY = "*"  # any version, as long as there is one
NONE = ""  # no note may be there
_SHOWN_LINES = 20


def write_note(
    kernel: Kernel,
    principal: Principal,
    path: str,
    body: str,
    values: dict[str, Any] | None = None,
    *,
    expected: str | None = None,
) -> Note:
    """Makes the note, or replaces its whole body and front matter. A deleted one is there again.

    Raises InvalidInput, LimitExceeded, and Conflict when the note is not `expected`.
    """
    path = note_path(path)
    front = frontmatter.write(values or {})
    with kernel.store.write() as session:
        note = _locked(session, principal, path)
        _check_version(note, path, expected)
        return save(kernel, session, principal, note, path, "write", front, body)


def write_file(
    kernel: Kernel, principal: Principal, path: str, text: str, *, expected: str | None = None
) -> Note:
    """As `write_note`, of a file's whole text with its front matter as it is written. Raises
    InvalidInput when a block that looks like front matter is none."""
    path = note_path(path)
    front, body, problem = frontmatter.split(text)
    if problem:
        raise InvalidInput(problem, hint="Correct what stands between the lines of dashes.")
    with kernel.store.write() as session:
        note = _locked(session, principal, path)
        _check_version(note, path, expected)
        return save(kernel, session, principal, note, path, "write", front, body)


def edit_note(
    kernel: Kernel,
    principal: Principal,
    path: str,
    *,
    body: str | None = None,
    values: dict[str, Any] | None = None,
    mode: Mode = "replace",
    old: str | None = None,
    new: str | None = None,
    expected: str | None = None,
) -> Note:
    """Changes a part. Raises NotFound for no such note, InvalidInput when `old` is not there
    exactly once, and when the arguments do not fit the mode."""
    path = note_path(path)
    _check_arguments(mode, body, values, old, new)
    with kernel.store.write() as session:
        note = _locked(session, principal, path)
        if note is None or note.deleted_at is not None:
            raise not_found(path)
        _check_version(note, path, expected)
        front = frontmatter.merge(note.front, values or {})
        text = _edited(note, mode, body, old, new)
        return save(kernel, session, principal, note, path, "edit", front, text)


def delete_note(
    kernel: Kernel, principal: Principal, path: str, *, expected: str | None = None
) -> Note:
    """Puts the note away; its history stays, and it can be had back. Raises NotFound."""
    path = note_path(path)
    with kernel.store.write() as session:
        note = _locked(session, principal, path)
        if note is None or note.deleted_at is not None:
            raise not_found(path)
        _check_version(note, path, expected)
        gone = store.NewRevision(path, "delete", is_deleted=True, client_id=principal.client_id)
        enqueue_indexing(session, principal.account_id)
        return store.append(session, principal.account_id, gone)


def restore_note(
    kernel: Kernel,
    principal: Principal,
    path: str,
    *,
    number: int | None = None,
    expected: str | None = None,
) -> Note:
    """Makes the note say again what a revision says; without a number, what it said last.

    Raises NotFound for no such note or revision, InvalidInput for one that is a deletion.
    """
    path = note_path(path)
    with kernel.store.write() as session:
        note = _locked(session, principal, path)
        if note is None:
            raise not_found(path)
        _check_version(note, path, expected)
        found = (
            store.last_text(session, note)
            if number is None
            else store.find_revision(session, note, number)
        )
        if found is None:
            raise NotFound(
                f"{path} has no revision {number}.",
                hint=f"It has the revisions 1 to {note.number}.",
            )
        if found.is_deleted:
            raise InvalidInput(
                f"Revision {number} of {path} is a deletion.", hint="Restore the one before it."
            )
        return save(kernel, session, principal, note, path, "restore", found.front, found.body)


def purge_note(
    kernel: Kernel, principal: Principal, path: str, *, expected: str | None = None
) -> None:
    """Takes a deleted note away for good, with its history. Raises NotFound, and Conflict while
    it is not deleted or when it is not `expected`."""
    path = note_path(path)
    with kernel.store.write() as session:
        note = _locked(session, principal, path)
        if note is None:
            raise not_found(path)
        if note.deleted_at is None:
            raise Conflict(f"{path} is not deleted.", hint="Delete it first.")
        _check_version(note, path, expected)
        store.purge(session, note)
        enqueue_indexing(session, principal.account_id)
        scrub_later(session)


def save(
    kernel: Kernel,
    session: WriteSession,
    principal: Principal,
    note: Note | None,
    path: str,
    kind: str,
    front: str | None,
    body: str,
) -> Note:
    """Appends a revision, unless the note says just that."""
    check_text(kernel, path, front, body)
    if note is not None and note.deleted_at is None and (note.front, note.body) == (front, body):
        return note
    saved = store.append(
        session,
        principal.account_id,
        store.NewRevision(path, kind, front, body, client_id=principal.client_id),
    )
    enqueue_indexing(session, principal.account_id)
    return saved


def check_text(kernel: Kernel, path: str, front: str | None, body: str) -> None:
    """Raises LimitExceeded for a file that is too large, InvalidInput for what is no text."""
    if "\x00" in body or any("\ud800" <= each <= "\udfff" for each in body):
        raise InvalidInput(
            f"The text of {path} holds a NUL or half a character.", hint="Take it out."
        )
    size = len(frontmatter.join(front, body).encode())
    limit = kernel.settings.note_max_bytes
    if size > limit:
        raise LimitExceeded(
            f"A note may have {limit:,} bytes; {path} has {size:,}.",
            hint="Split it into several notes.",
        )


def enqueue_indexing(session: WriteSession, account_id: str) -> None:
    """Has the search index follow."""
    enqueue_embedding(session, account_id, store.COLLECTION)


def _locked(session: WriteSession, principal: Principal, path: str) -> Note | None:
    store.lock_notes(session, principal.account_id)
    return store.find_note(session, principal.account_id, path)


def _check_version(note: Note | None, path: str, expected: str | None) -> None:
    if expected is None:
        return
    is_there = note is not None and note.deleted_at is None
    if expected == NONE:
        if is_there:
            raise Conflict(f"There is a note at {path} already.", hint="Choose another path.")
        return
    if expected == ANY:
        if not is_there:
            raise Conflict(f"There is no note at {path}.", hint="Write it without If-Match.")
        return
    if note is None or version_of(note) != expected:
        raise Conflict(
            f"{path} was changed since you read it.",
            hint="Read it again, and make your change to what it says now.",
        )


def _check_arguments(
    mode: Mode, body: str | None, values: dict[str, Any] | None, old: str | None, new: str | None
) -> None:
    if mode == "str_replace":
        if not old:
            raise InvalidInput("mode str_replace needs old_str.", hint="Quote what to replace.")
        if body is not None:
            raise InvalidInput(
                "mode str_replace takes no body.", hint="Put the new text into new_str."
            )
        return
    if old is not None or new is not None:
        raise InvalidInput(
            "old_str and new_str belong to mode str_replace.", hint="Add mode: str_replace."
        )
    if body is None and values is None:
        raise InvalidInput("There is nothing to change.", hint="Give body or frontmatter.")


def _edited(note: Note, mode: Mode, body: str | None, old: str | None, new: str | None) -> str:
    if mode == "str_replace":
        assert old is not None
        return _replaced(note, old, new or "")
    if body is None:
        return note.body
    if mode == "append":
        between = "\n" if note.body and not note.body.endswith("\n") else ""
        return f"{note.body}{between}{body}"
    return body


def _replaced(note: Note, old: str, new: str) -> str:
    places = []
    at = note.body.find(old)
    while at >= 0:
        places.append(at)
        at = note.body.find(old, at + 1)
    if not places:
        raise InvalidInput(
            f"old_str occurs 0 times in {note.path}; it must occur exactly once.",
            hint="Read the note, and copy the text letter for letter, blanks included.",
        )
    if len(places) > 1:
        lines = dict.fromkeys(note.body.count("\n", 0, place) + 1 for place in places)
        shown = ", ".join(map(str, list(lines)[:_SHOWN_LINES]))
        more = " and others" if len(lines) > _SHOWN_LINES else ""
        raise InvalidInput(
            f"old_str occurs {len(places)} times in {note.path} (lines {shown}{more}); it must "
            "occur exactly once.",
            hint="Quote more of the text around it.",
        )
    return note.body[: places[0]] + new + note.body[places[0] + len(old) :]
