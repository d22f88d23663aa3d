"""What the search index has of a second embedding model, while models are being changed."""

from sqlalchemy import ColumnElement, and_, case, exists, func, or_, select, update

from backread.store.engine import ReadSession, WriteSession
from backread.store.repositories.chunks import chunks
from backread.store.repositories.indexed import IndexedKind

_CLEARED_AT_A_TIME = 20_000


def accounts_missing(
    session: ReadSession, kind: IndexedKind, *, serving: str, wanted: str
) -> list[str]:
    """Accounts with a row that has a vector under `serving` and none under `wanted`."""
    query = select(kind.model.account_id).where(_is_missing(kind, serving, wanted))
    return sorted(session.scalars(query.distinct()))


def points_missing(
    session: ReadSession,
    kind: IndexedKind,
    account_id: str,
    *,
    serving: str,
    wanted: str,
    limit: int,
) -> list[int]:
    """Numbers of such rows of an account, newest first."""
    query = select(kind.point).where(
        kind.model.account_id == account_id, _is_missing(kind, serving, wanted)
    )
    if kind.occurred_at is not None:
        query = query.order_by(kind.occurred_at.is_(None), kind.occurred_at.desc())
    return list(session.scalars(query.order_by(kind.point.desc()).limit(limit)))


def count_missing(session: ReadSession, kind: IndexedKind, *, serving: str, wanted: str) -> int:
    """How many such rows there are."""
    query = select(func.count()).where(_is_missing(kind, serving, wanted))
    return session.scalars(query).one()


def is_any_missing(session: ReadSession, kind: IndexedKind, *, serving: str, wanted: str) -> bool:
    """Whether a change from `serving` to `wanted` would lose the vector of a row."""
    return bool(session.scalar(select(exists().where(_is_missing(kind, serving, wanted)))))


def _is_missing(kind: IndexedKind, serving: str, wanted: str) -> ColumnElement[bool]:
    return and_(kind.has_vector(serving), kind.lacks_vector(wanted))


def count_vectors(session: ReadSession, kind: IndexedKind, dense: str) -> tuple[int, int]:
    """Rows of all accounts with a vector under `dense`, and all rows."""
    has = func.count(case((kind.has_vector(dense), 1)))
    row = session.execute(select(has, func.count()).select_from(kind.model)).one()
    return row[0], row[1]


def clear_vector_marks(session: WriteSession, kind: IndexedKind, signature: str) -> int:
    """Notes that some thousand rows have no vector of the model with this signature any more;
    returns how many it were. The vector of another model that they have stays noted."""
    dense, beside = kind.model.dense_with, kind.model.beside_with
    start = f"{signature}@"
    in_dense, in_beside = (column.startswith(start, autoescape=True) for column in (dense, beside))
    query = select(kind.point).where(or_(in_dense, in_beside)).limit(_CLEARED_AT_A_TIME)
    points = list(session.scalars(query))
    for some in chunks(points):
        session.execute(
            update(kind.model)
            .where(kind.point.in_(some))
            .values(
                dense_with=case((in_dense, case((in_beside, ""), else_=beside)), else_=dense),
                beside_with="",
            )
            .execution_options(synchronize_session=False)
        )
    return len(points)
