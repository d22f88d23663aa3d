"""Reads an uploaded document in the background: its pages and passages out of the original."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

from backread.errors import Unavailable
from backread.indexing import enqueue_embedding, index_words
from backread.jobs import UPKEEP, JobContext, Queue, job
from backread.kernel import Kernel
from backread.log import get_logger
from backread.store.base import utcnow
from backread.store.engine import WriteSession
from backread.store.models import File, Job
from backread.store.repositories.file_passages import (
    COLLECTION,
    PageValues,
    PassageValues,
    delete_derived,
    store_pages,
    store_passages,
)
from backread.store.repositories.files import (
    accounts_with_outdated,
    get_file,
    get_original,
    outdated_files,
)
from backread.store.repositories.indexed import FILES
from backread.store.repositories.jobs import get_job
from ingest.documents.keeping import READ_FILE, enqueue_reading, unpack
from ingest.documents.pages import Page, Remark
from ingest.documents.passages import READER_VERSION, passages_of
from ingest.documents.problems import Refused, in_words
from ingest.documents.process import limits_of, read_document

_TO_READ = frozenset({"waiting", "reading"})

_log = get_logger(__name__)


@dataclass(slots=True)
class _Reading:
    kind: str = ""
    pages: list[Page] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def _not_finished(context: JobContext, state: str, reason: str) -> None:
    with context.kernel.store.write() as session:
        row = get_job(session, context.job_id)
        file = _file_of(session, row) if row is not None else None
        if file is not None and file.state == "reading":
            message, hint = in_words("crashed")
            _note_failure(file, "crashed", message, reason or hint)


def _take_up_again(session: WriteSession, row: Job) -> None:
    file = _file_of(session, row)
    if file is not None and file.state == "failed":
        file.state = "waiting"


def _file_of(session: WriteSession, row: Job) -> File | None:
    assert row.account_id is not None
    return get_file(session, row.account_id, row.args["file_id"])


@job(READ_FILE, queue=Queue.INTERACTIVE, on_unfinished=_not_finished, on_retry=_take_up_again)
def read_file(context: JobContext, *, file_id: str) -> None:
    """Reads one file. What it held before is replaced in the transaction that stores the new."""
    kernel, account_id = context.kernel, context.account_id
    assert account_id is not None
    with kernel.store.write() as session:
        file = get_file(session, account_id, file_id)
        if file is None or file.state not in _TO_READ:
            return
        file.state = "reading"
        name, version = file.name, file.version
        original = get_original(session, account_id, file.sha256)
    assert original is not None, "a file without its original"
    with tempfile.TemporaryFile() as copy:
        copy.write(unpack(original))
        copy.seek(0)
        del original
        try:
            reading = _read(context, copy)
            passages = passages_of(name, reading.pages)
            if not passages:
                raise Refused("no_text")
        except Refused as refused:
            _log.info("file_not_read", file_id=file_id, reason=refused.code)
            _fail(context, file_id, version, refused)
            return
    with kernel.store.write() as session:
        file = get_file(session, account_id, file_id, lock=True)
        if file is None or file.version != version:
            return  # deleted or replaced meanwhile
        _store(session, file, reading, passages)
    try:
        index_words(kernel, FILES, account_id)
    except Unavailable:
        return  # the job that was asked for does it; until then full text finds it


def _read(context: JobContext, copy: BinaryIO) -> _Reading:
    reading = _Reading()
    for item in read_document(copy, limits_of(context.kernel.settings), context.check):
        if isinstance(item, Page):
            reading.pages.append(item)
            context.report(len(reading.pages), 0)
        elif isinstance(item, Remark):
            reading.remarks.append(item.text)
        else:
            reading.kind = item
    return reading


def _store(
    session: WriteSession, file: File, reading: _Reading, passages: Sequence[PassageValues]
) -> None:
    delete_derived(session, file.account_id, [file.id])
    pages = {page.number: _page_values(page) for page in reading.pages}
    store_pages(session, file.account_id, file.id, pages.values())
    store_passages(
        session,
        file.account_id,
        passages,
        group_name=str(file.bucket_id),
        occurred_at=file.uploaded_at,
        file_id=file.id,
    )
    file.kind = reading.kind
    file.page_unit = reading.pages[0].unit.value
    file.page_count = len(pages)
    file.character_count = sum(len(page.text) for page in reading.pages)
    file.passage_count = len(passages)
    file.remarks = reading.remarks
    file.problem = file.problem_text = file.problem_hint = ""
    file.state = "ready"
    file.reader_version = READER_VERSION
    file.read_at = utcnow()
    enqueue_embedding(session, file.account_id, COLLECTION)


def _page_values(page: Page) -> PageValues:
    return PageValues(
        number=page.number,
        label=page.label,
        text=page.text,
        has_table=page.table is not None,
        by_ocr=page.by_ocr,
    )


def _fail(context: JobContext, file_id: str, version: int, refused: Refused) -> None:
    assert context.account_id is not None
    message, hint = in_words(refused.code, refused.detail)
    with context.kernel.store.write() as session:
        file = get_file(session, context.account_id, file_id)
        if file is not None and file.version == version:
            delete_derived(session, file.account_id, [file.id])
            _note_failure(file, refused.code, message, hint)


def _note_failure(file: File, code: str, message: str, hint: str) -> None:
    file.state = "failed"
    file.problem, file.problem_text, file.problem_hint = code, message, hint
    file.reader_version = READER_VERSION
    file.read_at = utcnow()


def reread_outdated(kernel: Kernel, account_id: str, *, every: bool = False) -> int:
    """Asks for what an older release has read, or for every file, to be read again; returns how
    many. Files stay searchable as they are until then."""
    wanted = READER_VERSION + 1 if every else READER_VERSION
    with kernel.store.write() as session:
        files = outdated_files(session, account_id, wanted)
        for file in files:
            file.state = "waiting"
            enqueue_reading(session, file)
    return len(files)


def _reread_all_outdated(kernel: Kernel) -> None:
    with kernel.store.read() as session:
        ids = accounts_with_outdated(session, READER_VERSION)
    for account_id in ids:
        reread_outdated(kernel, account_id)


UPKEEP.append(_reread_all_outdated)
