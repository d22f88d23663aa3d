"""Imports and what became of each conversation in them."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, TypedDict

from sqlalchemy import case, delete, insert, select, text

from backread.errors import NotFound
from backread.identity import new_id
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Import, ImportItem

# What a person wants to read first.
_OUTCOME_ORDER = ("failed", "skipped", "updated", "new", "unchanged")
_PG_LOCK_SPACE = 8_217_400


class ItemRow(TypedDict):
    outcome: str
    platform: str
    external_id: str
    title: str
    source: str
    reason: str
    conversation_id: str | None


def add_import(session: WriteSession, row: Import) -> str:
    session.add(row)
    session.flush()
    return row.id


def get_import(session: ReadSession, account_id: str, import_id: str) -> Import:
    """Raises NotFound for an id that does not exist and for another account's alike."""
    row = session.get(Import, import_id)
    if row is None or row.account_id != account_id:
        raise NotFound("There is no import with this id.")
    return row


def lock_import(session: WriteSession, account_id: str, import_id: str) -> Import:
    """The import, held until the transaction ends, and with it the account's right to import."""
    lock_archive(session, account_id)
    row = session.get(Import, import_id, populate_existing=True)
    if row is None or row.account_id != account_id:
        raise NotFound("There is no import with this id.")
    return row


def lock_archive(session: WriteSession, account_id: str) -> None:
    """Until the transaction ends, the account's right to write conversations: two imports of one
    account never write at the same time. SQLite's write lock does as much."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(
            text("SELECT pg_advisory_xact_lock(:space, hashtext(:account))"),
            {"space": _PG_LOCK_SPACE, "account": account_id},
        )


def latest_imports(session: ReadSession, account_id: str, *, limit: int) -> list[Import]:
    """Newest first."""
    query = (
        select(Import)
        .where(Import.account_id == account_id)
        .order_by(Import.created_at.desc(), Import.id.desc())
        .limit(limit)
    )
    return list(session.scalars(query))


def import_names(session: ReadSession, account_id: str, ids: Sequence[str]) -> dict[str, str]:
    """By id, what people know the imports by: the name of the first file, and how many more."""
    query = select(Import.id, Import.files).where(
        Import.account_id == account_id, Import.id.in_(ids)
    )
    names = {}
    for import_id, files in session.execute(query):
        more = f" and {len(files) - 1:,} more" if len(files) > 1 else ""
        names[import_id] = f"{files[0]['name']}{more}" if files else ""
    return names


def files_in_use(session: ReadSession, *, trial_runs_since: datetime) -> set[str]:
    """Paths of uploaded files that an import still needs, of every account: one that has not
    ended, or one that ended since then as a trial run, which may yet be carried out, or because
    its job failed, which may be tried again."""
    query = select(Import.files).where(
        Import.owns_files,
        Import.state.not_in(("readable", "failed", "cancelled"))
        | (
            (Import.is_dry_run | (Import.error_code == "internal"))
            & (Import.finished_at >= trial_runs_since)
        ),
    )
    return {file["path"] for files in session.scalars(query) for file in files}


def add_items(session: WriteSession, import_id: str, rows: Sequence[ItemRow]) -> None:
    if rows:
        session.execute(
            insert(ImportItem), [{"id": new_id(), "import_id": import_id, **row} for row in rows]
        )


def items_of(session: ReadSession, import_id: str, *, limit: int) -> list[ImportItem]:
    """Failed and skipped ones first. The caller has checked whose import it is."""
    rank: dict[Any, int] = {outcome: place for place, outcome in enumerate(_OUTCOME_ORDER)}
    query = (
        select(ImportItem)
        .where(ImportItem.import_id == import_id)
        .order_by(case(rank, value=ImportItem.outcome, else_=len(rank)), ImportItem.id)
        .limit(limit)
    )
    return list(session.scalars(query))


def delete_items(session: WriteSession, import_id: str) -> None:
    session.execute(delete(ImportItem).where(ImportItem.import_id == import_id))


def file_versions(session: ReadSession, account_id: str) -> Iterator[tuple[str, str, str, str]]:
    """Path, version, the import's state and id of every file that was imported from a watched
    folder, oldest import first."""
    query = (
        select(Import.files, Import.state, Import.id)
        .where(Import.account_id == account_id, Import.route == "cli", Import.is_dry_run.is_(False))
        .order_by(Import.created_at, Import.id)
    )
    for files, state, import_id in session.execute(query):
        for file in files:
            if file.get("version"):
                yield file["path"], file["version"], state, import_id
