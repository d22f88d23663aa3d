"""From chosen files to the texts inside them that may hold conversations.

Archives, folders, bare files and several of these at once come to one ordered list of sources. The
order depends on the files alone, so a resumed import finds the same list.
"""

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import BinaryIO, cast

from backread.errors import BackreadError, LimitExceeded, UnreadableImport
from backread.settings import Settings
from ingest.containers.archive import (
    Archive,
    Member,
    is_candidate,
    is_maybe,
    is_read,
    leads_outside,
)
from ingest.containers.beside import LOG_ENDING, with_log
from ingest.containers.inflate import inflated, is_packed
from ingest.containers.limits import Allowance
from ingest.containers.looks import CHOOSE, looks_like
from ingest.containers.source import Source, checked
from ingest.containers.tar import ForwardFile, TarArchive, is_tar, starts_like_json
from ingest.cutting import cutter_for
from ingest.json_stream import CHUNK_BYTES

_HEAD_BYTES = 512
_MEMBERS_LOOKED_INTO = 200
_MOST_ARCHIVES = 400
_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
# Members whose first bytes tell what they are; all others are texts.
_LAYERS = (".zip", ".tar", ".tgz", ".gz", ".zst")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file or folder that somebody chose. `name` is what they call it. `version` tells this
    state of it from others, for whom watches it; else it is empty."""

    name: str
    path: Path
    size: int = 0  # bytes; of a folder 0
    version: str = ""


@dataclass(slots=True)
class FoundSources:
    """What the chosen files hold. `problems` has one error per file that cannot be used."""

    sources: list[Source] = field(default_factory=list)
    problems: list[tuple[str, BackreadError]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    archives: int = 0  # that are open


def find_sources(
    files: Sequence[SourceFile],
    settings: Settings,
    stack: ExitStack,
    check: Callable[[], None] = lambda: None,
) -> FoundSources:
    """Opens and checks every file. What it opened is closed with `stack`. `check` is called while
    archives are unpacked to look into them, and may raise to end that."""
    search = _Search(settings, Allowance(settings), stack, FoundSources(), check)
    names = {file.name for file in files}
    logs = {
        file.name.removesuffix(LOG_ENDING): file.path
        for file in files
        if file.name.endswith(LOG_ENDING) and file.name.removesuffix(LOG_ENDING) in names
    }
    for file in files:
        try:
            if file.path.is_dir():
                _find_in_folder(file, search)
            elif file.path not in logs.values():
                _find_in_file(file.path, file.name, search, logs.get(file.name))
        except (UnreadableImport, LimitExceeded) as error:
            search.found.problems.append((file.name, error))
    return search.found


def _find_in_folder(file: SourceFile, search: "_Search") -> None:
    """Files that may hold chats, at any depth. Links are not followed: they may lead anywhere."""
    most = search.settings.archive_max_entries
    count = 0
    for folder, folders, names in os.walk(file.path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(folder) / name
            is_wanted = is_candidate(name) or "." not in name
            if name.startswith(".") or not is_wanted or path.is_symlink():
                continue
            count += 1
            if count > most:
                raise LimitExceeded(
                    f"The folder holds more than {most:,} files.",
                    hint="Choose the export's own folder.",
                )
            shown = f"{file.name}/{path.relative_to(file.path).as_posix()}"
            try:
                _find_in_file(path, shown, search)
            except (UnreadableImport, LimitExceeded) as error:
                if not is_maybe(name) and "." in name:
                    search.found.problems.append((shown, error))
    if not count:
        raise UnreadableImport(f"The folder {file.name} holds no JSON and no archive.", hint=CHOOSE)


def _find_in_file(path: Path, name: str, search: "_Search", log: Path | None = None) -> None:
    if path.exists() and not path.is_file():  # to open a pipe would wait for its writer
        raise UnreadableImport(f"{name} is not a file but a device or a pipe.", hint=CHOOSE)
    search = replace(search, allowance=Allowance(search.settings))
    with _opened(path, name) as handle:
        head = handle.read(_HEAD_BYTES)
        if not head:
            raise UnreadableImport(f"{name} is empty (0 bytes).", hint=CHOOSE)
        size = handle.seek(0, os.SEEK_END)
    if head.startswith(_ZIP_STARTS) or is_tar(head):
        search.archive(path, name, head)
    else:
        source = Source(name, Path(name).name, size, lambda: _file_chunks(path, name))
        search.single(with_log(source, path, log))


def _file_chunks(path: Path, name: str) -> Iterator[bytes]:
    with _opened(path, name) as stream:
        while chunk := stream.read(CHUNK_BYTES):
            yield chunk


def _opened(path: Path, name: str) -> BinaryIO:
    try:
        return path.open("rb")
    except FileNotFoundError as error:
        raise UnreadableImport(f"{name} is no longer there.", hint="Choose it again.") from error
    except PermissionError as error:
        raise UnreadableImport(
            f"{name} may not be read.", hint="Change its permissions and try again."
        ) from error


@dataclass(frozen=True, slots=True)
class _Search:
    """For sources in one chosen file. Archives in it are opened one level deep."""

    settings: Settings
    allowance: Allowance
    stack: ExitStack
    found: FoundSources
    check: Callable[[], None]
    is_nested: bool = False

    def single(self, source: Source) -> None:
        """A file that was chosen by itself, and is no bare archive."""
        if is_packed(source.head()):
            source = inflated(source, self.allowance.meter(source.name, source.size))
        head = source.head()[:_HEAD_BYTES]
        if head.startswith(_ZIP_STARTS) or is_tar(head):
            self._unpacked(source, head)
        elif starts_like_json(head) or cutter_for(source) is not None:
            self.found.sources.append(source)
        else:
            raise UnreadableImport(
                f"{source.name} looks like {looks_like(head)}, not like a chat export.",
                hint=CHOOSE,
            )

    def archive(self, path: Path, name: str, head: bytes) -> None:
        """A bare archive that was chosen, or lies in a folder that was."""
        self._count_archive(name)
        file = self.stack.enter_context(_opened(path, name))
        if head.startswith(_ZIP_STARTS):
            self._zip(file, name)
        else:
            self._tar(TarArchive(file, name, self.allowance, None), name)

    def _zip(self, file: BinaryIO, name: str) -> None:
        archive = Archive(file, self.allowance)
        self.stack.callback(archive.close)
        readable = [member for member in archive.members if is_read(member.info)]
        readable = readable or _unnamed_json(archive)
        if not readable:
            raise UnreadableImport(_something_else(name, archive), hint=CHOOSE)
        logs = {
            member.name.removesuffix(LOG_ENDING): member
            for member in archive.members
            if member.name.endswith(LOG_ENDING)
        }
        seen: set[str] = set()
        for member in readable:
            shown = f"{name}/{member.name}"
            if member.name in seen:
                self.found.warnings.append(
                    f"{shown} is in the zip more than once; all copies were read."
                )
            seen.add(member.name)
            if member.size:
                source = _zip_source(archive, member, shown)
                if member.name in logs:  # of a database that was in use
                    source = replace(source, log=partial(archive.read, logs[member.name]))
                self._member(source)

    def _tar(self, archive: TarArchive, name: str) -> None:
        names: list[str] = []
        unnamed: list[Source] = []  # what begins like JSON, for tars whose files were renamed
        has_candidates = False
        try:
            for member in archive.members():
                names.append(member.name)
                wanted = is_candidate(member.name)
                if wanted and leads_outside(member.name):
                    self.found.warnings.append(
                        f"{name}/{member.name} was not read: its name leads outside the archive."
                    )
                    continue
                is_looked_into = not has_candidates and len(names) <= _MEMBERS_LOOKED_INTO
                if not member.size or not (wanted or is_looked_into):
                    continue
                section = archive.keep(member, only_json=not wanted)
                if section is None:
                    continue
                shown = f"{name}/{member.name}"
                source = Source(shown, _base_name(member.name), section.size, section.chunks)
                if wanted:
                    has_candidates = True
                    self._member(source)
                else:
                    unnamed.append(source)
        finally:  # also what came before damage
            if not has_candidates:
                self.found.sources.extend(unnamed)
        if not has_candidates and not unnamed:
            raise UnreadableImport(_no_chats(name, "tar archive", names), hint=CHOOSE)

    def _member(self, source: Source) -> None:
        """Something in an archive. What is wrong with it costs itself only."""
        try:
            head = b""
            if source.base_name.lower().endswith(_LAYERS):
                if is_packed(source.head()):
                    source = inflated(source, self.allowance.meter(source.name, source.size))
                head = source.head()[:_HEAD_BYTES]
            if head.startswith(_ZIP_STARTS) or is_tar(head):
                self._inner_archive(source, head)
            elif not is_maybe(source.base_name) or cutter_for(source) is not None:
                self.found.sources.append(source)
        except UnreadableImport as error:
            self.found.problems.append((source.name, error))

    def _inner_archive(self, source: Source, head: bytes) -> None:
        if self.is_nested:
            self.found.warnings.append(
                f"{source.name} was not opened: it is an archive in an archive in an archive."
            )
            return
        replace(self, is_nested=True)._unpacked(source, head)

    def _unpacked(self, source: Source, head: bytes) -> None:
        """An archive that comes out of another, or out of gzip or zstd."""
        self._count_archive(source.name)
        source = checked(source, self.check)
        copy = self._copy()
        if head.startswith(_ZIP_STARTS):
            for chunk in source.chunks():
                copy.write(chunk)
            self._zip(copy, source.name)
        else:
            file = cast(BinaryIO, ForwardFile(source.chunks()))
            self._tar(TarArchive(file, source.name, self.allowance, copy), source.name)

    def _count_archive(self, name: str) -> None:
        """Each stays open to the end, and a process may only have so many files open."""
        self.found.archives += 1
        if self.found.archives > _MOST_ARCHIVES:
            raise UnreadableImport(
                f"{name} is one of more than {_MOST_ARCHIVES} archives.",
                hint="Import it by itself.",
            )

    def _copy(self) -> BinaryIO:
        """Without a name, so that a killed process leaves nothing behind."""
        self.settings.uploads_dir.mkdir(parents=True, exist_ok=True)
        return self.stack.enter_context(tempfile.TemporaryFile(dir=self.settings.uploads_dir))


def _zip_source(archive: Archive, member: Member, shown: str) -> Source:
    return Source(shown, _base_name(member.name), member.size, lambda: archive.read(member))


def _base_name(name: str) -> str:
    return name.replace("\\", "/").rsplit("/", 1)[-1]


def _unnamed_json(archive: Archive) -> list[Member]:
    """For zips whose files were renamed: what begins like JSON, among the first members."""
    looked_into = archive.members[:_MEMBERS_LOOKED_INTO]
    return [member for member in looked_into if starts_like_json(archive.head(member))]


def _something_else(name: str, archive: Archive) -> str:
    names = [member.name for member in archive.members]
    if "[Content_Types].xml" in names:
        return f"{name} looks like an Office document, not like a chat export."
    return _no_chats(name, "zip", names)


def _no_chats(name: str, kind: str, names: Sequence[str]) -> str:
    if not names:
        return f"{name} is an empty {kind}."
    shown = ", ".join(n[-40:] for n in names[:3])
    more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
    return f"{name} is a {kind} of something else: it holds {shown}{more}, and no chats."
