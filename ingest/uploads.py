"""Files on their way in: where they lie, how they grow, and when they are given up.

Each is one file below the uploads folder, and its size is how much of it is here. A process that
is killed at any byte leaves a file that the next one goes on with.
"""

import errno
import fcntl
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final

from backread.domain import Principal
from backread.errors import Conflict, LimitExceeded, NotFound, Unavailable
from backread.jobs import enqueue
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.engine import ReadSession, WriteSession, after_commit
from backread.store.models import Upload
from backread.store.repositories.imports import files_in_use
from backread.store.repositories.uploads import (
    count_uploads,
    find_upload,
    insert_upload,
    take_uploads,
    uploads_before,
    uploads_of,
)
from ingest.containers.sources import SourceFile

TIDY_JOB: Final = "ingest.tidy_uploads"
KEPT_SECONDS: Final = 24 * 3600
_MOST_UPLOADS: Final = 5_000  # of one account that no import has taken over yet
_SUFFIX: Final = ".upload"


class UploadBusy(Conflict):
    """Another request is writing to the upload at this moment."""

    code = "upload_busy"


@dataclass(frozen=True, slots=True)
class UploadState:
    """How far an upload is. It is given up at `expires_at`, unless more of it comes."""

    id: str
    name: str
    size: int
    offset: int  # bytes that are here
    expires_at: datetime

    @property
    def is_complete(self) -> bool:
        return self.offset == self.size


def begin_upload(kernel: Kernel, principal: Principal, *, name: str, size: int) -> UploadState:
    """Makes room for a file of `size` bytes. Raises LimitExceeded above what one account may have
    under way, and Unavailable when the disk has no room for it."""
    settings = kernel.settings
    with kernel.store.write() as session:
        _check_limits(session, principal, settings, files=1, size=size)
        settings.uploads_dir.mkdir(parents=True, exist_ok=True)
        if shutil.disk_usage(settings.uploads_dir).free < size:
            raise no_room()
        upload = Upload(account_id=principal.account_id, name=name, size=size)
        insert_upload(session, upload)
        with named_disk_failures():
            _path(settings, upload.id).open("xb").close()
    return _state(settings, upload)


def add_uploads(kernel: Kernel, principal: Principal, files: Sequence[SourceFile]) -> list[str]:
    """Takes files over that are here whole already; returns their ids in the same order."""
    settings = kernel.settings
    moved: list[Path] = []
    try:
        with kernel.store.write() as session:
            size = sum(file.size for file in files)
            _check_limits(session, principal, settings, files=len(files), size=size)
            ids = []
            for file in files:
                upload = Upload(account_id=principal.account_id, name=file.name, size=file.size)
                insert_upload(session, upload)
                moved.append(file.path.rename(_path(settings, upload.id)))
                ids.append(upload.id)
        return ids
    except BaseException:
        for path in moved:
            path.unlink(missing_ok=True)
        raise


def read_upload(kernel: Kernel, principal: Principal, upload_id: str) -> UploadState:
    """Raises NotFound for an id that does not exist, is expired, or is another account's."""
    with kernel.store.read() as session:
        upload = find_upload(session, principal.account_id, upload_id)
    return _state(kernel.settings, upload)


def list_uploads(
    session: ReadSession, settings: Settings, principal: Principal
) -> list[UploadState]:
    """The account's uploads that no import has taken over yet, oldest first."""
    found = []
    for upload in uploads_of(session, principal.account_id):
        try:
            found.append(_state(settings, upload))
        except NotFound:
            continue  # expired; the next tidying removes it
    return found


def discard_upload(
    session: WriteSession, settings: Settings, principal: Principal, id: str
) -> None:
    """Removes an upload for good. Raises NotFound."""
    if not take_uploads(session, principal.account_id, [id]):
        find_upload(session, principal.account_id, id)
    after_commit(session, lambda: _path(settings, id).unlink(missing_ok=True))


def discard_all_uploads(session: WriteSession, settings: Settings, account_id: str) -> None:
    """Removes whatever the account has uploaded and not imported."""
    ids = [each.id for each in uploads_of(session, account_id)]
    for upload in take_uploads(session, account_id, ids):
        path = _path(settings, upload.id)
        after_commit(session, partial(path.unlink, missing_ok=True))


def claim_uploads(
    session: WriteSession, settings: Settings, principal: Principal, ids: Sequence[str]
) -> list[SourceFile]:
    """Complete uploads as the files of an import, which owns them once this transaction commits.

    Raises NotFound when one of the ids is not there, and Conflict when one is not complete; then
    none is taken.
    """
    taken = take_uploads(session, principal.account_id, ids)
    states = [_state(settings, upload) for upload in taken]
    if len(states) < len(set(ids)):
        raise NotFound(
            "One of the files is no longer on the server.",
            hint="Uploads wait a day for their import. Choose the files again.",
        )
    for state in states:
        if not state.is_complete:
            raise Conflict(
                f"{state.name} is not uploaded completely: {state.offset:,} of {state.size:,} "
                "bytes are here.",
                hint="Finish its upload first.",
            )
    return [SourceFile(state.name, _path(settings, state.id), state.size) for state in states]


