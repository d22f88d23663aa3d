"""Receives uploaded files straight to disk, whatever their size, without holding them in memory.

Starlette's own form parser spools files to the system's temporary folder first and would need the
space twice; uploads here may be as large as the disk.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from anyio import to_thread
from fastapi import Request
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from backread.errors import InvalidInput, LimitExceeded
from backread.identity import new_id
from ingest.containers.sources import SourceFile
from ingest.uploads import named_disk_failures

if TYPE_CHECKING:  # the name exists for type checkers only
    from python_multipart.multipart import MultipartCallbacks

FIELD: Final = "files"
_MAX_FILES: Final = 1_000
_MAX_NAME: Final = 400
_UNFINISHED: Final = ".part"

# What a form with files looks like, for the description of the routes that take one.
FORM_CONTENT: Final[dict[str, Any]] = {
    "multipart/form-data": {
        "schema": {
            "type": "object",
            "required": [FIELD],
            "properties": {
                FIELD: {"type": "array", "items": {"type": "string", "format": "binary"}}
            },
        }
    }
}
FORM_BODY: Final[dict[str, Any]] = {"requestBody": {"required": True, "content": FORM_CONTENT}}


@dataclass(slots=True)
class Upload:
    """The files of one request, on disk under names of our own."""

    files: list[SourceFile] = field(default_factory=list)

    def discard(self) -> None:
        """Deletes the files. Call it when nobody else has taken them over."""
        for file in self.files:
            file.path.unlink(missing_ok=True)


async def receive_upload(request: Request, directory: Path, *, max_bytes: int) -> Upload:
    """Stores the files of a multipart request (field `files`, repeated) below `directory`.

    `max_bytes` limits all files together. Raises InvalidInput for a body that is no such form or
    holds no file, and LimitExceeded above a limit; nothing stays on disk then.
    """
    content_type, options = parse_options_header(request.headers.get("content-type", ""))
    boundary = options.get(b"boundary", b"")
    if content_type != b"multipart/form-data" or not boundary:
        raise InvalidInput(
            "The request holds no files.",
            hint=f"Send multipart/form-data with one or more files in the field {FIELD!r}.",
        )
    receiver = await to_thread.run_sync(lambda: _Receiver(directory, boundary, max_bytes))
    try:
        async for chunk in request.stream():
            if chunk:
                await to_thread.run_sync(receiver.write, chunk)
        return await to_thread.run_sync(receiver.finish)
    except BaseException:
        # Also when the client goes away or the server stops: half a file is of no use.
        receiver.abort()
        raise


class _Receiver:
    """Turns the bytes of a multipart body into files (RFC 7578)."""

    def __init__(self, directory: Path, boundary: bytes, max_bytes: int) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._stem = str(directory / new_id())
        self._max_bytes = max_bytes
        self._received = 0
        self._files: list[SourceFile] = []
        self._headers: dict[str, bytes] = {}
        self._header_name = b""
        self._header_value = b""
        self._name = ""
        self._size = 0
        self._file: BinaryIO | None = None
        self._is_complete = False
        callbacks: MultipartCallbacks = {
            "on_part_begin": self._begin_part,
            "on_header_field": self._add_to_name,
            "on_header_value": self._add_to_value,
            "on_header_end": self._end_header,
            "on_headers_finished": self._open_file,
            "on_part_data": self._add_data,
            "on_part_end": self._end_part,
            "on_end": self._end,
        }
        with _named_failures():
            self._parser = MultipartParser(boundary, callbacks)

    def write(self, chunk: bytes) -> None:
        with _named_failures():
            self._parser.write(chunk)

    def finish(self) -> Upload:
        if not self._is_complete:
            raise InvalidInput("The upload broke off.", hint="Send the files again.")
        if not self._files:
            raise InvalidInput("The request holds no files.", hint="Choose at least one file.")
        return Upload(self._files)

    def abort(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
        self._unfinished_path().unlink(missing_ok=True)
        Upload(self._files).discard()

    def _unfinished_path(self) -> Path:
        return Path(f"{self._stem}-{len(self._files):04d}{_UNFINISHED}")

    def _begin_part(self) -> None:
        self._headers = {}
        self._name = ""

    def _add_to_name(self, data: bytes, start: int, end: int) -> None:
        self._header_name += data[start:end]

    def _add_to_value(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]

    def _end_header(self) -> None:
        self._headers[self._header_name.decode("latin-1").lower()] = self._header_value
        self._header_name = self._header_value = b""

    def _open_file(self) -> None:
        _, options = parse_options_header(self._headers.get("content-disposition", b""))
        if options.get(b"name") != FIELD.encode() or b"filename" not in options:
            return  # another field of the form, or a file that nobody asked for
        if not options[b"filename"]:
            return  # what browsers send for a file field left empty
        if len(self._files) >= _MAX_FILES:
            raise LimitExceeded(
                f"More than {_MAX_FILES:,} files at once.", hint="Send the folder as a ZIP file."
            )
        self._name = shown_name(options[b"filename"])
        self._size = 0
        self._file = self._unfinished_path().open("xb")

    def _add_data(self, data: bytes, start: int, end: int) -> None:
        if self._file is None:
            return
        self._received += end - start
        self._size += end - start
        if self._received > self._max_bytes:
            raise LimitExceeded(
                f"The files are larger than {self._max_bytes:,} bytes together.",
                hint="Send them one by one, or raise BACKREAD_UPLOAD_MAX_BYTES.",
            )
        self._file.write(memoryview(data)[start:end])

    def _end_part(self) -> None:
        if self._file is None:
            return
        self._file.close()
        self._file = None
        unfinished = self._unfinished_path()
        stored = unfinished.rename(unfinished.with_suffix(".upload"))
        self._files.append(SourceFile(name=self._name, path=stored, size=self._size))

    def _end(self) -> None:
        self._is_complete = True


@contextmanager
def _named_failures() -> Iterator[None]:
    """Says in words what is wrong with the body, or what the disk could not do."""
    try:
        with named_disk_failures():
            yield
    except FormParserError as error:
        raise InvalidInput("The upload is damaged.", hint="Send the files again.") from error


def shown_name(raw: bytes) -> str:
    """The name to show for an uploaded file: never used as a path.

    Keeps a folder's relative path, drops control characters, and cuts from the front what is too
    long, so that the extension stays.
    """
    text = raw.decode("utf-8", "replace").replace("%22", '"').replace("\\", "/")
    parts = [part.strip() for part in text.split("/")]
    kept = "/".join(part for part in parts if part not in {"", ".", ".."})
    name = "".join(character for character in kept if character.isprintable())
    return name[-_MAX_NAME:] or "unnamed file"
