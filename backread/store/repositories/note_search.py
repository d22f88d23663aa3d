"""Looks for a text in notes, as they were at one moment: later changes move no page."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Integer, Text, and_, cast, func, or_, select

from backread.notes import content, frontmatter
from backread.store.engine import ReadSession
from backread.store.models import Note, NoteRevision


@dataclass(frozen=True, slots=True)
class NoteQuery:
    """`text` is folded. `folder` means it and what is below it, "" everything. All of `tags` must
    be there."""

    text: str
    folder: str = ""
    tags: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page ended: after the note with this score and change."""

    score: int
    seq: int


@dataclass(frozen=True, slots=True)
class NoteHit:
    path: str
    title: str
    body: str
    score: int
    seq: int
    updated_at: datetime

    @property
    def place(self) -> Place:
        return Place(self.score, self.seq)


def search_notes(
    session: ReadSession,
    account_id: str,
    query: NoteQuery,
    *,
    as_of: int,
    after: Place | None,
    limit: int,
) -> list[NoteHit]:
    """Notes as they were after the change `as_of`, those with the most matches first and of
    several alike the one changed last; beginning after a place."""
    hits = _unchanged(session, account_id, query, as_of, after, limit)
    hits += _changed_since(session, account_id, query, as_of, after)
    each = {hit.path: hit for hit in hits}  # once, should it have changed between the two
    return sorted(each.values(), key=lambda hit: (-hit.score, -hit.seq))[:limit]


def _unchanged(
    session: ReadSession,
    account_id: str,
    query: NoteQuery,
    as_of: int,
    after: Place | None,
    limit: int,
) -> list[NoteHit]:
    without = func.replace(Note.folded, query.text, "")
    removed = func.length(Note.folded, type_=Integer) - func.length(without, type_=Integer)
    score = removed // len(query.text)
    wanted = (
        select(Note.path, Note.title, Note.body, score.label("score"), Note.seq, Note.updated_at)
        .where(
            Note.account_id == account_id,
            Note.deleted_at.is_(None),
            Note.seq <= as_of,
            _holds(session, Note.folded, query.text),
            *_within(session, query),
        )
        .order_by(score.desc(), Note.seq.desc())
        .limit(limit)
    )
    if after is not None:
        wanted = wanted.where(
            or_(score < after.score, and_(score == after.score, Note.seq < after.seq))
        )
    return [NoteHit(*row) for row in session.execute(wanted)]


def _within(session: ReadSession, query: NoteQuery) -> list[ColumnElement[bool]]:
    # A list in JSON holds each text in quotes, and no text in it holds bare quotes.
    tags = cast(Note.tags, Text)
    found = [_holds(session, tags, json.dumps(each)) for each in query.tags]
    if query.folder:
        start = f"{query.folder}/"
        found.append(func.substr(Note.path, 1, len(start)) == start)
    return found


def _holds(session: ReadSession, column: Any, text: str) -> ColumnElement[bool]:
    """Letter for letter, unlike LIKE."""
    is_sqlite = session.get_bind().dialect.name == "sqlite"
    find = func.instr if is_sqlite else func.strpos
    return find(column, text) > 0


def _changed_since(
    session: ReadSession, account_id: str, query: NoteQuery, as_of: int, after: Place | None
) -> list[NoteHit]:
    changed = select(Note.id).where(Note.account_id == account_id, Note.seq > as_of)
    latest = (
        select(NoteRevision.note_id, func.max(NoteRevision.number).label("number"))
        .where(NoteRevision.note_id.in_(changed), NoteRevision.seq <= as_of)
        .group_by(NoteRevision.note_id)
        .subquery()
    )
    rows = session.execute(
        select(NoteRevision, Note.path)
        .join(
            latest,
            and_(latest.c.note_id == NoteRevision.note_id, latest.c.number == NoteRevision.number),
        )
        .join(Note, Note.id == NoteRevision.note_id)
        .where(NoteRevision.is_deleted.is_(False))
    )
    hits = [_former(revision, path, query) for revision, path in rows]
    return [
        hit
        for hit in hits
        if hit is not None and (after is None or (hit.score, hit.seq) < (after.score, after.seq))
    ]


def _former(revision: NoteRevision, path: str, query: NoteQuery) -> NoteHit | None:
    """The note as it was, if the query finds it so."""
    values = frontmatter.read(revision.front)
    title = content.title_of(path, values, revision.body)
    tags = content.tags_of(values, revision.body)
    score = content.searched_text(title, revision.body, tags).count(query.text)
    is_inside = not query.folder or path.startswith(f"{query.folder}/")
    if not score or not is_inside or not set(query.tags) <= set(tags):
        return None
    return NoteHit(path, title, revision.body, score, revision.seq, revision.made_at)
