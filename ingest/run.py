"""The job of an import: reads the files once, in batches that are stored one by one.

A batch, its counts and the place after it are committed together. So a process that is killed
anywhere resumes at the first conversation that is not stored, with a report that still adds up.
"""

import errno
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy.exc import OperationalError

from backread.errors import BackreadError, LimitExceeded, Unavailable, UnreadableImport
from backread.follow_ups import conversations_changed
from backread.jobs import JobCancelled, JobContext, LeaseLost
from backread.store.base import utcnow
from backread.store.engine import WriteSession
from backread.store.models import Import
from backread.store.repositories.imports import add_items, delete_items, lock_import
from backread.store.repositories.jobs import waiting_with_key
from ingest.accept import FINISHED_STATES, job_key
from ingest.batches import Batch, Overview, Place, few_collections
from ingest.companions.storing import store_companions
from ingest.containers.sources import SourceFile
from ingest.finds import Finds
from ingest.indexing import enqueue_embedding, enqueue_passages
from ingest.normalise import clean
from ingest.own_archive.reading import records_in_words, store_records
from ingest.reading_ahead import batches_of
from ingest.salvaging import store_what_can_be
from ingest.storing import Outcome

INTERNAL = "internal"  # the job could not do its work, whatever the files are
_SQLITE_FULL = 13  # https://www.sqlite.org/rescode.html#full
_POSTGRES_FULL = (
    "53100"  # disk_full, https://www.postgresql.org/docs/current/errcodes-appendix.html
)
_MOST_NEWS = 500  # different unknown shapes counted in one report


def run_import(context: JobContext, import_id: str) -> None:
    """Carries an import out, or on. Does nothing when it has ended. What is wrong with the files
    ends it as `failed` with the reason in its row; Unavailable asks for another try later."""
    run = _ImportRun(context, import_id)
    if not run.begin():
        return
    with _named_failures(), few_collections():
        try:
            run.read_all()
        except (UnreadableImport, LimitExceeded) as error:
            run.fail(error)


def end_import(context: JobContext, import_id: str, state: str, reason: str) -> None:
    """Writes down that an import's job ended without finishing it."""
    run = _ImportRun(context, import_id)
    cancelled = state == "cancelled"
    run.end("cancelled" if cancelled else "failed", "" if cancelled else INTERNAL, reason)


class _ImportRun:
    def __init__(self, context: JobContext, import_id: str) -> None:
        if context.account_id is None:
            raise ValueError("an import belongs to an account")
        self._context = context
        self._kernel = context.kernel
        self._account_id = context.account_id
        self._import_id = import_id
        self._files: list[SourceFile] = []
        self._is_dry_run = False
        self._committed = Place()  # where the next batch begins
        self._bytes_total = 0
        self._dry_seen: dict[tuple[str, str], str] = {}
        self._dry_finds = Finds()

    def begin(self) -> bool:
        """Takes the import up where it stands; False when there is nothing left to do."""
        with self._kernel.store.write() as session:
            row = lock_import(session, self._account_id, self._import_id)
            if row.state in FINISHED_STATES or row.state == "paused":
                return False
            if row.is_dry_run:
                _start_over(session, row)
            row.state = "running"
            row.started_at = row.started_at or utcnow()
            self._files = [
                SourceFile(file["name"], Path(file["path"]), file["size"]) for file in row.files
            ]
            self._is_dry_run = row.is_dry_run
            self._committed = _checkpoint(row)
        return True

    def read_all(self) -> None:
        kernel = self._kernel
        with batches_of(
            kernel.store,
            kernel.settings,
            self._account_id,
            self._files,
            self._committed,
            self._context.check,
        ) as batches:
            for each in batches:
                if isinstance(each, Overview):
                    self._note(each)
                else:
                    self._store(each)
        self._finish()

    def fail(self, error: BackreadError) -> None:
        """Ends the import for a reason that its owner can do something about."""
        self.end("failed", error.code, str(error))

    def end(self, state: str, code: str, message: str) -> None:
        with self._kernel.store.write() as session:
            row = lock_import(session, self._account_id, self._import_id)
            if row.state in FINISHED_STATES or (
                state == "cancelled" and self._is_held(session, row)
            ):
                return
            row.state = state
            row.error_code = code
            row.error_message = clean(message)
            row.finished_at = utcnow()
            if row.new or row.updated or row.checkpoint.get("records"):
                enqueue_embedding(session, self._account_id)
                conversations_changed(self._kernel, session, self._account_id)
            files = list(row.files)
            is_done_with = row.owns_files and code != INTERNAL  # that may be tried again
        if is_done_with:
            self._remove(files)

    def _is_held(self, session: WriteSession, row: Import) -> bool:
        """Whether the job was called off for a pause, which the import outlives."""
        if row.state == "queued":  # resumed since, and then another job waits for it
            return waiting_with_key(session, job_key(self._import_id)) is not None
        return row.state == "paused"

    def _note(self, overview: Overview) -> None:
        self._bytes_total = overview.size
        with self._kernel.store.write() as session:
            row = lock_import(session, self._account_id, self._import_id)
            row.bytes_total = overview.size
            row.warnings = overview.warnings

    def _store(self, batch: Batch) -> None:
        self._context.report(batch.bytes_done, self._bytes_total)
        with self._kernel.store.write() as session:
            row = lock_import(session, self._account_id, self._import_id)
            if _checkpoint(row) != self._committed:
                raise LeaseLost("another process has taken this import over")
            if row.state != "running":
                raise JobCancelled("the import was paused or stopped")
            outcome = store_what_can_be(
                session,
                self._account_id,
                self._import_id,
                batch.candidates,
                dry_run=self._is_dry_run,
            )
            store_companions(
                session,
                self._account_id,
                self._import_id,
                batch.companions,
                outcome.finds,
                dry_run=self._is_dry_run,
            )
            if self._is_dry_run:
                self._note_seen(batch, outcome)
            told = Counter(row.checkpoint.get("records", {}))
            if batch.records and not self._is_dry_run:
                told += store_records(session, self._account_id, batch.records)
            outcome.items.extend(batch.failures)
            add_items(session, self._import_id, outcome.items)
            _count(row, outcome)
            row.bytes_done = batch.bytes_done
            row.checkpoint = {
                "source": batch.next.source,
                "element": batch.next.element,
                "records": dict(told),
            }
            if not self._is_dry_run and (outcome.count("new") or outcome.count("updated")):
                # From here on full text finds the batch; the search index follows.
                enqueue_passages(session, self._account_id)
        self._committed = batch.next
        self._context.report(batch.bytes_done, self._bytes_total)

    def _note_seen(self, batch: Batch, outcome: Outcome) -> None:
        """A dry run stores nothing to compare a second copy with, so it remembers the first."""
        hashes = {candidate.key: candidate.content_hash for candidate in batch.candidates}
        for item in outcome.items:
            key = (item["platform"], item["external_id"])
            before = self._dry_seen.setdefault(key, hashes[key])
            if item["outcome"] == "new" and before != hashes[key]:
                item["outcome"] = "updated"
        outcome.finds.leave_out(self._dry_finds)

    def _finish(self) -> None:
        with self._kernel.store.write() as session:
            row = lock_import(session, self._account_id, self._import_id)
            row.finished_at = utcnow()
            row.bytes_done = row.bytes_total
            records = Counter(row.checkpoint.get("records", {}))
            row.warnings = [*row.warnings, *records_in_words(records)]
            has_finds = row.memories_found or row.documents_found or records
            if row.found and row.found == row.failed and not has_finds:
                row.state = "failed"
                row.error_code = UnreadableImport.code
                row.error_message = f"None of the {row.found} conversations could be read."
            else:
                row.state = "readable"
            if row.new or row.updated or records:
                enqueue_embedding(session, self._account_id)
                conversations_changed(self._kernel, session, self._account_id)
            files, owned = list(row.files), row.owns_files
        if owned and not self._is_dry_run:  # it may yet be carried out; `tidy_uploads` clears away
            self._remove(files)

    def _remove(self, files: list[dict[str, Any]]) -> None:
        """Removes uploaded copies, and nothing that does not lie in the uploads folder."""
        uploads = self._kernel.settings.uploads_dir.resolve()
        for file in files:
            path = Path(file["path"])
            if path.resolve().is_relative_to(uploads):
                path.unlink(missing_ok=True)


