"""Writes everything of an account into one archive, a piece at a time.

Memory holds one conversation at a time, and no transaction stays open between two pieces, so a
slow reader of the archive holds up nobody.
"""

import io
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

import orjson
from typing_extensions import Buffer

from backread import __version__
from backread.domain import Principal
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.engine import ReadSession
from backread.store.models import Capture, Companion
from backread.store.repositories import archiving
from backread.store.repositories.browsing import messages_with_artifacts
from backread.store.repositories.captures import get_capture
from backread.store.repositories.memories import memories_by_id
from backread.store.repositories.messages import shown_line
from ingest.candidates import decompress
from ingest.own_archive import form
from ingest.own_archive.files import file_records
from ingest.own_archive.folders import folder_records
from ingest.own_archive.notes import note_records
from ingest.own_archive.readable import readable, readable_name

_PIECE_BYTES = 256 * 1024
_README = """\
This is everything that was kept in Backread for one account.

conversations/    every conversation to read, as Markdown
captures.ndjson   the raw form of every conversation, as it came in, one a line under "body"
companions.ndjson what came beside conversations, such as the documents of projects
memories.ndjson   memories and the buckets they lie in
files.ndjson      uploaded documents with their buckets; the bytes of each under "body" (text) or
                  "body_base64"
folders.ndjson    record folders, their records and every revision of them
notes.ndjson      every revision of every note
suggestions.ndjson  what platforms remember, and what was decided about it
tombstones.ndjson conversations that were deleted and stay so
manifest.json     how many of each there are

To take it into another Backread: backread import THIS.zip, or drop it on its import page.
"""

_Told = tuple[str, form.Record]
_Read = Callable[[ReadSession, str, int], list[_Told]]


@dataclass(slots=True)
class Counts:
    """How many of each the archive holds. Complete once the last piece was read."""

    kinds: Counter[str] = field(default_factory=Counter)
    conversations: int = 0


class ArchiveWriter:
    """The archive of one account as pieces of a zip; iterate once, then `counts` is complete."""

    def __init__(self, kernel: Kernel, principal: Principal) -> None:
        self._kernel = kernel
        self._account_id = principal.account_id
        self._made_at = utcnow()
        self._pipe = _Pipe()
        self._zip: zipfile.ZipFile
        self.counts = Counts()

    def pieces(self) -> Iterator[bytes]:
        """Each at least some bytes long. Deletions come first, so that they hold when the archive
        is read; the manifest comes last, because only then is it known what there was."""
        with zipfile.ZipFile(self._pipe, "w", zipfile.ZIP_DEFLATED) as self._zip:
            yield from self._file("README.txt", iter([_README.encode()]))
            yield from self._file("tombstones.ndjson", self._rows(_tombstones))
            yield from self._file("memories.ndjson", self._memories())
            yield from self._file("files.ndjson", self._files())
            yield from self._file("folders.ndjson", self._folders())
            yield from self._file("notes.ndjson", self._notes())
            yield from self._file("companions.ndjson", self._companions())
            yield from self._file("captures.ndjson", self._captures())
            # After what they came from, so that decisions meet the suggestions they are about.
            yield from self._file("suggestions.ndjson", self._rows(_suggestions))
            yield from self._readable()
            yield from self._file(form.MANIFEST, iter([self._manifest()]))
        yield self._pipe.take()

    def _file(self, name: str, parts: Iterator[bytes]) -> Iterator[bytes]:
        info = zipfile.ZipInfo(name, self._made_at.timetuple()[:6])
        info.compress_type = zipfile.ZIP_DEFLATED
        info.external_attr = 0o600 << 16
        with self._zip.open(info, "w", force_zip64=True) as target:
            for part in parts:
                target.write(part)
                if self._pipe.size >= _PIECE_BYTES:
                    yield self._pipe.take()

    def _rows(self, read: _Read) -> Iterator[bytes]:
        place = 0
        while True:
            with self._kernel.store.read() as session:
                records = read(session, self._account_id, place)
            if not records:
                return
            place += len(records)
            for kind, record in records:
                self.counts.kinds[kind] += 1
                yield form.line(kind, record)

    def _memories(self) -> Iterator[bytes]:
        yield from self._rows(_buckets)
        yield from self._rows(_memories)

    def _files(self) -> Iterator[bytes]:
        for kind, record in file_records(self._kernel, self._account_id):
            self.counts.kinds[kind] += 1
            yield form.line(kind, record)

    def _folders(self) -> Iterator[bytes]:
        for kind, record in folder_records(self._kernel, self._account_id):
            self.counts.kinds[kind] += 1
            yield form.line(kind, record)

    def _notes(self) -> Iterator[bytes]:
        for kind, record in note_records(self._kernel, self._account_id):
            self.counts.kinds[kind] += 1
            yield form.line(kind, record)

    def _captures(self) -> Iterator[bytes]:
        with self._kernel.store.read() as session:
            ids = archiving.ordered_capture_ids(session, self._account_id)
        for capture_id in ids:
            with self._kernel.store.read() as session:
                capture = get_capture(session, self._account_id, capture_id)
            if capture is not None:  # None: deleted meanwhile
                self.counts.kinds[form.CAPTURE] += 1
                yield form.line(form.CAPTURE, _capture(capture))

    def _companions(self) -> Iterator[bytes]:
        with self._kernel.store.read() as session:
            ids = archiving.ordered_companion_ids(session, self._account_id)
        for companion_id in ids:
            with self._kernel.store.read() as session:
                companion = archiving.get_companion(session, self._account_id, companion_id)
            if companion is not None:
                self.counts.kinds[form.COMPANION] += 1
                yield form.line(form.COMPANION, _companion(companion))

    def _readable(self) -> Iterator[bytes]:
        with self._kernel.store.read() as session:
            ids = archiving.ordered_conversation_ids(session, self._account_id)
        for conversation_id in ids:
            with self._kernel.store.read() as session:
                stored = archiving.get_own_conversation(session, self._account_id, conversation_id)
                if stored is None:
                    continue
                messages = shown_line(session, self._account_id, conversation_id)
                made = messages_with_artifacts(session, self._account_id, conversation_id)
                changes = [each for each in made if each.on_shown_line]
                name, text = readable_name(stored), readable(stored, messages, changes)
            self.counts.conversations += 1
            yield from self._file(name, iter([text.encode("utf-8", "replace")]))

    def _manifest(self) -> bytes:
        return orjson.dumps(
            {
                form.MANIFEST_KEY: form.FORM,
                "made_at": self._made_at,
                "made_by": f"Backread {__version__}",
                "counts": {
                    "conversations": self.counts.conversations,
                    "captures": self.counts.kinds[form.CAPTURE],
                    "companions": self.counts.kinds[form.COMPANION],
                    "buckets": self.counts.kinds[form.BUCKET],
                    "memories": self.counts.kinds[form.MEMORY],
                    "file_buckets": self.counts.kinds[form.FILE_BUCKET],
                    "files": self.counts.kinds[form.FILE],
                    "folders": self.counts.kinds[form.FOLDER],
                    "records": self.counts.kinds[form.FOLDER_RECORD],
                    "note_revisions": self.counts.kinds[form.NOTE_REVISION],
                    "suggestions": self.counts.kinds[form.SUGGESTION],
                    "tombstones": self.counts.kinds[form.TOMBSTONE],
                },
            },
            option=orjson.OPT_INDENT_2,
        )


