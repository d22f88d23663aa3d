"""Single files packed with zstd (RFC 8878), as coding agents archive their sessions, or with gzip
(RFC 1952)."""

import zlib
from collections.abc import Callable, Iterator
from typing import Protocol

import zstandard

from backread.errors import UnreadableImport
from ingest.containers.limits import Meter
from ingest.containers.source import Source
from ingest.json_stream import CHUNK_BYTES

_ZSTD = b"\x28\xb5\x2f\xfd"
_GZIP = b"\x1f\x8b\x08"
_WINDOW_BYTES = 128 * 1024**2  # what the format's tools allow without a flag
# Four bytes of zstd may unpack to 128 KB, so that much packed at once bounds the memory.
_PIECE_BYTES = 512
_GZIP_WINDOW = 31  # the largest, with gzip's header
_DAMAGE = (zstandard.ZstdError, zlib.error)
_ENDINGS = (".gz", ".zst")


class _Unpacker(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, /) -> bytes: ...


def is_packed(head: bytes) -> bool:
    return head.startswith((_ZSTD, _GZIP))


def inflated(source: Source, meter: Meter) -> Source:
    """The source as it was before it was packed; its size stays that of the packed file. Reading
    raises LimitExceeded when more comes out than is allowed, and UnreadableImport when the file
    is damaged or ends too early."""
    unpacker = _new_gzip if source.head().startswith(_GZIP) else _new_zstd

    def chunks() -> Iterator[bytes]:
        done = 0
        for chunk in _joined(_unpacked(source, unpacker)):
            done += len(chunk)
            meter.reached(done)
            yield chunk

    return Source(source.name, without_ending(source.base_name), source.size, chunks)


def without_ending(name: str) -> str:
    """`chats.json.gz` -> `chats.json`."""
    return name.rsplit(".", 1)[0] if name.lower().endswith(_ENDINGS) else name


def _new_gzip() -> _Unpacker:
    return zlib.decompressobj(_GZIP_WINDOW)


def _new_zstd() -> _Unpacker:
    return zstandard.ZstdDecompressor(max_window_size=_WINDOW_BYTES).decompressobj()


def _unpacked(source: Source, new_unpacker: Callable[[], _Unpacker]) -> Iterator[bytes]:
    """Piece by piece. A file may consist of several packed ones; NULs after them are padding."""
    unpacker: _Unpacker | None = None
    try:
        for chunk in source.chunks():
            for start in range(0, len(chunk), _PIECE_BYTES):
                rest = chunk[start : start + _PIECE_BYTES]
                while rest and (unpacker is not None or rest.strip(b"\x00")):
                    unpacker = unpacker or new_unpacker()
                    yield unpacker.decompress(rest)
                    rest = unpacker.unused_data if unpacker.eof else b""
                    unpacker = None if unpacker.eof else unpacker
    except _DAMAGE as error:
        raise UnreadableImport(
            f"{source.name} is damaged.", hint="Download or copy it again."
        ) from error
    if unpacker is not None:
        raise UnreadableImport(
            f"{source.name} is incomplete: its end is missing, as after a broken download.",
            hint="Download or copy it again.",
        )


def _joined(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """As chunks of the usual size, or of one piece's when that is larger. What came before an
    error is passed on before it."""
    parts: list[bytes] = []
    size = 0
    try:
        for piece in pieces:
            parts.append(piece)
            size += len(piece)
            if size >= CHUNK_BYTES:
                yield b"".join(parts)
                parts, size = [], 0
    except UnreadableImport:
        if size:
            yield b"".join(parts)
        raise
    if size:
        yield b"".join(parts)