def _checkpoint(row: Import) -> Place:
    return Place(int(row.checkpoint.get("source", 0)), int(row.checkpoint.get("element", 0)))


def _start_over(session: WriteSession, row: Import) -> None:
    """A dry run keeps nothing between attempts."""
    delete_items(session, row.id)
    row.checkpoint = {}
    row.news = {}
    row.platforms = {}
    row.found = row.new = row.updated = row.unchanged = row.skipped = row.failed = 0
    row.messages_new = 0
    row.memories_found = row.documents_found = row.secrets_found = 0
    row.secrets_by_kind = {}


def _count(row: Import, outcome: Outcome) -> None:
    row.found += len(outcome.items)
    row.new += outcome.count("new")
    row.updated += outcome.count("updated")
    row.unchanged += outcome.count("unchanged")
    row.skipped += outcome.count("skipped")
    row.failed += outcome.count("failed")
    row.messages_new += outcome.messages_new
    finds = outcome.finds
    row.memories_found += len(finds.statements)
    row.documents_found += len(finds.documents)
    row.secrets_found += finds.secrets.total()
    row.secrets_by_kind = _added(row.secrets_by_kind, finds.secrets)
    row.warnings = [*row.warnings, *finds.warnings]
    row.platforms = _added(row.platforms, outcome.platforms)
    row.news = _added(row.news, outcome.news)
    row.earliest_at = _extreme(min, row.earliest_at, outcome.earliest_at)
    row.latest_at = _extreme(max, row.latest_at, outcome.latest_at)


def _added(counts: dict[str, Any], more: dict[str, int]) -> dict[str, Any]:
    result = dict(counts)
    for name, count in more.items():
        key = name if name in result or len(result) < _MOST_NEWS else "other"
        result[key] = result.get(key, 0) + count
    return result


def _extreme(pick: Any, *times: datetime | None) -> datetime | None:
    result: datetime | None = pick((each for each in times if each is not None), default=None)
    return result


@contextmanager
def _named_failures() -> Iterator[None]:
    """Says in words what the disk or the database could not do; the job is tried again."""
    try:
        yield
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise _disk_full() from error
        raise Unavailable(
            f"A file could not be read or written ({error.strerror or type(error).__name__}).",
            hint="The import goes on by itself once that works again.",
        ) from error
    except OperationalError as error:
        codes = {getattr(error.orig, name, None) for name in ("sqlite_errorcode", "sqlstate")}
        if codes & {_SQLITE_FULL, _POSTGRES_FULL}:
            raise _disk_full() from error
        raise


def _disk_full() -> Unavailable:
    return Unavailable(
        "The disk is full.", hint="Free some space; the import then goes on by itself."
    )
