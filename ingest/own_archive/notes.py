"""Notes in an archive: every revision of each, in the order in which they were made."""

from collections.abc import Iterator
from datetime import datetime

from backread.errors import InvalidInput
from backread.kernel import Kernel
from backread.notes import frontmatter
from backread.notes.paths import note_path
from backread.store.base import utcnow
from backread.store.engine import WriteSession
from backread.store.repositories import notes as store
from ingest.importers.base import text_in, time_in
from ingest.own_archive.form import NOTE_REVISION, Record

_KINDS = frozenset({"write", "edit", "delete", "restore", "import", "sync"})
_CLIENT_CHARS = 512
_AUTHOR_CHARS = 200
_MOST_NUMBER = 2**31 - 1


def note_records(kernel: Kernel, account_id: str) -> Iterator[tuple[str, Record]]:
    """A page at a time, so that no transaction stays open."""
    seq = 0
    made: dict[str, datetime] = {}
    while True:
        with kernel.store.read() as session:
            page = store.revisions_page(session, account_id, seq)
        if not page:
            return
        for revision, path in page:
            yield (
                NOTE_REVISION,
                {
                    "path": path,
                    "number": revision.number,
                    "kind": revision.kind,
                    "front": revision.front,
                    "body": revision.body,
                    "is_deleted": revision.is_deleted,
                    "made_by": revision.client_id,
                    "author": revision.author,
                    "made_at": revision.made_at,
                    "follows": made.get(path),  # when the revision before it was made
                },
            )
            made[path] = revision.made_at
        seq = page[-1][0].seq


def take_note_revision(session: WriteSession, account_id: str, record: Record) -> str:
    """Goes on with a note's history where it stands. A note that is here with a history of its
    own stays as it is."""
    number, kind = record.get("number"), text_in(record.get("kind"))
    made_at = time_in(record.get("made_at"))
    front, body = record.get("front"), record.get("body")
    if not isinstance(number, int) or not 0 < number <= _MOST_NUMBER or kind not in _KINDS:
        return ":wrong"
    if made_at is None or not isinstance(body, str):
        return ":wrong"
    try:
        path = note_path(text_in(record.get("path")))
        frontmatter.read(front if isinstance(front, str) else None)
    except InvalidInput:
        return ":wrong"
    if "\x00" in body:
        return ":wrong"
    store.lock_notes(session, account_id)
    note = store.find_note(session, account_id, path)
    there = note.number if note is not None else 0
    if note is not None and there == number - 1:
        last = store.find_revision(session, note, there)
        if last is None or last.made_at != time_in(record.get("follows")):
            return ":known"
    if there != number - 1:
        return ":known" if there else ":wrong"
    is_deleted = record.get("is_deleted") is True
    store.append(
        session,
        account_id,
        store.NewRevision(
            path,
            kind,
            front if isinstance(front, str) and front else None,
            body,
            is_deleted=is_deleted and note is not None,
            client_id=text_in(record.get("made_by"))[:_CLIENT_CHARS] or None,
            author=text_in(record.get("author"))[:_AUTHOR_CHARS],
            made_at=min(made_at, utcnow()),
        ),
    )
    return ""
