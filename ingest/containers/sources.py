"""From chosen files to the texts inside them that may hold conversations.

Zips, folders, bare files and several of these at once come to one ordered list of sources. The
order depends on the files alone, so a resumed import finds the same list.
"""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from backread.errors import BackreadError, LimitExceeded, UnreadableImport
from backread.settings import Settings
from ingest.containers.archive import Archive, Member, is_candidate, is_maybe, is_read
from ingest.containers.inflate import inflated, is_packed
from ingest.containers.looks import CHOOSE, looks_like
from ingest.containers.source import Source
from ingest.cutting import cutter_for
from ingest.json_stream import CHUNK_BYTES

_HEAD_BYTES = 512
_MEMBERS_LOOKED_INTO = 200
_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file or folder that somebody chose. `name` is what they call it."""

    name: str
    path: Path
    size: int = 0  # bytes; of a folder 0


@dataclass(slots=True)
class FoundSources:
    """What the chosen files hold. `problems` has one error per file that cannot be used."""

    sources: list[Source] = field(default_factory=list)
    problems: list[tuple[str, BackreadError]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def find_sources(files: Sequence[SourceFile], settings: Settings, stack: ExitStack) -> FoundSources:
    """Opens and checks every file. What it opened is closed with `stack`."""
    found = FoundSources()
    for file in files:
        try:
            if file.path.is_dir():
                _find_in_folder(file, settings, stack, found)
            else:
                _find_in_file(file.path, file.name, settings, stack, found)
        except (UnreadableImport, LimitExceeded) as error:
            found.problems.append((file.name, error))
    return found


def _find_in_file(
    path: Path, name: str, settings: Settings, stack: ExitStack, found: FoundSources
) -> None:
    if path.exists() and not path.is_file():  # to open a pipe would wait for its writer
        raise UnreadableImport(f"{name} is not a file but a device or a pipe.", hint=CHOOSE)
    try:
        handle = path.open("rb")
    except FileNotFoundError as error:
        raise UnreadableImport(f"{name} is no longer there.", hint="Choose it again.") from error
    except PermissionError as error:
        raise UnreadableImport(
            f"{name} may not be read.", hint="Change its permissions and try again."
        ) from error
    head = handle.read(_HEAD_BYTES)
    if head.startswith(_ZIP_STARTS):
        stack.callback(handle.close)
        _find_in_zip(handle, name, settings, stack, found, is_nested=False)
        return
    handle.close()
    if not head:
        raise UnreadableImport(f"{name} is empty (0 bytes).", hint=CHOOSE)
    size = path.stat().st_size
    source = Source(name, Path(name).name, size, lambda: _file_chunks(path, name))
    if is_packed(head):
        source = inflated(source, settings)
        head = source.head()[:_HEAD_BYTES]
    if not _starts_like_json(head) and cutter_for(source) is None:
        raise UnreadableImport(
            f"{name} looks like {looks_like(head)}, not like a chat export.", hint=CHOOSE
        )
    found.sources.append(source)


def _file_chunks(path: Path, name: str) -> Iterator[bytes]:
    try:
        with path.open("rb") as stream:
            while chunk := stream.read(CHUNK_BYTES):
                yield chunk
    except FileNotFoundError as error:
        raise UnreadableImport(f"{name} is no longer there.", hint="Choose it again.") from error


def _find_in_folder(
    file: SourceFile, settings: Settings, stack: ExitStack, found: FoundSources
) -> None:
    """Files that may hold chats, at any depth. Links are not followed: they may lead anywhere."""
    count = 0
    for folder, folders, names in os.walk(file.path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(folder) / name
            is_wanted = is_candidate(name) or "." not in name
            if name.startswith(".") or not is_wanted or path.is_symlink():
                continue
            count += 1
            if count > settings.archive_max_entries:
                raise LimitExceeded(
                    f"The folder holds more than {settings.archive_max_entries:,} files.",
                    hint="Choose the export's own folder.",
                )
            shown = f"{file.name}/{path.relative_to(file.path).as_posix()}"
            try:
                _find_in_file(path, shown, settings, stack, found)
            except (UnreadableImport, LimitExceeded) as error:
                if not is_maybe(name) and "." in name:
                    found.problems.append((shown, error))
    if not count:
        raise UnreadableImport(
            f"The folder {file.name} holds no JSON and no zip file.", hint=CHOOSE
        )


def _find_in_zip(
    handle: BinaryIO,
    name: str,
    settings: Settings,
    stack: ExitStack,
    found: FoundSources,
    *,
    is_nested: bool,
) -> None:
    archive = Archive(handle, settings)
    stack.callback(archive.close)
    readable = [member for member in archive.members if is_read(member.info)]
    readable = readable or _unnamed_json(archive)
    if not readable:
        raise UnreadableImport(_something_else(name, archive), hint=CHOOSE)
    seen: set[str] = set()
    for member in readable:
        shown = f"{name}/{member.name}"
        if member.name in seen:
            found.warnings.append(f"{shown} is in the zip more than once; all copies were read.")
        seen.add(member.name)
        if member.name.lower().endswith(".zip"):
            _find_in_inner_zip(archive, member, shown, settings, stack, found, is_nested)
        elif member.size:
            _add_member(_member_source(archive, member, shown), member.name, settings, found)


def _add_member(source: Source, name: str, settings: Settings, found: FoundSources) -> None:
    """Only members of the less telling kinds are looked into here."""
    try:
        if name.lower().endswith(".zst") and is_packed(source.head()):
            source = inflated(source, settings)
        if is_maybe(name) and cutter_for(source) is None:
            return
    except UnreadableImport as error:
        found.problems.append((source.name, error))
        return
    found.sources.append(source)


def _unnamed_json(archive: Archive) -> list[Member]:
    """For zips whose files were renamed: what begins like JSON, among the first members."""
    found = []
    for member in archive.members[:_MEMBERS_LOOKED_INTO]:
        if _starts_like_json(archive.head(member)):
            found.append(member)
    return found


def _starts_like_json(head: bytes) -> bool:
    return head.lstrip(b"\xef\xbb\xbf \t\r\n\x00").startswith((b"[", b"{"))


def _member_source(archive: Archive, member: Member, shown: str) -> Source:
    base_name = member.name.replace("\\", "/").rsplit("/", 1)[-1]
    return Source(shown, base_name, member.size, lambda: archive.read(member))


def _find_in_inner_zip(
    archive: Archive,
    member: Member,
    shown: str,
    settings: Settings,
    stack: ExitStack,
    found: FoundSources,
    is_nested: bool,
) -> None:
    """One level deep only. The copy has no name, so a killed process leaves nothing behind."""
    if is_nested:
        found.warnings.append(f"{shown} was not opened: it is a zip in a zip in a zip.")
        return
    settings.uploads_dir.mkdir(parents=True, exist_ok=True)
    copy = stack.enter_context(tempfile.TemporaryFile(dir=settings.uploads_dir))  # noqa: SIM115
    try:
        for chunk in archive.read(member):
            copy.write(chunk)
        _find_in_zip(copy, shown, settings, stack, found, is_nested=True)
    except UnreadableImport as error:
        found.problems.append((shown, error))


def _something_else(name: str, archive: Archive) -> str:
    members = archive.members
    names = [member.name for member in members]
    if not names:
        return f"{name} is an empty zip."
    if "[Content_Types].xml" in names:
        return f"{name} looks like an Office document, not like a chat export."
    shown = ", ".join(n[-40:] for n in names[:3])
    more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
    return f"{name} is a zip of something else: it holds {shown}{more}, and no chats."
