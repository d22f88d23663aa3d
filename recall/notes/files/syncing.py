"""Two-way synchronisation of notes with a folder.

Both sides are compared with what they had in common last time, so it is known which of them
changed. Where both did, the two changes are merged line by line; where that cannot be done, the
folder's version becomes a note of its own beside the other, and is listed. An edit wins over a
deletion. Nothing that somebody wrote is ever dropped.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from backread.domain import Principal
from backread.errors import BackreadError, Conflict, InvalidInput
from backread.kernel import Kernel
from backread.notes import frontmatter
from backread.notes.paths import MAX_BYTES, MAX_PART_BYTES, folder_of, note_path, stem_of
from backread.store.models import Note
from backread.store.repositories import notes as store
from recall.notes.files import state as states
from recall.notes.files.folder import FoundFile, NotesFolder, Unwritable, text_of
from recall.notes.files.merging import merged
from recall.notes.files.report import Report
from recall.notes.reading import not_found, version_of
from recall.notes.writing import check_text, delete_note, save

_MANY = 10  # files that may vanish at once without a question

Content = tuple[str | None, str]  # front matter and body


@dataclass(frozen=True, slots=True)
class _Side:
    """What one side says of a path: nothing, or a text. `raw` is the file's bytes."""

    content: Content | None
    note: Note | None = None
    name: str = ""
    raw: bytes | None = None


def sync_notes(
    kernel: Kernel,
    principal: Principal,
    root: Path,
    *,
    is_trial: bool = False,
    may_delete_many: bool = False,
) -> Report:
    """Makes folder and notes say the same. May be stopped and repeated at any time.

    Raises InvalidInput when `root` is no folder, Conflict when more than half of its files have
    vanished and `may_delete_many` is not set.
    """
    folder = NotesFolder(root)
    sync = _Sync(kernel, principal, folder, Report(is_trial))
    sync.read_folder()
    sync.check_vanished(may_delete_many)
    for path in sync.paths():
        sync.take(path)
    if not is_trial:
        states.save(folder.root, sync.state)
    return sync.report


