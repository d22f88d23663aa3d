"""Notes from a folder of Markdown files: an Obsidian vault, a repository that was exported, or
any other. Files stay as they are, and nothing is deleted here."""

from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from backread.domain import Principal
from backread.errors import BackreadError, InvalidInput
from backread.kernel import Kernel
from backread.notes import frontmatter
from backread.notes.paths import note_path
from backread.store.base import utcnow
from backread.store.repositories import notes as store
from recall.notes.files.folder import FoundFile, NotesFolder, Unwritable, text_of
from recall.notes.files.report import Report
from recall.notes.files.repository import Change, changes_of, is_repository
from recall.notes.writing import check_text, enqueue_indexing

_BATCH = 200  # files or revisions in one transaction
_KINDS = frozenset({"write", "edit", "delete", "restore", "import", "sync"})
_MOST_AUTHOR = 200


def import_notes(
    kernel: Kernel,
    principal: Principal,
    source: Path,
    *,
    is_trial: bool = False,
    with_history: bool = True,
) -> Report:
    """Takes in every Markdown file. Of a git repository the history, too, for notes that are not
    here yet. The report counts each file once: new, updated, unchanged, skipped or failed.

    Raises InvalidInput when `source` is no folder or its repository cannot be read.
    """
    folder = NotesFolder(source)
    report = Report(is_trial)
    importer = _Importer(kernel, principal, folder, report)
    files = list(folder.files())
    if with_history and is_repository(folder.root):
        importer.take_history({each.note for each in files if each.note})
    importer.take_files(files)
    if not is_trial:
        with kernel.store.write() as session:
            enqueue_indexing(session, principal.account_id)
    return report


class _Importer:
    def __init__(
        self, kernel: Kernel, principal: Principal, folder: NotesFolder, report: Report
    ) -> None:
        self._kernel = kernel
        self._principal = principal
        self._folder = folder
        self._report = report
        with kernel.store.read() as session:
            account_id = principal.account_id
            listed = store.list_notes(session, account_id)
            listed += store.list_notes(session, account_id, is_deleted=True)
        self._known = {each.path for each in listed}
        self._restored: dict[str, bool] = {}  # path -> whether it is there after its history
        self._seen: set[str] = set()

    def take_history(self, present: set[str]) -> None:
        changes = self._wanted_changes(present)
        while batch := list(islice(changes, _BATCH)):
            self._report.revisions += len(batch)
            if not self._report.is_trial:
                self._write(batch)
        for path, is_there in self._restored.items():
            if path not in present:
                how = "with its history" if is_there else "a deleted note, with its history"
                self._report.add(path, "new", how)

    def take_files(self, files: list[FoundFile]) -> None:
        for start in range(0, len(files), _BATCH):
            batch = [
                revision
                for each in files[start : start + _BATCH]
                if (revision := self._take_file(each)) is not None
            ]
            if batch and not self._report.is_trial:
                self._write(batch)

    def _write(self, batch: list[store.NewRevision]) -> None:
        account_id = self._principal.account_id
        with self._kernel.store.write() as session:
            store.lock_notes(session, account_id)
            for revision in batch:
                store.append(session, account_id, revision)

    def _wanted_changes(self, present: set[str]) -> Iterator[store.NewRevision]:
        """Of Backread's own exports everything, of other repositories what files there are now
        have been through."""
        for change in changes_of(self._folder.root):
            path = _path_of(change)
            if path is None or path in self._known:
                continue
            if change.about is None and path not in present:
                continue
            revision = self._past(change, path)
            if revision is not None:
                self._restored[path] = not revision.is_deleted
                yield revision

    def _past(self, change: Change, path: str) -> store.NewRevision | None:
        if change.text is None:
            if path not in self._restored:
                return None  # nothing of it was taken that could be deleted
            return store.NewRevision(path, is_deleted=True, **_origin(change, "delete"))
        try:
            text = text_of(change.text)
            front, body, _ = frontmatter.split(text)
            check_text(self._kernel, path, front, body)
        except (UnicodeDecodeError, InvalidInput):
            return None
        return store.NewRevision(path, front=front, body=body, **_origin(change, "import"))

    def _take_file(self, file: FoundFile) -> store.NewRevision | None:
        """What is to be written for a file, if anything; the report says what becomes of it."""
        report = self._report
        if not file.note:
            report.add(file.name, "failed" if file.is_markdown else "skipped", file.reason)
            return None
        if file.note in self._seen:
            report.add(file.name, "failed", f"Another file is the note {file.note} already.")
            return None
        self._seen.add(file.note)
        try:
            front, body, problem = frontmatter.split(text_of(self._folder.read(file.name)))
            check_text(self._kernel, file.note, front, body)
        except UnicodeDecodeError:
            report.add(file.name, "failed", "It is not UTF-8 text.")
            return None
        except (OSError, Unwritable) as error:
            report.add(file.name, "failed", f"It cannot be read: {error}.")
            return None
        except BackreadError as error:
            report.add(file.name, "failed", str(error))
            return None
        return self._compared(file, front, body, problem)

    def _compared(
        self, file: FoundFile, front: str | None, body: str, problem: str
    ) -> store.NewRevision | None:
        remark = f"Its front matter stays a part of the body. {problem}" if problem else ""
        with self._kernel.store.read() as session:
            note = store.find_note(session, self._principal.account_id, file.note)
        is_new = file.note in self._restored or file.note not in self._known
        says_that = note is not None and (note.front, note.body) == (front, body)
        if note is not None and says_that and note.deleted_at is None:
            self._report.add(file.name, "new" if is_new else "unchanged", remark)
            return None
        self._report.add(file.name, "new" if is_new else "updated", remark)
        return store.NewRevision(
            file.note, "import", front, body, client_id=self._principal.client_id
        )


def _path_of(change: Change) -> str | None:
    try:
        return note_path(change.path)
    except InvalidInput:
        return None


def _origin(change: Change, otherwise: str) -> dict[str, Any]:
    """Who made a change, when and how, as far as it is told and can be."""
    now = utcnow()
    about = change.about
    if about is None or about.get("path") != change.path:
        return {
            "kind": otherwise,
            "author": change.author[:_MOST_AUTHOR],
            "made_at": min(change.made_at, now),
        }
    kind, client = about.get("kind"), about.get("client")
    is_sound = (
        isinstance(kind, str) and kind in _KINDS and (kind == "delete") is (change.text is None)
    )
    return {
        "kind": kind if is_sound else otherwise,
        "client_id": client[:512] if isinstance(client, str) else None,
        "author": str(about.get("author") or "")[:_MOST_AUTHOR],
        "made_at": min(_time(about.get("at")) or change.made_at, now),
    }


def _time(value: object) -> datetime | None:
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else None
