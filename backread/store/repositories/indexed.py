"""What the search index has of the database, and what it lacks: the same for every kind of row.

A kind is one entry of `KINDS`: passages and memories are, and so is whatever else search finds.
`backread/indexing` moves rows between the two, and says what a new kind needs.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    SQLColumnExpression,
    String,
    and_,
    case,
    cast,
    func,
    literal,
    null,
    or_,
    select,
    update,
)

from backread.store.engine import ReadSession, WriteSession
from backread.store.models import (
    Conversation,
    FilePassage,
    Memory,
    NotePassage,
    Passage,
    RecordChunk,
)
from backread.store.repositories.chunks import chunks
from backread.store.repositories.passages import indexed_text


@dataclass(frozen=True, slots=True)
class IndexedKind:
    """How rows of one table lie in one collection of the index.

    `model` has the columns of `IndexMarks` and an `account_id`; a kind with `has_words=False`
    has no `lexical_with`, and its words go into the index together with the vector. `point` is
    the row's number in the index: unique in the collection and never used twice. `group` is what
    rows are filtered by. `changed` is the time of the last change of a row that is edited in
    place; None where a changed row is a new row. `joined` is a table that columns come from and
    the condition of the join.
    """

    collection: str
    model: type[Any]
    point: SQLColumnExpression[int]
    text: SQLColumnExpression[str]
    group: SQLColumnExpression[Any]
    occurred_at: SQLColumnExpression[Any] | None = None
    heading: SQLColumnExpression[str] | None = None
    platform: SQLColumnExpression[str] | None = None
    changed: SQLColumnExpression[datetime] | None = None
    joined: tuple[type[Any], ColumnElement[bool]] | None = None
    has_words: bool = True
    # Where text is put together from what `heading` and `text` hold.
    compose: Callable[[str, str], str] = indexed_text

    def rows(self) -> Select[*tuple[Any, ...]]:
        """What `_indexed_row` reads; callers add which rows they want."""
        query = select(
            self.point.label("point"),
            self.model.account_id.label("account_id"),
            cast(self.group, String).label("group_name"),
            _or(self.heading, literal("")).label("heading"),
            self.text.label("body"),
            _or(self.occurred_at, null()).label("occurred_at"),
            _or(self.platform, literal("")).label("platform"),
            _or(self.changed, null()).label("changed_at"),
            self.model.dense_with.label("dense_with"),
        ).select_from(self.model)
        return query if self.joined is None else query.join(*self.joined)

    def is_of(self, account_id: str) -> ColumnElement[bool]:
        """Condition for queries that name the rows they want: not a plain comparison, because
        SQLite would then go by the index over accounts and read all of an account's rows."""
        condition: ColumnElement[bool] = self.model.account_id.concat("") == account_id
        return condition

    def lacks_words(self, signature: str) -> ColumnElement[bool]:
        """Condition: the words are not indexed under the signature. Two ranges, not `!=`, so that
        an index over the column answers it at once when everything is indexed."""
        column = self.model.lexical_with
        return or_(column < signature, column > signature)

    def has_vector(self, signature: str) -> ColumnElement[bool]:
        """Condition: the point has a vector under the signature."""
        dense, beside = self.model.dense_with, self.model.beside_with
        return and_(dense != "", or_(dense == signature, beside == signature))

    def lacks_vector(self, signature: str) -> ColumnElement[bool]:
        dense, beside = self.model.dense_with, self.model.beside_with
        return or_(dense == "", and_(dense != signature, beside != signature))


def _or(
    column: SQLColumnExpression[Any] | None, nothing: ColumnElement[Any]
) -> SQLColumnExpression[Any]:
    return nothing if column is None else column


PASSAGES = IndexedKind(
    collection="passages",
    model=Passage,
    point=Passage.id,
    text=Passage.text,
    heading=Passage.heading,
    group=Passage.conversation_id,
    occurred_at=Passage.occurred_at,
    platform=Conversation.platform,
    joined=(Conversation, Conversation.id == Passage.conversation_id),
)
MEMORIES = IndexedKind(
    collection="memories",
    model=Memory,
    point=Memory.point_id,
    text=Memory.text,
    group=Memory.bucket_id,
    occurred_at=Memory.created_at,
    changed=Memory.updated_at,
    has_words=False,
)
RECORDS = IndexedKind(
    collection="records",
    model=RecordChunk,
    point=RecordChunk.point_id,
    text=RecordChunk.text,
    group=RecordChunk.folder_id,
    occurred_at=RecordChunk.created_at,
)
NOTES = IndexedKind(
    collection="notes",
    model=NotePassage,
    point=NotePassage.point_id,
    text=NotePassage.text,
    group=NotePassage.note_id,
    occurred_at=NotePassage.occurred_at,
)

FILES = IndexedKind(
    collection="files",
    model=FilePassage,
    point=FilePassage.point_id,
    text=FilePassage.text,
    heading=FilePassage.heading,
    group=FilePassage.group_name,
    occurred_at=FilePassage.occurred_at,
)

# One line for each kind of row that search finds.
KINDS: Mapping[str, IndexedKind] = {
    kind.collection: kind for kind in (PASSAGES, MEMORIES, RECORDS, NOTES, FILES)
}


@dataclass(frozen=True, slots=True)
class IndexedRow:
    """What the index needs of a row. `changed_at` tells whether it was edited meanwhile,
    `has_vector` whether the index may have one, of whatever model."""

    id: int
    account_id: str
    group: str
    text: str
    occurred_at: datetime | None
    platform: str
    changed_at: datetime | None
    has_vector: bool