class _Sync:
    def __init__(
        self, kernel: Kernel, principal: Principal, folder: NotesFolder, report: Report
    ) -> None:
        self._kernel = kernel
        self._principal = principal
        self._folder = folder
        self._files: dict[str, FoundFile] = {}
        self.report = report
        self.state = states.load(folder.root, principal.account_id)

    def read_folder(self) -> None:
        for file in self._folder.files():
            if not file.note:
                outcome = "failed" if file.is_markdown else "skipped"
                self.report.add(file.name, outcome, file.reason)
            elif file.note in self._files:
                self.report.add(
                    file.name, "failed", f"Another file is the note {file.note} already."
                )
            else:
                self._files[file.note] = file

    def check_vanished(self, may_delete_many: bool) -> None:
        """A folder that was not mounted must not delete everything."""
        gone = [path for path in self.state.notes if path not in self._files]
        if may_delete_many or len(gone) <= max(_MANY, len(self.state.notes) // 2):
            return
        raise Conflict(
            f"{len(gone)} of {len(self.state.notes)} files are gone from {self._folder.root}.",
            hint="If they were meant to go, add --delete-many.",
        )

    def paths(self) -> list[str]:
        with self._kernel.store.read() as session:
            listed = store.list_notes(session, self._principal.account_id)
        return sorted({*self._files, *self.state.notes, *(each.path for each in listed)})

    def take(self, path: str) -> None:
        """Brings one path in step. What goes wrong with it stops none of the others."""
        before = len(self.report.items)
        try:
            self._take(path)
            return
        except UnicodeDecodeError:
            reason = "It is not UTF-8 text."
        except (Unwritable, OSError) as error:
            reason = f"{error} Run it again."
        except Conflict:
            reason = "The note was changed meanwhile. Run it again."
        except BackreadError as error:
            reason = str(error)
        del self.report.items[before:]
        self.report.add(path, "failed", reason)

    def _take(self, path: str) -> None:
        here, there = self._local(path), self._remote(path)
        base = self._base(path, here)
        if here.content is None and there.content is not None and self._collides(path):
            self.report.add(
                path, "failed", "A file whose name differs only in case is in its place."
            )
        elif here.content == there.content:
            if here.content is None:
                self.state.notes.pop(path, None)
                return
            self.report.add(path, "unchanged")
            self._agree(path, there.note, here.raw)
        elif here.content == base:
            self._to_folder(path, here, there, was_there=base is not None)
        elif there.content == base:
            self._to_notes(path, here, there)
        elif here.content is None:
            self._to_folder(path, here, there, was_there=False, reason="edited in the notes")
        elif there.content is None:
            self._to_notes(path, here, there, reason="edited in the folder")
        else:
            self._merge(path, here, there, base)

    def _local(self, path: str) -> _Side:
        file = self._files.get(path)
        if file is None:
            return _Side(None, name=path)
        raw = self._folder.read(file.name)
        front, body, _ = frontmatter.split(text_of(raw))
        check_text(self._kernel, path, front, body)
        return _Side((front, body), name=file.name, raw=raw)

    def _remote(self, path: str) -> _Side:
        with self._kernel.store.read() as session:
            note = store.find_note(session, self._principal.account_id, path)
        if note is None or note.deleted_at is not None:
            return _Side(None, note=note)
        return _Side((note.front, note.body), note=note)

    def _base(self, path: str, here: _Side) -> Content | None:
        agreed = self.state.notes.get(path)
        if agreed is None:
            return None
        with self._kernel.store.read() as session:
            note = store.find_note(session, self._principal.account_id, path)
            if note is None or note.id != agreed.note_id:
                # Taken away for good since: only the checksum tells whether the file is as it was.
                is_same = here.raw is not None and _sha256(here.raw) == agreed.sha256
                return here.content if is_same else None
            revision = store.find_revision(session, note, agreed.number)
        if revision is None or revision.is_deleted:
            return None
        return revision.front, revision.body

    def _collides(self, path: str) -> bool:
        if self._folder.tells_case_apart:
            return False
        folded = path.casefold()
        return any(each != path and each.casefold() == folded for each in self._files)

    def _to_folder(
        self, path: str, here: _Side, there: _Side, *, was_there: bool, reason: str = ""
    ) -> None:
        if there.content is None:
            self.report.add(path, "deleted in the folder", reason)
        else:
            outcome = "updated in the folder" if was_there else "new in the folder"
            self.report.add(path, outcome, reason)
        if self.report.is_trial:
            return
        if there.content is None:
            assert here.raw is not None
            self._folder.remove(here.name, expected=here.raw)
            self._files.pop(path, None)
            self.state.notes.pop(path, None)
            return
        self._agree(path, there.note, self._write_file(path, here, there.content))

    def _to_notes(self, path: str, here: _Side, there: _Side, reason: str = "") -> None:
        if here.content is None:
            self.report.add(path, "deleted in the notes", reason)
            if not self.report.is_trial:
                assert there.note is not None
                delete_note(self._kernel, self._principal, path, expected=version_of(there.note))
                self.state.notes.pop(path, None)
            return
        outcome = "new in the notes" if there.note is None else "updated in the notes"
        self.report.add(path, outcome, reason)
        if not self.report.is_trial:
            note = self._write_note(path, there.note, here.content)
            self._agree(path, note, here.raw)

    def _merge(self, path: str, here: _Side, there: _Side, base: Content | None) -> None:
        assert here.content is not None
        assert there.content is not None
        content = _merged(base, here.content, there.content) if base is not None else None
        if content is None:
            self._keep_both(path, here, there)
            return
        self.report.add(path, "merged")
        if self.report.is_trial:
            return
        check_text(self._kernel, path, *content)
        note = self._write_note(path, there.note, content)
        self._agree(path, note, self._write_file(path, here, content))

    def _keep_both(self, path: str, here: _Side, there: _Side) -> None:
        """The notes' version stays at the path; the folder's gets a path beside it, on both
        sides, before anything is written over."""
        assert here.content is not None
        assert there.content is not None
        beside = self._free_path(path)
        self.report.add(path, "conflict", f"The folder's version is kept as {beside}.")
        if self.report.is_trial:
            return
        copy = self._write_note(beside, None, here.content)
        self._agree(beside, copy, self._write_file(beside, _Side(None), here.content))
        self._agree(path, there.note, self._write_file(path, here, there.content))

    def _free_path(self, path: str) -> str:
        folder, stem = folder_of(path), stem_of(path)
        start = f"{folder}/" if folder else ""
        number = 1
        while True:
            ending = f" (conflict {number})"
            room = min(MAX_PART_BYTES, MAX_BYTES - len(start.encode())) - len(ending) - 3
            short = stem.encode()[:room].decode(errors="ignore").rstrip(" .") or "note"
            candidate = note_path(f"{start}{short}{ending}.md")
            with self._kernel.store.read() as session:
                is_taken = store.find_note(session, self._principal.account_id, candidate)
            if is_taken is None and not (self._folder.root / candidate).exists():
                return candidate
            number += 1

    def _write_file(self, path: str, here: _Side, content: Content) -> bytes:
        name, raw = here.name or path, frontmatter.join(*content).encode()
        self._folder.write(name, raw, expected=here.raw)
        self._files[path] = FoundFile(name, path)
        return raw

    def _write_note(self, path: str, seen: Note | None, content: Content) -> Note:
        """Raises Conflict when the note is not the one that was seen."""
        with self._kernel.store.write() as session:
            store.lock_notes(session, self._principal.account_id)
            note = store.find_note(session, self._principal.account_id, path)
            if (note and version_of(note)) != (seen and version_of(seen)):
                raise Conflict(f"{path} was changed meanwhile.")
            front, body = content
            return save(self._kernel, session, self._principal, note, path, "sync", front, body)

    def _agree(self, path: str, note: Note | None, raw: bytes | None) -> None:
        if note is None or raw is None:
            raise not_found(path)
        self.state.notes[path] = states.Agreed(note.id, note.number, _sha256(raw))


def _sha256(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def _merged(base: Content, ours: Content, theirs: Content) -> Content | None:
    """Front matter and body apart, so that each stays what it is."""
    body = merged(base[1], ours[1], theirs[1])
    front = merged(base[0] or "", ours[0] or "", theirs[0] or "")
    if body is None or front is None:
        return None
    try:
        frontmatter.read(front)
    except InvalidInput:
        return None
    return front or None, body
