"""`backread import --watch`: imports what lies in a folder, then whatever comes to it or changes,
until it is stopped. The folder is only ever read."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from backread.cli.context import find_principal, load_settings, open_kernel
from backread.cli.folder_changes import FolderChanges
from backread.cli.output import note, show_error
from backread.cli.watched_folder import Entry, WatchedFolder
from backread.errors import BackreadError, InvalidInput, NotFound, UnreadableImport
from ingest.normalise import clean

if TYPE_CHECKING:
    from backread.domain import Principal
    from backread.kernel import Kernel

# A file counts as complete when it has not grown for this long; downloads pause for less.
SETTLE_SECONDS = 2.0
# Network drives tell nothing of what other computers do, so now and then the folder is looked at
# unasked.
_LOOK_AGAIN_SECONDS = 30.0
_ACCOUNT_AGAIN_SECONDS = 60.0

# Carries one import out and prints its report; returns when it has ended.
ImportOne = Callable[["Kernel", "Principal", str], None]


def watch_folder(
    folder: Path, *, account: str, as_json: bool, is_child: bool, import_one: ImportOne
) -> None:
    """Returns after Ctrl+C. Raises UnreadableImport when there is no such folder now; later it
    may go and come back. `is_child`: a part of the server, which waits for its account."""
    folder = folder.expanduser().absolute()
    if not is_child and not folder.is_dir():
        raise UnreadableImport(f"There is no folder {folder}.", hint="Check the name.")
    with _stopping() as stop:
        watch = _Watch(folder, account, stop, import_one, as_json=as_json)
        if is_child:
            watch.wait_for_account()
        watch.run()


class _Watch:
    def __init__(
        self,
        folder: Path,
        account: str,
        stop: threading.Event,
        import_one: ImportOne,
        *,
        as_json: bool,
    ) -> None:
        self._folder = folder
        self._account = account
        self._stop = stop
        self._import_one = import_one
        self._as_json = as_json
        self._changes = FolderChanges(folder, stop)
        self._unfinished: dict[tuple[str, str], str] = {}  # imports by path and version
        self._told: dict[Path, str] = {}  # the last error of the folder and of its entries

    def wait_for_account(self) -> None:
        """Returns when it is clear whose the folder is; says once what is missing."""
        from backread.log import get_logger

        is_told = False
        while not self._stop.is_set():
            try:
                with open_kernel(load_settings()) as kernel:
                    find_principal(kernel, self._account)
                return
            except (InvalidInput, NotFound) as error:
                if not is_told:
                    hint = "Set BACKREAD_WATCH_ACCOUNT to one of the accounts."
                    get_logger(__name__).error(
                        "watch_needs_account", error=error.message, hint=hint
                    )
                is_told = True
                self._stop.wait(_ACCOUNT_AGAIN_SECONDS)

    def run(self) -> None:
        with open_kernel(load_settings()) as kernel:
            done, self._unfinished = _remembered(kernel, find_principal(kernel, self._account))
        watched = WatchedFolder(self._folder, settle_seconds=SETTLE_SECONDS, done=done)
        note(f"Watching {self._folder}. Ctrl+C stops.")
        while not self._stop.is_set():
            for entry in self._ready(watched):
                if not self._stop.is_set():
                    self._take(entry, watched)
            wait = watched.seconds_to_wait(self._changes.now())
            self._changes.wait(_LOOK_AGAIN_SECONDS if wait is None else wait)

    def _ready(self, watched: WatchedFolder) -> list[Entry]:
        try:
            entries = watched.ready(self._changes.now())
        except OSError as error:
            self._changes.start_over()
            self._tell(
                self._folder,
                UnreadableImport(
                    f"{self._folder} cannot be read now ({error.strerror}).",
                    hint="Watching goes on by itself when it can.",
                ),
            )
            return []
        self._told.pop(self._folder, None)
        return entries

    def _tell(self, about: Path, error: BackreadError) -> None:
        if self._told.get(about) != error.message:
            self._told[about] = error.message
            show_error(error, as_json=self._as_json)

    def _take(self, entry: Entry, watched: WatchedFolder) -> None:
        if not self._as_json:
            typer.echo(f"{clean(entry.path.name)}:")  # names may be no text at all
        try:
            self._import(entry)
        except BackreadError as error:
            watched.put_off(entry, self._changes.now() + _LOOK_AGAIN_SECONDS)
            self._tell(entry.path, error)
        else:
            watched.done(entry)
            self._told.pop(entry.path, None)

    def _import(self, entry: Entry) -> None:
        from ingest.accept import SourceFile, accept_files

        key = (str(entry.path), entry.version)
        # Opened for each import: meanwhile a server may have been started or stopped.
        with open_kernel(load_settings()) as kernel:
            principal = find_principal(kernel, self._account)
            if key not in self._unfinished:
                file = SourceFile(entry.path.name, entry.path, entry.size, entry.version)
                with kernel.store.write() as session:
                    import_id = accept_files(session, principal, [file], route="cli")
                self._unfinished[key] = import_id
            self._import_one(kernel, principal, self._unfinished[key])
            del self._unfinished[key]


def _remembered(
    kernel: "Kernel", principal: "Principal"
) -> tuple[dict[str, str], dict[tuple[str, str], str]]:
    """From former imports: the versions of files that are in the archive, by path, and the ids of
    imports that have not ended. What could not be read is tried again after a new start, which
    may be one of a newer release."""
    from backread.store.repositories.imports import file_versions

    done: dict[str, str] = {}
    unfinished: dict[tuple[str, str], str] = {}
    with kernel.store.read() as session:
        for path, version, state, import_id in file_versions(session, principal.account_id):
            if state == "readable":
                done[path] = version
            elif state in {"queued", "running", "paused"}:
                unfinished[(path, version)] = import_id
    return done, unfinished


@contextmanager
def _stopping() -> Iterator[threading.Event]:
    """An event that Ctrl+C sets, so that the import that runs can end; a second Ctrl+C, or
    SIGTERM, ends at once. What is stored by then stays, and the rest follows later."""
    stop = threading.Event()

    def press(_number: int, _frame: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    def end(_number: int, _frame: object) -> None:
        stop.set()
        raise SystemExit(0)

    former = {
        number: signal.signal(number, handler)
        for number, handler in ((signal.SIGINT, press), (signal.SIGTERM, end))
    }
    try:
        yield stop
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