def upload_paths(settings: Settings, ids: Sequence[str]) -> list[str]:
    """Where the files of these uploads lie, also after an import has taken them over."""
    return [str(_path(settings, upload_id)) for upload_id in dict.fromkeys(ids)]


class UploadWriter:
    """The right to add to an upload at `offset`, held until `close()`.

    Opening raises NotFound, Conflict when the upload stands at another offset, and UploadBusy
    while somebody else holds it, in this process or another.
    """

    def __init__(
        self, kernel: Kernel, principal: Principal, upload_id: str, *, offset: int, adds: int
    ) -> None:
        state = read_upload(kernel, principal, upload_id)
        self._size = state.size
        with named_disk_failures():
            self._file = _path(kernel.settings, upload_id).open("r+b", buffering=0)
        try:
            self._lock()
            self.offset = self._file.seek(0, os.SEEK_END)
            if self.offset != offset:
                raise Conflict(
                    f"The upload stands at {self.offset}, not at {offset}.",
                    hint="Ask for its offset with HEAD and go on from there.",
                )
            self._check_size(adds)
        except BaseException:
            self._file.close()
            raise

    def write(self, data: bytes | bytearray) -> None:
        """Adds bytes. Raises LimitExceeded when the file would become larger than announced, and
        Unavailable when the disk is full; what was added before stays."""
        self._check_size(len(data))
        view = memoryview(data)
        with named_disk_failures():
            while view:
                written = self._file.write(view)
                self.offset += written
                view = view[written:]

    def close(self) -> None:
        """Returns once what was added is on the disk."""
        try:
            with named_disk_failures():
                os.fsync(self._file.fileno())
        finally:
            self._file.close()

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UploadBusy(
                "Another request is writing to this upload.", hint="Try again in a moment."
            ) from error

    def _check_size(self, more: int) -> None:
        if self.offset + more > self._size:
            raise LimitExceeded(
                f"The file would become larger than the {self._size:,} bytes it was announced "
                "with.",
                hint="Choose the file again; it has changed since its upload began.",
            )


def enqueue_tidying(session: WriteSession) -> None:
    """Asks for `tidy_uploads`. A server does it at each start: one that never runs for an hour
    would never come to its hourly tidying."""
    enqueue(session, TIDY_JOB, account_id=None, dedupe_key="tidy_uploads")


def tidy_uploads(kernel: Kernel) -> None:
    """Removes what nobody will come back for: uploads that stood still for a day, files of trial
    runs after a day, and what a killed server left behind."""
    settings = kernel.settings
    if not settings.uploads_dir.is_dir():
        return
    oldest = time.time() - KEPT_SECONDS
    old = {path for path in settings.uploads_dir.iterdir() if _is_older(path, oldest)}
    if not old:
        return
    since = utcnow() - timedelta(seconds=KEPT_SECONDS)
    with kernel.store.write() as session:
        for upload in uploads_before(session, since):
            path = _path(settings, upload.id)
            if path in old or not path.exists():
                session.delete(upload)
        session.flush()
        # Asked after the uploads: an import takes a file over in one transaction, so a file that
        # was no upload any more is seen here.
        used = {Path(path) for path in files_in_use(session, trial_runs_since=since)}
    for path in old - used:
        path.unlink(missing_ok=True)


def _is_older(path: Path, moment: float) -> bool:
    try:
        return path.is_file() and path.stat().st_mtime < moment
    except FileNotFoundError:
        return False


def _check_limits(
    session: WriteSession, principal: Principal, settings: Settings, *, files: int, size: int
) -> None:
    count, waiting = count_uploads(session, principal.account_id)
    if count + files > _MOST_UPLOADS:
        raise LimitExceeded(
            f"More than {_MOST_UPLOADS:,} uploads would wait for their import.",
            hint="Send a folder as a ZIP file, or discard unfinished uploads on the import page.",
        )
    if waiting + size > settings.upload_max_bytes:
        rest = " beside those that are unfinished" if waiting else ""
        raise LimitExceeded(
            f"The files are larger than {settings.upload_max_bytes:,} bytes together{rest}.",
            hint="Discard unfinished uploads on the import page, send the files one by one, or "
            "raise BACKREAD_UPLOAD_MAX_BYTES.",
        )


def _path(settings: Settings, upload_id: str) -> Path:
    return settings.uploads_dir / f"{upload_id}{_SUFFIX}"


def _state(settings: Settings, upload: Upload) -> UploadState:
    try:
        here = _path(settings, upload.id).stat()
    except FileNotFoundError as error:
        raise NotFound("There is no upload with this id.", hint="It was given up.") from error
    expires_at = datetime.fromtimestamp(here.st_mtime + KEPT_SECONDS, UTC)
    if expires_at < utcnow():
        raise NotFound("The upload stood still for a day and was given up.", hint="Begin again.")
    return UploadState(upload.id, upload.name, upload.size, here.st_size, expires_at)


def no_room() -> Unavailable:
    return Unavailable(
        "There is no room on the server's disk for these files.",
        hint="Free some space there, then send them again.",
    )


@contextmanager
def named_disk_failures() -> Iterator[None]:
    """Says in words what the disk could not do."""
    try:
        yield
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
            raise
        raise no_room() from error
