"""The job of an import: reads the files once, in batches that are stored one by one.

A batch, its counts and the place after it are committed together. So a process that is killed
anywhere resumes at the first conversation that is not stored, with a report that still adds up.
"""

import errno
import gc
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy.exc import OperationalError

from backread.domain import Platform
from backread.errors import BackreadError, LimitExceeded, Unavailable, UnreadableImport
from backread.jobs import JobContext, LeaseLost
from backread.store.base import utcnow
from backread.store.engine import WriteSession
from backread.store.models import Import
from backread.store.repositories.imports import ItemRow, add_items, delete_items, lock_import
from ingest.accept import FINISHED_STATES
from ingest.containers.probe import Contents, examine
from ingest.containers.source import Source
from ingest.containers.sources import SourceFile, find_sources
from ingest.cutting import cut
from ingest.importers import importer_for
from ingest.importers.chatgpt import with_asset_names
from ingest.importers.envelopes import TITLE_KEY, with_key
from ingest.indexing import enqueue_embedding, enqueue_passages
from ingest.json_stream import Element, load
from ingest.normalise import clean
from ingest.rows import fit_id
from ingest.salvaging import store_what_can_be
from ingest.storing import Candidate, Outcome, prepare

# Large enough that the full text is written in few pieces, small enough to be held in memory.
BATCH_BYTES = 8 * 1024**2
BATCH_CONVERSATIONS = 400
_PREPARED_BYTES = 1024**2  # parsed in such portions, because parsed JSON is many times as large
_NEW_OBJECTS_PER_COLLECTION = 50_000
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
    with _named_failures(), _few_collections():
        try:
            run.read_all()
        except (UnreadableImport, LimitExceeded) as error:
            run.fail(error)


