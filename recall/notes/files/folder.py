"""A folder of Markdown files on disk: read without following links, written whole or not at all."""

import os
import secrets
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from backread.errors import InvalidInput
from backread.notes.paths import ENDING, note_path

_BOM = b"\xef\xbb\xbf"
_MODE = 0o666  # less what the umask takes


class Unwritable(Exception):
    """Why a file was left as it is, in words."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file of the folder. `note` is the path of its note, "" when it is none, and `reason` then
    says why. `is_markdown`: it ends in .md, so it was meant to be one."""

    name: str  # as it stands on disk, with /
    note: str
    reason: str = ""
    is_markdown: bool = True


class NotesFolder:
    """The folder at `root`, which must exist. Nothing outside of it is read or written."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        if not self.root.is_dir():
            raise InvalidInput(f"{root} is no folder.", hint="Name the folder with the notes.")

    def files(self) -> Iterator[FoundFile]:
        """Every file, by name. Hidden files and folders are named and not looked into; git's and
        our own are left out."""
        yield from self._below("")

    def read(self, name: str) -> bytes:
        """A file's bytes. Raises OSError; a link in the way is one."""
        self._check_parents(name)
        with self._open(name) as file:
            return file.read()

    def write(self, name: str, content: bytes, *, expected: bytes | None) -> None:
        """Puts a whole file in place at once. Raises Unwritable when there is not what was
        expected (None: nothing) or a link is in the way, OSError when it cannot be written."""
        self._make_parents(name)
        self._check_unchanged(name, expected)
        target = self.root / name
        partial = target.parent / f".backread-{secrets.token_hex(8)}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        mode = stat.S_IMODE(target.lstat().st_mode) if expected is not None else _MODE
        try:
            with os.fdopen(os.open(partial, flags, mode), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)

    def remove(self, name: str, *, expected: bytes) -> None:
        """Deletes a file, and folders that it leaves empty. Raises as `write` does."""
        self._check_parents(name)
        self._check_unchanged(name, expected)
        target = self.root / name
        target.unlink()
        for folder in target.parents:
            if folder == self.root or any(folder.iterdir()):
                return
            folder.rmdir()

    @cached_property
    def tells_case_apart(self) -> bool:
        """Whether `a.md` and `A.md` can both be here."""
        probe = self.root / f".backread-case-{secrets.token_hex(4)}"
        probe.touch(mode=_MODE)
        try:
            return not probe.with_name(probe.name.upper()).exists()
        finally:
            probe.unlink()

    def _below(self, folder: str) -> Iterator[FoundFile]:
        with os.scandir(self.root / folder) as entries:
            ordered = sorted(entries, key=lambda each: each.name)
        for entry in ordered:
            name = f"{folder}/{entry.name}" if folder else entry.name
            if entry.name.startswith("."):
                if entry.name != ".git" and not entry.name.startswith(".backread"):
                    yield FoundFile(name, "", "hidden", is_markdown=False)
            elif entry.is_symlink():
                yield FoundFile(name, "", "a link, which is not followed", is_markdown=False)
            elif entry.is_dir():
                yield from self._below(name)
            elif entry.is_file():
                yield _found(name)
            else:
                yield FoundFile(name, "", "no ordinary file", is_markdown=False)

    def _open(self, name: str) -> BinaryIO:
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        return os.fdopen(os.open(self.root / name, flags), "rb")

    def _check_parents(self, name: str) -> None:
        place = self.root
        for part in name.split("/")[:-1]:
            place = place / part
            mode = place.lstat().st_mode
            if not stat.S_ISDIR(mode):
                raise Unwritable(f"{place.relative_to(self.root)} is a link or a file, no folder.")

    def _make_parents(self, name: str) -> None:
        place = self.root
        for part in name.split("/")[:-1]:
            place = place / part
            try:
                place.mkdir()
            except FileExistsError:
                if not stat.S_ISDIR(place.lstat().st_mode):
                    raise Unwritable(
                        f"{place.relative_to(self.root)} is a link or a file, no folder."
                    ) from None

    def _check_unchanged(self, name: str, expected: bytes | None) -> None:
        target = self.root / name
        try:
            mode = target.lstat().st_mode
        except FileNotFoundError:
            if expected is None:
                return
            raise Unwritable("It is gone since it was read.") from None
        if expected is None:
            raise Unwritable("There is something of that name already.")
        if not stat.S_ISREG(mode):
            raise Unwritable("It is a link or a folder.")
        if self.read(name) != expected:
            raise Unwritable("It was changed since it was read.")


def text_of(content: bytes) -> str:
    """The text of a Markdown file. Raises UnicodeDecodeError."""
    return content.removeprefix(_BOM).decode()


def _found(name: str) -> FoundFile:
    stem, ending = name[: -len(ENDING)], name[-len(ENDING) :]
    if ending.lower() != ENDING:
        return FoundFile(name, "", "an attachment, no Markdown", is_markdown=False)
    try:
        name.encode()
        return FoundFile(name, note_path(stem + ENDING))
    except InvalidInput as error:
        return FoundFile(name, "", str(error))
    except UnicodeEncodeError:
        return FoundFile(repr(name), "", "Its name is not UTF-8.")
