"""Reading an import's files in a process of its own, one batch ahead of the process that stores.

Reading is work for Python and storing is work for the database, so on two processor cores both
go on at the same time. The reader never writes to the database: it can be killed at any moment,
and it ends by itself when the process that it reads for is gone.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import accumulate
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import structlog
from sqlalchemy.exc import OperationalError

from backread.errors import BackreadError, Unavailable
from backread.jobs import HelperEnded
from backread.log import configure
from backread.settings import Settings
from backread.store.engine import Store
from ingest.batches import Batch, Overview, Place, few_collections, read_batches
from ingest.containers.sources import SourceFile

_WORTH_A_PROCESS_BYTES = 8 * 1024**2  # of files: its start takes as long as reading these
_CHECK_SECONDS = 0.2
_LONGEST_BATCH_SECONDS = 1800.0
_PACKAGES = Path(__file__).parents[1]  # the folder that this package lies in
_START = (
    "import sys; sys.path.insert(0, sys.argv[2]); from ingest.reading_ahead import serve; serve()"
)

# What the storing process knows how to tell; it is raised there.
_TOLD = (BackreadError, OSError, OperationalError)
_GONE = (EOFError, BrokenPipeError, ConnectionResetError)


@dataclass(frozen=True, slots=True)
class _Task:
    settings: Settings
    account_id: str
    files: Sequence[SourceFile]
    start: Place
    log_context: dict[str, Any]


@contextmanager
def batches_of(
    store: Store,
    settings: Settings,
    account_id: str,
    files: Sequence[SourceFile],
    start: Place,
    check: Callable[[], None],
) -> Iterator[Iterator[Overview | Batch]]:
    """What `read_batches` gives, from a process of its own if the files are large and there is a
    second core for it. `check` is called at least each second, and may raise.

    Further raises HelperEnded when the reading process was killed; reading can then begin again
    at the first batch that was not stored.
    """
    if (os.cpu_count() or 1) > 1 and _is_large(files):
        task = _Task(settings, account_id, files, start, structlog.contextvars.get_contextvars())
        with _ReadingProcess(task, check) as process:
            yield process.batches()
    else:
        with closing(read_batches(store, settings, account_id, files, start, check)) as batches:
            yield batches


def _is_large(files: Sequence[SourceFile]) -> bool:
    sizes = (path.lstat().st_size for file in files for path in _inside(file.path))
    return any(total >= _WORTH_A_PROCESS_BYTES for total in accumulate(sizes))


def _inside(path: Path) -> Iterator[Path]:
    """The file, or those in the folder."""
    if path.is_file():
        yield path
    for folder, _, names in os.walk(path):
        yield from (Path(folder, name) for name in names)


class _ReadingProcess:
    def __init__(self, task: _Task, check: Callable[[], None]) -> None:
        self._check = check
        self._pipe, theirs = Pipe()
        with theirs:
            # A program of its own, not a fork: workers have threads and open databases.
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _START, str(theirs.fileno()), str(_PACKAGES)],
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
            )
        with suppress(*_GONE):  # then the first item says so
            self._pipe.send(task)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._pipe.close()
        self._process.kill()
        self._process.wait()

    def batches(self) -> Iterator[Overview | Batch]:
        while (item := self._next()) is not None:
            if isinstance(item, Exception):
                raise item
            yield item

    def _next(self) -> Overview | Batch | Exception | None:
        began = time.monotonic()
        while not self._pipe.poll(_CHECK_SECONDS):
            self._check()
            if time.monotonic() - began > _LONGEST_BATCH_SECONDS:
                raise Unavailable(
                    "Reading the file has come to a standstill.",
                    hint="The import goes on by itself from where it was.",
                )
        try:
            item: Overview | Batch | Exception | None = self._pipe.recv()
        except (EOFError, OSError) as error:
            raise self._end() from error
        return item

    def _end(self) -> Exception:
        """What to say of a process that is gone."""
        code = self._process.wait()
        if code < 0:
            return HelperEnded(
                f"The process that reads the files was ended from outside (signal {-code}).",
                hint="If memory is short, end other programs. The import goes on by itself.",
            )
        return RuntimeError(f"the reading process ended with code {code}; the log says why")


def serve() -> None:
    """The reading process. Its first argument is the number of its end of the pipe."""
    # Whoever asked for it says when it is to end; a terminal or a service manager asks everyone.
    for asked in (signal.SIGINT, signal.SIGTERM):
        signal.signal(asked, signal.SIG_IGN)
    with Connection(int(sys.argv[1])) as pipe, few_collections():
        try:
            _serve(pipe)
        except _GONE:
            return


def _serve(pipe: Connection) -> None:
    task: _Task = pipe.recv()
    configure(task.settings.log_level)
    store = Store(task.settings.sqlalchemy_url)
    try:
        with structlog.contextvars.bound_contextvars(**task.log_context):
            for item in read_batches(store, task.settings, task.account_id, task.files, task.start):
                pipe.send(item)
        pipe.send(None)
    except _GONE:
        raise
    except _TOLD as error:
        pipe.send(error)
    finally:
        store.close()
