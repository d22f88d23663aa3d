"""Zip archives from strangers. The central directory is checked before anything is read.

Python's own checks differ by version: 3.11 reads overlapping entries, of which 3 MB can hold
60 GB (CVE-2024-0450). So ranges, names, modes, counts and ratios are checked here; what is then
read is counted; and nothing is ever written to a path that the archive names.
"""

import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from backread.errors import UnreadableImport
from ingest.containers.limits import Allowance, Meter
from ingest.json_stream import CHUNK_BYTES

_END = b"PK\x05\x06"
_LOCAL_HEADER = b"PK\x03\x04"
_LOCAL_HEADER_BYTES = 30
_DIRECTORY_ENTRY = b"PK\x01\x02"
_ZIP64_END = b"PK\x06\x06"
_ZIP64_LOCATOR = b"PK\x06\x07"
_END_BYTES = 22
_ZIP64_LOCATOR_BYTES = 20
_IN_ZIP64 = 0xFFFFFFFF  # "see the zip64 record"
_COMMENT_LIMIT = 65_535 + _END_BYTES
_DIRECTORY_BYTES_PER_ENTRY = 400  # mean that is allowed; real exports need about 130
# What zipfile raises over hostile bytes, beside its own error.
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    ValueError,
    OverflowError,
    NotImplementedError,
)
# Files that hold chats in some exports and anything at all in others.
_MAYBE = (".html", ".htm", ".md", ".csv", ".vscdb", ".db")
_CANDIDATES = (".json", ".jsonl", ".ndjson", ".zst", ".zip", ".tar", ".tgz", *_MAYBE)
_READABLE = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_AGAIN = "Download the export again, or make a new zip of its files."


@dataclass(frozen=True, slots=True)
class Member:
    """One file inside a checked archive."""

    name: str  # for people only; never a path to open
    size: int
    info: zipfile.ZipInfo


class Archive:
    """A zip that has passed the checks. Raises UnreadableImport or LimitExceeded, in words."""

    def __init__(self, file: BinaryIO, allowance: Allowance) -> None:
        self._allowance = allowance
        _check_size_of_directory(file, allowance)
        try:
            self._zip = zipfile.ZipFile(file)
        except _DAMAGE as error:
            raise UnreadableImport("The zip file is damaged.", hint=_AGAIN) from error
        _check_directory(self._zip, allowance)
        allowance.count_entries(len(self._zip.infolist()))
        self._file = file
        self._next_starts = _next_starts(self._zip)
        self._meters: dict[int, Meter] = {}  # by header offset

    @property
    def members(self) -> list[Member]:
        return [
            Member(info.filename, info.file_size, info)
            for info in self._zip.infolist()
            if not info.is_dir()
        ]

    def read(self, member: Member) -> Iterator[bytes]:
        """The member's content in chunks. Raises LimitExceeded as soon as more comes out than
        the limits allow, whatever the directory says."""
        info = member.info
        self._check_range(info)
        meter = self._meters.setdefault(
            info.header_offset, self._allowance.meter(info.filename, info.compress_size)
        )
        try:
            with self._zip.open(info) as stream:
                done = 0
                while chunk := stream.read(CHUNK_BYTES):
                    done += len(chunk)
                    meter.reached(done)
                    yield chunk
        except _DAMAGE as error:
            raise UnreadableImport(
                f"{member.name} inside the zip is damaged.", hint=_AGAIN
            ) from error

    def head(self, member: Member, size: int = 512) -> bytes:
        """The member's first bytes."""
        for chunk in self.read(member):
            return chunk[:size]
        return b""

    def close(self) -> None:
        self._zip.close()

    def _check_range(self, info: zipfile.ZipInfo) -> None:
        self._file.seek(info.header_offset)
        header = self._file.read(_LOCAL_HEADER_BYTES)
        if len(header) < _LOCAL_HEADER_BYTES or not header.startswith(_LOCAL_HEADER):
            raise UnreadableImport("The zip file is damaged.", hint=_AGAIN)
        name_bytes, extra_bytes = struct.unpack("<HH", header[26:30])
        start = info.header_offset + _LOCAL_HEADER_BYTES + name_bytes + extra_bytes
        if start + info.compress_size > self._next_starts[info.header_offset]:
            raise _overlap()


def _overlap() -> UnreadableImport:
    return UnreadableImport(
        "The zip's entries overlap, as in a file made to do harm; nothing was read.", hint=_AGAIN
    )


