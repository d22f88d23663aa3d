"""The report of an import: what was found and what became of each conversation."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel

from backread.domain import Principal
from backread.store.engine import ReadSession
from backread.store.models import Import, ImportItem
from backread.store.repositories.imports import get_import, items_of, latest_imports
from ingest.controls import is_open_trial

DEFAULT_ITEMS = 200

State = Literal["queued", "running", "paused", "readable", "failed", "cancelled"]


class Totals(BaseModel):
    """found = new + updated + unchanged + skipped + failed, at any moment."""

    found: int
    new: int
    updated: int
    unchanged: int
    skipped: int
    failed: int


class ReportFile(BaseModel):
    name: str
    size: int


class ReportDates(BaseModel):
    """When the conversations that were new or updated took place."""

    earliest: datetime | None
    latest: datetime | None


class ReportError(BaseModel):
    code: str
    message: str


class ReportItem(BaseModel):
    outcome: Literal["new", "updated", "unchanged", "skipped", "failed"]
    platform: str
    external_id: str
    title: str
    source: str
    reason: str
    conversation_id: str | None


class ImportReport(BaseModel):
    """`items` holds the failed and skipped ones first, up to the limit asked for."""

    id: str
    state: State
    route: str
    is_dry_run: bool
    can_be_carried_out: bool  # a trial run whose uploaded files are still here
    files: list[ReportFile]
    totals: Totals
    messages_new: int
    memories_found: int  # suggestions for memories that were not known before
    documents_found: int  # documents that are new or have another text
    secrets_found: int  # keys and passwords in what is new or updated, each once a conversation
    secrets_by_kind: dict[str, int]
    platforms: dict[str, int]
    dates: ReportDates
    news: dict[str, int]
    warnings: list[str]
    items: list[ReportItem]
    bytes_done: int
    bytes_total: int
    error: ReportError | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    @property
    def is_finished(self) -> bool:
        return self.state in {"readable", "failed", "cancelled"}


def read_report(
    session: ReadSession,
    principal: Principal,
    import_id: str,
    *,
    items_limit: int = DEFAULT_ITEMS,
) -> ImportReport:
    """Raises NotFound for an id that does not exist and for another account's alike."""
    row = get_import(session, principal.account_id, import_id)
    items = items_of(session, import_id, limit=items_limit) if items_limit else []
    return _report(row, items)


def list_reports(
    session: ReadSession, principal: Principal, *, limit: int = 20
) -> list[ImportReport]:
    """The account's imports, newest first, without their items."""
    return [_report(row, []) for row in latest_imports(session, principal.account_id, limit=limit)]


def _report(row: Import, items: list[ImportItem]) -> ImportReport:
    failed = row.error_code or row.error_message
    return ImportReport(
        id=row.id,
        state=row.state,
        route=row.route,
        is_dry_run=row.is_dry_run,
        can_be_carried_out=is_open_trial(row),
        files=[ReportFile(name=file["name"], size=file["size"]) for file in row.files],
        totals=Totals(
            found=row.found,
            new=row.new,
            updated=row.updated,
            unchanged=row.unchanged,
            skipped=row.skipped,
            failed=row.failed,
        ),
        messages_new=row.messages_new,
        memories_found=row.memories_found,
        documents_found=row.documents_found,
        secrets_found=row.secrets_found,
        secrets_by_kind=row.secrets_by_kind,
        platforms=row.platforms,
        dates=ReportDates(earliest=row.earliest_at, latest=row.latest_at),
        news=row.news,
        warnings=row.warnings,
        items=[ReportItem.model_validate(item, from_attributes=True) for item in items],
        bytes_done=row.bytes_done,
        bytes_total=row.bytes_total,
        error=ReportError(code=row.error_code, message=row.error_message) if failed else None,
        created_at=row.created_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
    )