def rows_without_words(
    session: ReadSession,
    kind: IndexedKind,
    account_id: str,
    signature: str,
    *,
    limit: int,
    after: int = 0,
) -> list[IndexedRow]:
    """The next rows by number whose words the index does not have under the signature."""
    query = (
        kind.rows()
        .where(kind.lacks_words(signature), kind.point > after, kind.is_of(account_id))
        .order_by(kind.point)
        .limit(limit)
    )
    return [_indexed_row(kind, row) for row in session.execute(query)]


def points_to_embed(
    session: ReadSession, kind: IndexedKind, account_id: str, *, words: str, dense: str, limit: int
) -> list[int]:
    """Numbers of rows whose words are indexed under `words` and whose vector is not under
    `dense`, newest first; those without a time come last."""
    query = select(kind.point).where(kind.model.account_id == account_id, kind.lacks_vector(dense))
    if kind.has_words:
        query = query.where(kind.model.lexical_with == words)
    if kind.occurred_at is not None:
        query = query.order_by(kind.occurred_at.is_(None), kind.occurred_at.desc())
    return list(session.scalars(query.order_by(kind.point.desc()).limit(limit)))


def count_without_vector(
    session: ReadSession, kind: IndexedKind, account_id: str, dense: str
) -> int:
    """Rows of the account without a vector under `dense`, whether their words are indexed or
    not."""
    query = select(func.count()).where(
        kind.model.account_id == account_id, kind.lacks_vector(dense)
    )
    return session.scalars(query).one()


def indexed_rows(
    session: ReadSession, kind: IndexedKind, account_id: str, points: Sequence[int]
) -> list[IndexedRow]:
    """Those of the rows that are still there, in the order of `points`."""
    found: dict[int, IndexedRow] = {}
    for some in chunks(points):
        query = kind.rows().where(kind.point.in_(some), kind.is_of(account_id))
        for row in session.execute(query):
            found[row.point] = _indexed_row(kind, row)
    return [found[each] for each in points if each in found]


def mark_words(session: WriteSession, kind: IndexedKind, points: Sequence[int], words: str) -> None:
    """Notes that the index has the words of these rows. Rows that are gone are passed over."""
    for some in chunks(points):
        session.execute(
            update(kind.model)
            .where(kind.point.in_(some))
            .values(lexical_with=words)
            .execution_options(synchronize_session=False)
        )


def mark_vectors(
    session: WriteSession,
    kind: IndexedKind,
    rows: Sequence[IndexedRow],
    dense: str,
    *,
    beside: str = "",
) -> None:
    """Notes that the index has vectors of these rows under `dense`.

    `beside` is the mark of the other model whose vectors were left where they were; without it
    the points were put in whole, and have no other vector now. A row that was edited meanwhile
    is passed over, so that it is indexed again.
    """
    model = kind.model
    kept = case((kind.has_vector(beside), beside), else_="") if beside else ""
    change = update(model).values(dense_with=dense, beside_with=kept)
    change = change.execution_options(synchronize_session=False)
    if kind.changed is None:
        for some in chunks([row.id for row in rows]):
            session.execute(change.where(kind.point.in_(some)))
        return
    for row in rows:
        session.execute(change.where(kind.point == row.id, kind.changed == row.changed_at))


def forget_vectors(session: WriteSession, kind: IndexedKind, points: Sequence[int]) -> None:
    """Notes that these rows have no vectors, of whatever model."""
    for some in chunks(points):
        session.execute(
            update(kind.model)
            .where(kind.point.in_(some))
            .values(dense_with="", beside_with="")
            .execution_options(synchronize_session=False)
        )


def gone_points(session: ReadSession, kind: IndexedKind, points: Sequence[int]) -> list[int]:
    """Those of the numbers that no row has any more."""
    there: set[int] = set()
    for some in chunks(points):
        there.update(session.scalars(select(kind.point).where(kind.point.in_(some))))
    return [each for each in points if each not in there]


def accounts_lacking(
    session: ReadSession, kind: IndexedKind, *, words: str, dense: str
) -> set[str]:
    """Accounts with a row that the index does not have under these signatures."""
    lacking = kind.lacks_vector(dense)
    if kind.has_words:
        lacking = or_(kind.model.lexical_with != words, lacking)
    return set(session.scalars(select(kind.model.account_id).where(lacking).distinct()))


def forget_indexed(session: WriteSession, kind: IndexedKind, account_id: str) -> None:
    """Notes that the index has nothing of the account, so that all of it is indexed again."""
    marks = {"dense_with": "", "beside_with": ""}
    if kind.has_words:
        marks["lexical_with"] = ""
    session.execute(
        update(kind.model)
        .where(kind.model.account_id == account_id)
        .values(marks)
        .execution_options(synchronize_session=False)
    )


def count_indexed(
    session: ReadSession, kind: IndexedKind, account_id: str, *, words: str, dense: str
) -> int:
    """Rows of the account that the index should have under these signatures, by what the
    database knows."""
    has = kind.model.lexical_with == words if kind.has_words else kind.has_vector(dense)
    query = select(func.count()).where(kind.model.account_id == account_id, has)
    return session.scalars(query).one()


def _indexed_row(kind: IndexedKind, row: Any) -> IndexedRow:
    return IndexedRow(
        id=row.point,
        account_id=row.account_id,
        group=row.group_name,
        text=kind.compose(row.heading, row.body),
        occurred_at=row.occurred_at,
        platform=row.platform,
        changed_at=row.changed_at,
        has_vector=bool(row.dense_with),
    )
