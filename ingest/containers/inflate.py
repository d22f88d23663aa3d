"""Single files packed with zstd, as coding agents archive their sessions (RFC 8878)."""

import io
from collections.abc import Iterator

import zstandard
from typing_extensions import Buffer

from backread.errors import LimitExceeded, UnreadableImport
from backread.settings import Settings
from ingest.containers.source import Source
from ingest.json_stream import CHUNK_BYTES

_MAGIC = b"\x28\xb5\x2f\xfd"
_WINDOW_BYTES = 128 * 1024**2  # what the format's tools allow without a flag
_RATIO_FROM_BYTES = 10 * 1024**2


def is_packed(head: bytes) -> bool:
    return head.startswith(_MAGIC)


def inflated(source: Source, settings: Settings) -> Source:
    """The source as it was before it was packed; its size stays that of the packed file. Reading
    raises LimitExceeded when more comes out than the limits of archives allow, and
    UnreadableImport when the file is damaged or ends too early."""

    def chunks() -> Iterator[bytes]:
        unpacker = zstandard.ZstdDecompressor(max_window_size=_WINDOW_BYTES)
        done = 0
        try:
            packed = io.BufferedReader(_Pieces(source.chunks()))
            with unpacker.stream_reader(packed, read_across_frames=True) as reader:
                while chunk := reader.read(CHUNK_BYTES):
                    done += len(chunk)
                    if done > most:
                        raise _too_much(source.name)
                    yield chunk
        except zstandard.ZstdError as error:
            raise UnreadableImport(
                f"{source.name} is damaged.", hint="Download or copy it again."
            ) from error

    most = min(
        settings.archive_max_inflated_bytes,
        max(_RATIO_FROM_BYTES, source.size * settings.archive_max_ratio),
    )
    return Source(source.name, source.base_name, source.size, chunks)


class _Pieces(io.RawIOBase):
    """Chunks as a file that can only be read on."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        super().__init__()
        self._chunks = chunks
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        view = memoryview(buffer)
        self._rest = self._rest or next(self._chunks, b"")
        piece, self._rest = self._rest[: len(view)], self._rest[len(view) :]
        view[: len(piece)] = piece
        return len(piece)


def _too_much(name: str) -> LimitExceeded:
    return LimitExceeded(
        f"{name} unpacks to more than is allowed, as in a file made to fill the disk.",
        hint="Unpack it and choose the file inside.",
    )