def archive_name(moment: datetime) -> str:
    """What the file is called when it is downloaded."""
    return f"backread-{moment:%Y-%m-%d}.zip"


class _Pipe(io.RawIOBase):
    """A file that cannot be wound back: what was written waits here to be taken."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []
        self.size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Buffer) -> int:
        part = bytes(data)
        self._parts.append(part)
        self.size += len(part)
        return len(part)

    def take(self) -> bytes:
        taken = b"".join(self._parts)
        self._parts, self.size = [], 0
        return taken


def _capture(capture: Capture) -> form.Record:
    body = decompress(capture.body, capture.raw_bytes)
    return {
        "importer": capture.importer,
        "platform": capture.platform,
        "external_id": capture.external_id,
        "captured_at": capture.captured_at,
        "sha256": capture.content_hash,
    } | form.held(body)


def _companion(companion: Companion) -> form.Record:
    body = decompress(companion.body, companion.raw_bytes)
    return {
        "reader": companion.reader,
        "external_id": companion.external_id,
        "captured_at": companion.captured_at,
        "sha256": companion.content_hash,
    } | form.held(body)


def _tombstones(session: ReadSession, account_id: str, place: int) -> list[_Told]:
    return [
        (
            form.TOMBSTONE,
            {
                "platform": row.platform,
                "external_id": row.external_id,
                "deleted_at": row.deleted_at,
            },
        )
        for row in archiving.tombstones_page(session, account_id, place)
    ]


def _buckets(session: ReadSession, account_id: str, place: int) -> list[_Told]:
    return [
        (
            form.BUCKET,
            {"name": row.name, "is_default": row.is_default, "created_at": row.created_at},
        )
        for row in archiving.buckets_page(session, account_id, place)
    ]


def _memories(session: ReadSession, account_id: str, place: int) -> list[_Told]:
    names = archiving.bucket_names(session, account_id)
    rows = archiving.memories_page(session, account_id, place)
    places = archiving.memory_places(session, account_id, [row.id for row in rows])
    later = memories_by_id(session, account_id, {row.superseded_by or "" for row in rows})
    told: list[_Told] = []
    for row in rows:
        platform, conversation, message = places.get(row.id, ("", "", ""))
        successor = later.get(row.superseded_by or "")
        told.append(
            (
                form.MEMORY,
                {
                    "bucket": names[row.bucket_id],
                    "text": row.text,
                    "stored_by": row.client_id,
                    "edited_by": row.updated_by,
                    "created_at": row.created_at,
                    "updated_at": row.updated_at,
                    "platform": platform,
                    "conversation_external_id": conversation,
                    "message_external_id": message,
                    "superseded_at": row.superseded_at if row.superseded_by else None,
                    "superseded_by_bucket": names[successor.bucket_id] if successor else "",
                    "superseded_by_text": successor.text if successor else "",
                },
            )
        )
    return told


def _suggestions(session: ReadSession, account_id: str, place: int) -> list[_Told]:
    return [
        (
            form.SUGGESTION,
            {
                "platform": row.platform,
                "text": row.text,
                # Of one whose memory was deleted for good: the decision holds elsewhere, too.
                "text_hash": row.text_hash if row.state == "erased" else None,
                "source": row.source,
                "project_external_id": row.project_external_id,
                "conversation_external_id": conversation,
                "message_external_id": message,
                "occurred_at": row.occurred_at,
                "state": row.state,
                "created_at": row.created_at,
                "decided_at": row.decided_at,
            },
        )
        for row, conversation, message in archiving.suggestions_page(session, account_id, place)
    ]
