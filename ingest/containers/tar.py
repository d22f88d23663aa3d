"""Tar archives from strangers, read in one pass.

Python's `tarfile` reads the headers. It would read extended ones of any size into memory, follow
sizes that lead backwards, and take a ruined header for the end; here its reads are counted, it
can only move ahead, and the end is looked at. Links, devices and sparse files are passed over,
and nothing is ever written to a path that the archive names.
"""

import io
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO

from typing_extensions import Buffer

from backread.errors import LimitExceeded, UnreadableImport
from ingest.containers.limits import Allowance
from ingest.json_stream import CHUNK_BYTES

_BLOCK_BYTES = 512
_HEADER_BYTES = 64 * 1024  # of one member, extended headers included; long paths need one block
_GLOBAL_HEADERS = 200
_SNIFFED_BYTES = 512
# What tarfile raises over hostile bytes, beside its own errors.
_DAMAGE = (
    tarfile.TarError,
    io.UnsupportedOperation,
    ValueError,
    OverflowError,
    IndexError,
    KeyError,
    RecursionError,
)
_AGAIN = "Download the archive again, or unpack it and choose the folder."


def is_tar(head: bytes) -> bool:
    """Whether the first 512 bytes are a tar header: its checksum tells."""
    try:
        tarfile.TarInfo.frombuf(head[:_BLOCK_BYTES], "utf-8", "surrogateescape")
    except (tarfile.TarError, ValueError):
        return False
    return True


@dataclass(frozen=True, slots=True)
class TarMember:
    name: str  # for people only; never a path to open
    size: int
    offset: int


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a file that stays open. Can be read as often as one likes."""

    file: BinaryIO
    offset: int
    size: int

    def chunks(self) -> Iterator[bytes]:
        done = 0
        while done < self.size:
            self.file.seek(self.offset + done)
            chunk = self.file.read(min(CHUNK_BYTES, self.size - done))
            if not chunk:
                return
            done += len(chunk)
            yield chunk


class ForwardFile(io.RawIOBase):
    """Chunks as a file that can only be read on: seeking ahead reads and drops."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        super().__init__()
        self._chunks = iter(chunks)
        self._rest = b""
        self._at = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        view = memoryview(buffer)
        self._rest = self._rest or next(self._chunks, b"")
        piece, self._rest = self._rest[: len(view)], self._rest[len(view) :]
        view[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence != io.SEEK_SET or offset < self._at:
            raise io.UnsupportedOperation("this file can only be read on")
        while self._at < offset and self.read(min(CHUNK_BYTES, offset - self._at)):
            pass
        return self._at


class TarArchive:
    """`spool`: where members are copied to, for a `file` that cannot be read again."""

    def __init__(
        self, file: BinaryIO, name: str, allowance: Allowance, spool: BinaryIO | None
    ) -> None:
        self._file = file
        self._name = name
        self._allowance = allowance
        self._spool = spool
        self._headers = _Headers(file)

    def members(self) -> Iterator[TarMember]:
        """The regular files, in their order. Between two of them `keep` may be called with the
        last one. Raises UnreadableImport where the archive is damaged or cut off, and
        LimitExceeded."""
        headers = self._headers
        try:
            tar = tarfile.TarFile(fileobj=headers, errors="surrogateescape")
            while (info := tar.next()) is not None:
                self._allowance.count_entries()
                if len(tar.pax_headers) > _GLOBAL_HEADERS or info.size < 0:
                    raise UnreadableImport(f"{self._name} is damaged.", hint=_AGAIN)
                tar.members = []  # type: ignore[attr-defined]  # it would remember all
                if info.isreg() and not info.issparse():
                    yield TarMember(info.name, info.size, info.offset_data)
                headers.next_member()
        except _DAMAGE as error:
            raise UnreadableImport(f"{self._name} is damaged.", hint=_AGAIN) from error
        if len(headers.last) < _BLOCK_BYTES:
            raise UnreadableImport(
                f"{self._name} is incomplete: its end is missing, as after a broken download.",
                hint=_AGAIN,
            )
        if any(headers.last):
            raise UnreadableImport(f"{self._name} is damaged; the rest was not read.", hint=_AGAIN)

    def keep(self, member: TarMember, *, only_json: bool = False) -> Section | None:
        """The member's content, or what there is of it. `only_json`: None when it does not begin
        like JSON."""
        self._file.seek(member.offset)
        head = _read(self._file, min(_SNIFFED_BYTES, member.size))
        self._headers.moved_to(member.offset + len(head))
        if only_json and not starts_like_json(head):
            return None
        if self._spool is None:
            there = self._file.seek(0, io.SEEK_END) - member.offset
            return Section(self._file, member.offset, min(member.size, there))
        start = self._spool.seek(0, io.SEEK_END)
        size = self._spool.write(head)
        # Where the packed archive is damaged, what came before counts, and `members` tells.
        with suppress(UnreadableImport):
            while size < member.size and (
                chunk := self._file.read(min(CHUNK_BYTES, member.size - size))
            ):
                size += self._spool.write(chunk)
        self._headers.moved_to(member.offset + size)
        return Section(self._spool, start, size)


def starts_like_json(head: bytes) -> bool:
    return head.lstrip(b"\xef\xbb\xbf \t\r\n\x00").startswith((b"[", b"{"))


class _Headers(io.BufferedIOBase):
    """The file as tarfile sees it: what it reads for one member is counted, and it moves only
    ahead, whatever sizes the archive names."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file = file
        self._at = file.tell()
        self._left = _HEADER_BYTES
        self.last = b""

    def next_member(self) -> None:
        self._left = _HEADER_BYTES

    def moved_to(self, position: int) -> None:
        """The content up to there has been read past tarfile."""
        self._at = position

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence != io.SEEK_SET or offset < self._at:
            raise io.UnsupportedOperation("an archive is read on")
        self._at = offset
        return offset

    def read(self, size: int | None = -1) -> bytes:
        if size is None or size < 0:
            raise io.UnsupportedOperation("all of a file is never read at once")
        self._left -= size
        if self._left < 0:
            raise LimitExceeded(
                "The archive has a header larger than any real one, as in a file made to fill the "
                "memory.",
                hint=_AGAIN,
            )
        self._file.seek(self._at)
        self.last = _read(self._file, size)
        self._at += len(self.last)
        return self.last


def _read(file: BinaryIO, size: int) -> bytes:
    """As many bytes as there are, up to `size`, also from a file that gives less at once."""
    parts = []
    while size and (part := file.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
