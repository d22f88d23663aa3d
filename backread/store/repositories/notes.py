"""Notes: what they say, and every change as a revision. Searching is in `note_search.py`."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, func, insert, select

from backread.notes import content, frontmatter
from backread.notes.passages import passages_of
from backread.store.base import utcnow
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Account, Note, NotePassage, NoteRevision, OAuthClient
from backread.store.repositories.chunks import chunks
from backread.store.repositories.removals import record_removals

COLLECTION = "notes"
_PAGE = 500  # rows


@dataclass(frozen=True, slots=True)
class NewRevision:
    """A change to be written. `front` and `body` are not looked at when it deletes."""

    path: str
    kind: str
    front: str | None = None
    body: str = ""
    is_deleted: bool = False
    client_id: str | None = None
    author: str = ""
    made_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ListedNote:
    """A note without its text."""

    path: str
    title: str
    tags: Sequence[str]
    size_bytes: int
    number: int
    updated_at: datetime
    deleted_at: datetime | None


def lock_notes(session: WriteSession, account_id: str) -> None:
    """Whoever changes notes of the account next waits for this transaction. Imports do not."""
    session.execute(
        select(Account.id).where(Account.id == account_id).with_for_update(key_share=True)
    )


def find_note(session: ReadSession, account_id: str, path: str) -> Note | None:
    """Also one that is deleted."""
    return session.scalar(select(Note).where(Note.account_id == account_id, Note.path == path))


def latest_seq(session: ReadSession, account_id: str) -> int:
    """The number of the account's latest change, 0 before the first."""
    query = select(func.max(NoteRevision.seq)).where(NoteRevision.account_id == account_id)
    return session.scalar(query) or 0


def append(session: WriteSession, account_id: str, new: NewRevision) -> Note:
    """Writes a change down and makes the note what it says. `lock_notes` comes first."""
    note = find_note(session, account_id, new.path)
    made_at = new.made_at or utcnow()
    seq = latest_seq(session, account_id) + 1
    if note is None:
        note = Note(account_id=account_id, path=new.path, number=0, created_at=made_at)
        _say(note, new.front, new.body)
    elif not new.is_deleted:
        _say(note, new.front, new.body)
    note.number += 1
    note.seq = seq
    note.updated_at = made_at
    note.deleted_at = made_at if new.is_deleted else None
    session.add(note)
    session.flush()
    session.add(
        NoteRevision(
            note_id=note.id,
            number=note.number,
            account_id=account_id,
            seq=seq,
            kind=new.kind,
            body="" if new.is_deleted else new.body,
            front=None if new.is_deleted else new.front,
            is_deleted=new.is_deleted,
            client_id=new.client_id,
            author=new.author,
            made_at=made_at,
        )
    )
    session.flush()
    _cut(session, note)
    return note


def purge(session: WriteSession, note: Note) -> None:
    """The note and all its revisions, for good."""
    _forget_passages(session, note)
    session.delete(note)
    session.flush()


def revisions_of(
    session: ReadSession, note: Note, *, before: int | None = None, limit: int = 200
) -> list[NoteRevision]:
    """Newest first; those with a number below `before`."""
    query = select(NoteRevision).where(NoteRevision.note_id == note.id)
    if before is not None:
        query = query.where(NoteRevision.number < before)
    return list(session.scalars(query.order_by(NoteRevision.number.desc()).limit(limit)))


def find_revision(session: ReadSession, note: Note, number: int) -> NoteRevision | None:
    return session.get(NoteRevision, (note.id, number))


def last_text(session: ReadSession, note: Note) -> NoteRevision | None:
    """The newest revision that says something."""
    query = select(NoteRevision).where(
        NoteRevision.note_id == note.id, NoteRevision.is_deleted.is_(False)
    )
    return session.scalar(query.order_by(NoteRevision.number.desc()).limit(1))


def list_notes(
    session: ReadSession, account_id: str, *, is_deleted: bool = False
) -> list[ListedNote]:
    """All notes that are there, or all that are deleted, by path."""
    query = select(
        Note.path,
        Note.title,
        Note.tags,
        Note.size_bytes,
        Note.number,
        Note.updated_at,
        Note.deleted_at,
    ).where(
        Note.account_id == account_id,
        Note.deleted_at.is_not(None) if is_deleted else Note.deleted_at.is_(None),
    )
    listed = [ListedNote(*row) for row in session.execute(query)]
    return sorted(listed, key=lambda each: each.path)


def count_notes(session: ReadSession, account_id: str) -> int:
    query = select(func.count()).where(Note.account_id == account_id, Note.deleted_at.is_(None))
    return session.scalars(query).one()


def revisions_page(
    session: ReadSession, account_id: str, after_seq: int, limit: int = _PAGE
) -> list[tuple[NoteRevision, str]]:
    """Changes of the account in the order in which they were made, each with its note's path."""
    query = (
        select(NoteRevision, Note.path)
        .join(Note, Note.id == NoteRevision.note_id)
        .where(NoteRevision.account_id == account_id, NoteRevision.seq > after_seq)
        .order_by(NoteRevision.seq)
        .limit(limit)
    )
    return [(revision, path) for revision, path in session.execute(query)]


def notes_by_point(
    session: ReadSession, account_id: str, points: Sequence[int]
) -> dict[int, tuple[Note, str]]:
    """Notes and the texts of their passages, by the passages' numbers in the index. What is gone,
    or another account's, is left out."""
    found: dict[int, tuple[Note, str]] = {}
    for some in chunks(points):
        rows = session.execute(
            select(NotePassage.point_id, NotePassage.text, Note)
            .join(Note, Note.id == NotePassage.note_id)
            .where(NotePassage.account_id == account_id, NotePassage.point_id.in_(some))
        )
        found |= {point: (note, text) for point, text, note in rows}
    return found


def client_names(session: ReadSession, ids: Sequence[str | None]) -> dict[str, str]:
    """Names of AI clients by their ids. A client that is forgotten has none."""
    wanted = {each for each in ids if each}
    query = select(OAuthClient.id, OAuthClient.name).where(OAuthClient.id.in_(wanted))
    return {row.id: row.name for row in session.execute(query)} if wanted else {}


def _say(note: Note, front: str | None, body: str) -> None:
    values = frontmatter.read(front)
    note.front, note.body, note.frontmatter = front, body, values
    note.tags = content.tags_of(values, body)
    note.title = content.title_of(note.path, values, body)
    note.folded = content.searched_text(note.title, body, note.tags)
    note.size_bytes = len(frontmatter.join(front, body).encode())


def _cut(session: WriteSession, note: Note) -> None:
    _forget_passages(session, note)
    if note.deleted_at is not None:
        return
    rows = [
        {
            "point_id": secrets.randbits(62),
            "note_id": note.id,
            "account_id": note.account_id,
            "ordinal": ordinal,
            "text": text,
            "occurred_at": note.updated_at,
        }
        for ordinal, text in enumerate(passages_of(note.title, note.body))
    ]
    session.execute(insert(NotePassage), rows)


def _forget_passages(session: WriteSession, note: Note) -> None:
    ids = session.scalars(select(NotePassage.point_id).where(NotePassage.note_id == note.id)).all()
    record_removals(session, note.account_id, COLLECTION, ids)
    session.execute(
        delete(NotePassage)
        .where(NotePassage.note_id == note.id)
        .execution_options(synchronize_session=False)
    )