def end_import(context: JobContext, import_id: str, state: str, reason: str) -> None:
    """Writes down that an import's job ended without finishing it."""
    run = _ImportRun(context, import_id)
    cancelled = state == "cancelled"
    run.end("cancelled" if cancelled else "failed", "" if cancelled else "internal", reason)


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
        self._source = 0  # where the next batch begins: which source, which element of it
        self._element = 0
        self._committed: tuple[int, int] = (0, 0)
        self._bytes_before = 0  # of the sources before the current one
        self._bytes_done = 0
        self._bytes_total = 0
        self._batch: list[Candidate] = []
        self._batch_bytes = 0
        self._unprepared: list[Candidate] = []
        self._unprepared_bytes = 0
        self._batch_keys: set[tuple[str, str]] = set()
        self._failures: list[ItemRow] = []
        self._dry_seen: dict[tuple[str, str], str] = {}

    def begin(self) -> bool:
        """Takes the import up where it stands; False when there is nothing left to do."""
        with self._kernel.store.write() as session:
            row = lock_import(session, self._account_id, self._import_id)
            if row.state in FINISHED_STATES:
                return False
            if row.is_dry_run:
                _start_over(session, row)
            row.state = "running"
            row.started_at = row.started_at or utcnow()
            self._files = [
                SourceFile(file["name"], Path(file["path"]), file["size"]) for file in row.files
            ]
            self._is_dry_run = row.is_dry_run
            self._source = int(row.checkpoint.get("source", 0))
            self._element = int(row.checkpoint.get("element", 0))
            self._committed = (self._source, self._element)
        return True

    def read_all(self) -> None:
        with ExitStack() as stack:
            found = find_sources(self._files, self._kernel.settings, stack)
            contents = examine(found, self._kernel.settings)
            self._note_contents(contents)
            for place, source in enumerate(contents.sources):
                if place >= self._source:
                    self._read(place, source, contents)
                self._bytes_before += source.size
            self._flush(len(contents.sources), 0)
        self._finish()

    def fail(self, error: BackreadError) -> None:
        """Ends the import for a reason that its owner can do something about."""
        self._flush(self._source, self._element)
        self.end("failed", error.code, str(error))

    def end(self, state: str, code: str, message: str) -> None:
        with self._kernel.store.write() as session:
            row = lock_import(session, self._account_id, self._import_id)
            if row.state in FINISHED_STATES:
                return
            row.state = state
            row.error_code = code
            row.error_message = clean(message)
            row.finished_at = utcnow()
            if row.new or row.updated:
                enqueue_embedding(session, self._account_id)
            files, owned = list(row.files), row.owns_files
        if owned:
            self._remove(files)

    def _note_contents(self, contents: Contents) -> None:
        self._bytes_total = contents.size
        with self._kernel.store.write() as session:
            row = lock_import(session, self._account_id, self._import_id)
            row.bytes_total = contents.size
            row.warnings = [clean(warning) for warning in contents.warnings]

    def _read(self, place: int, source: Source, contents: Contents) -> None:
        first = self._element if place == self._source else 0
        self._source, self._element = place, first
        try:
            for element in cut(source, self._kernel.settings):
                if element.index < first:
                    continue
                self._take(element, source, contents)
                self._element = element.index + 1
                self._bytes_done = self._bytes_before + element.end_offset
                if self._is_batch_full():
                    self._flush(place, self._element)
        except UnreadableImport as error:
            self._failed(source.name, "The rest of the file was not read. " + str(error))
        self._bytes_done = self._bytes_before + source.size
        self._source, self._element = place + 1, 0

    def _take(self, element: Element, source: Source, contents: Contents) -> None:
        where = f"{source.name}, no. {element.index + 1}"
        if element.problem:
            self._failed(where, element.problem)
            return
        try:
            raw = load(element.body)
        except ValueError as error:
            self._failed(where, str(error))
            return
        importer = importer_for(raw)
        external_id = fit_id(importer.identify(raw)) if importer else ""
        if importer is None or not external_id:
            self._failed(where, "It does not have the structure of a conversation.")
            return
        body = element.body
        if contents.asset_names and importer.slug == Platform.CHATGPT:
            body = with_asset_names(raw, body, contents.asset_names)
        title = contents.titles.get(external_id) if importer.slug == Platform.CODEX else None
        if title:
            raw[TITLE_KEY] = title
            body = with_key(body, TITLE_KEY, title)
        candidate = Candidate(importer, external_id, body, clean(where), raw)
        if candidate.key in self._batch_keys:
            self._flush(self._source, element.index)
        self._batch.append(candidate)
        self._batch_keys.add(candidate.key)
        self._batch_bytes += len(body)
        self._unprepared.append(candidate)
        self._unprepared_bytes += len(body)
        if self._unprepared_bytes >= _PREPARED_BYTES:
            self._prepare()

    def _prepare(self) -> None:
        prepare(self._kernel.store, self._account_id, self._unprepared)
        self._unprepared, self._unprepared_bytes = [], 0

    def _failed(self, where: str, reason: str) -> None:
        self._failures.append(
            {
                "outcome": "failed",
                "platform": "",
                "external_id": "",
                "title": "",
                # Both may quote the file: its name, or what stands where a chat should.
                "source": clean(where),
                "reason": clean(reason),
                "conversation_id": None,
            }
        )

    def _is_batch_full(self) -> bool:
        count = len(self._batch) + len(self._failures)
        return self._batch_bytes >= BATCH_BYTES or count >= BATCH_CONVERSATIONS

    def _flush(self, source: int, element: int) -> None:
        """Stores the batch. `source` and `element` say where the next one begins."""
        self._context.report(self._bytes_done, self._bytes_total)
        self._prepare()
        with self._kernel.store.write() as session:
            row = lock_import(session, self._account_id, self._import_id)
            place = (int(row.checkpoint.get("source", 0)), int(row.checkpoint.get("element", 0)))
            if place != self._committed:
                raise LeaseLost("another process has taken this import over")
            outcome = store_what_can_be(
                session, self._account_id, self._import_id, self._batch, dry_run=self._is_dry_run
            )
            if self._is_dry_run:
                self._note_seen(outcome)
            outcome.items.extend(self._failures)
            add_items(session, self._import_id, outcome.items)
            _count(row, outcome)
            row.bytes_done = self._bytes_done
            row.checkpoint = {"source": source, "element": element}
            if not self._is_dry_run and (outcome.count("new") or outcome.count("updated")):
                # From here on full text finds the batch; the search index follows.
                enqueue_passages(session, self._account_id)
        self._committed = (source, element)
        self._batch, self._batch_bytes, self._failures = [], 0, []
        self._batch_keys.clear()
        self._context.report(self._bytes_done, self._bytes_total)

    def _note_seen(self, outcome: Outcome) -> None:
        """A dry run stores nothing to compare a second copy with, so it remembers the first."""
        hashes = {candidate.key: candidate.content_hash for candidate in self._batch}
        for item in outcome.items:
            key = (item["platform"], item["external_id"])
            before = self._dry_seen.setdefault(key, hashes[key])
            if item["outcome"] == "new" and before != hashes[key]:
                item["outcome"] = "updated"

    def _finish(self) -> None:
        with self._kernel.store.write() as session:
            row = lock_import(session, self._account_id, self._import_id)
            row.finished_at = utcnow()
            row.bytes_done = row.bytes_total
            if row.found == row.failed:
                row.state = "failed"
                row.error_code = UnreadableImport.code
                row.error_message = f"None of the {row.found} conversations could be read."
            else:
                row.state = "readable"
            if row.new or row.updated:
                enqueue_embedding(session, self._account_id)
            files, owned = list(row.files), row.owns_files
        if owned:
            self._remove(files)

    def _remove(self, files: list[dict[str, Any]]) -> None:
        """Removes uploaded copies, and nothing that does not lie in the uploads folder."""
        uploads = self._kernel.settings.uploads_dir.resolve()
        for file in files:
            path = Path(file["path"])
            if path.resolve().is_relative_to(uploads):
                path.unlink(missing_ok=True)


def _start_over(session: WriteSession, row: Import) -> None:
    """A dry run keeps nothing between attempts."""
    delete_items(session, row.id)
    row.checkpoint = {}
    row.news = {}
    row.platforms = {}
    row.found = row.new = row.updated = row.unchanged = row.skipped = row.failed = 0
    row.messages_new = 0


def _count(row: Import, outcome: Outcome) -> None:
    row.found += len(outcome.items)
    row.new += outcome.count("new")
    row.updated += outcome.count("updated")
    row.unchanged += outcome.count("unchanged")
    row.skipped += outcome.count("skipped")
    row.failed += outcome.count("failed")
    row.messages_new += outcome.messages_new
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
def _few_collections() -> Iterator[None]:
    """Python looks for circles of garbage after every 700 new objects, and reading JSON makes
    thousands of them that are in no circle: an eighth of an import's time went into it."""
    usual = gc.get_threshold()
    gc.set_threshold(_NEW_OBJECTS_PER_COLLECTION, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


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