def _check_size_of_directory(file: BinaryIO, allowance: Allowance) -> None:
    """A zip ends with its directory; one that does not was cut off. The directory is read into
    memory, so its size is checked first. Layout: APPNOTE.TXT 4.3.12 to 4.3.16."""
    file.seek(0, os.SEEK_END)
    size = file.tell()
    file.seek(max(0, size - _COMMENT_LIMIT - _ZIP64_LOCATOR_BYTES))
    tail = file.read()
    at = tail.rfind(_END)
    if at < 0 or len(tail) - at < _END_BYTES:
        raise UnreadableImport(
            "The zip file is incomplete: its end is missing, as after a broken download.",
            hint="Download it again and choose the new file.",
        )
    directory_bytes, start = struct.unpack("<II", tail[at + 12 : at + 20])
    locator = tail[max(0, at - _ZIP64_LOCATOR_BYTES) : at]
    if _IN_ZIP64 in (directory_bytes, start) or locator.startswith(_ZIP64_LOCATOR):
        directory_bytes = _zip64_directory_bytes(file, locator, size)
    if directory_bytes > allowance.most_entries * _DIRECTORY_BYTES_PER_ENTRY:
        raise allowance.too_many_entries()
    # Bytes in front of the archive, as in a self-extracting one, shift the recorded start.
    file.seek(max(0, size - (len(tail) - at) - directory_bytes - 4096))
    if file.read().count(_DIRECTORY_ENTRY) > allowance.most_entries:
        raise allowance.too_many_entries()


def _zip64_directory_bytes(file: BinaryIO, locator: bytes, size: int) -> int:
    at = struct.unpack("<Q", locator[8:16])[0] if locator.startswith(_ZIP64_LOCATOR) else size
    if at >= size:
        raise UnreadableImport("The zip file is damaged.", hint=_AGAIN)
    file.seek(at)
    record = file.read(56)
    if len(record) < 56 or not record.startswith(_ZIP64_END):
        raise UnreadableImport("The zip file is damaged.", hint=_AGAIN)
    directory_bytes: int = struct.unpack("<Q", record[40:48])[0]
    return directory_bytes


def _check_directory(archive: zipfile.ZipFile, allowance: Allowance) -> None:
    entries = archive.infolist()
    for info in entries:
        _check_entry(info, allowance)
    allowance.check_total(sum(info.file_size for info in entries if is_read(info)))
    ordered = sorted(entries, key=lambda info: info.header_offset)
    end = 0
    for info in ordered:
        if info.header_offset < end:
            raise _overlap()
        end = info.header_offset + _LOCAL_HEADER_BYTES + info.compress_size
    if end > archive.start_dir:
        raise UnreadableImport("The zip's entries lie outside the file.", hint=_AGAIN)


def _check_entry(info: zipfile.ZipInfo, allowance: Allowance) -> None:
    name = info.orig_filename
    if info.flag_bits & 0x1:
        raise UnreadableImport(
            "The zip is encrypted.", hint="Unzip it with its password and choose the files."
        )
    if stat.S_ISLNK(info.external_attr >> 16):
        raise UnreadableImport(f"The zip holds a symbolic link ({name[:80]!r}).", hint=_AGAIN)
    if leads_outside(name):
        raise UnreadableImport(
            f"The zip holds a name that leads outside it ({name[:80]!r}).", hint=_AGAIN
        )
    allowance.check_ratio(name, info.file_size, info.compress_size)
    if is_read(info) and info.compress_type not in _READABLE:
        raise UnreadableImport(
            f"{name[:80]} is packed in a way that cannot be read here.",
            hint="Unzip the file and choose the folder, or make a plain zip of it.",
        )


def leads_outside(name: str) -> bool:
    """Whether a path in an archive is absolute or climbs out of it."""
    parts = name.replace("\\", "/").split("/")
    absolute = name.startswith(("/", "\\")) or ":" in parts[0]
    return absolute or "\x00" in name or ".." in parts


def is_read(info: zipfile.ZipInfo) -> bool:
    """Only these members are ever opened: JSON, and zips of JSON. Attachments stay closed, so a
    photo or a film counts toward no limit."""
    return not info.is_dir() and is_candidate(info.filename)


def is_candidate(name: str) -> bool:
    base = name.replace("\\", "/").rsplit("/", 1)[-1].lower()
    if base.startswith(("._", "file-", "file_")) or "__macosx/" in name.lower():
        return False
    if base.endswith(".gz"):  # many tools pack their logs, too
        base = base.removesuffix(".gz")
    return base.endswith(_CANDIDATES)


def is_maybe(name: str) -> bool:
    """Whether a file of this kind, when it holds no chats, is nothing to speak of."""
    return name.lower().endswith(_MAYBE)


def _next_starts(archive: zipfile.ZipFile) -> dict[int, int]:
    """Header offset of each entry -> where the next entry, or the directory, begins."""
    starts = sorted(info.header_offset for info in archive.infolist())
    return dict(zip(starts, [*starts, archive.start_dir][1:], strict=True))
