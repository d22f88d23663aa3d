"""Takes companions in: keeps each raw, and stores the documents and suggestions that it holds."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import zstandard

from backread.domain import ParsedDocument
from backread.errors import UnreadableImport
from backread.identity import content_hash, new_id
from backread.log import get_logger
from backread.store.base import utcnow
from backread.store.engine import WriteSession
from backread.store.models import Document
from backread.store.repositories.companions import (
    companions_of,
    insert_companion,
    known_version,
    note_reader_version,
)
from backread.store.repositories.documents import (
    DocumentRow,
    documents_by_external_id,
    insert_documents,
    update_document,
)
from ingest.candidates import CODEC, MISREAD, decompress
from ingest.companions import READERS
from ingest.companions.base import CompanionReader, ParsedCompanion
from ingest.documents.projects import enqueue_documents
from ingest.finds import Finds, suggest, suggestions_from
from ingest.json_stream import load
from ingest.normalise import clean
from ingest.rows import fit_id

_COMPRESSION_LEVEL = 3
_PROJECT_CHARS = 500
_MEDIA_TYPE_CHARS = 128

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class CompanionCandidate:
    """One companion of an import, raw."""

    reader: str  # slug
    external_id: str
    body: bytes
    source: str  # file inside the archive and position
    captured_at: datetime | None = None  # where it was captured first, out of Backread's archive


def store_companions(
    session: WriteSession,
    account_id: str,
    import_id: str,
    candidates: Sequence[CompanionCandidate],
    finds: Finds,
    *,
    dry_run: bool = False,
) -> None:
    """Writes what is new in them, and notes it in `finds`. The very bytes that a reader no older
    than today's has read before are passed over."""
    for candidate in candidates:
        reader = READERS[candidate.reader]
        digest = content_hash(candidate.body)
        version = known_version(session, account_id, reader.slug, candidate.external_id, digest)
        if version is not None and version >= reader.version:
            continue
        parsed = _parse(reader, candidate.body)
        if parsed is None:
            finds.warnings.append(f"{candidate.source} could not be read; it was left out.")
            continue
        if not dry_run and version is None:
            packer = zstandard.ZstdCompressor(level=_COMPRESSION_LEVEL)
            insert_companion(
                session,
                {
                    "id": new_id(),
                    "account_id": account_id,
                    "reader": reader.slug,
                    "reader_version": reader.version,
                    "external_id": candidate.external_id,
                    "content_hash": digest,
                    "codec": CODEC,
                    "body": packer.compress(candidate.body),
                    "raw_bytes": len(candidate.body),
                    "import_id": import_id,
                    "captured_at": candidate.captured_at or utcnow(),
                },
            )
        elif not dry_run:
            note_reader_version(session, account_id, reader.slug, digest, reader.version)
        _store(session, account_id, import_id, reader, parsed, finds, dry_run=dry_run)


def read_companions_again(session: WriteSession, account_id: str) -> Finds:
    """Makes documents and suggestions from all raw companions, in the order they came in. What is
    there already, and what a person has decided, stays."""
    finds = Finds()
    for companion in companions_of(session, account_id):
        reader = READERS[companion.reader]
        parsed = _parse(reader, decompress(companion.body, companion.raw_bytes))
        if parsed is None:
            _log.warning("companion_not_read", companion_id=companion.id, reader=reader.slug)
            continue
        _store(session, account_id, companion.import_id, reader, parsed, finds, dry_run=False)
        note_reader_version(
            session, account_id, reader.slug, companion.content_hash, reader.version
        )
    return finds


def _parse(reader: CompanionReader, body: bytes) -> ParsedCompanion | None:
    try:
        return reader.parse(load(body))
    except (UnreadableImport, *MISREAD) as error:
        _log.warning(
            "companion_not_parsed", reader=reader.slug, error=type(error).__name__, exc_info=True
        )
        return None


def _store(
    session: WriteSession,
    account_id: str,
    import_id: str | None,
    reader: CompanionReader,
    parsed: ParsedCompanion,
    finds: Finds,
    *,
    dry_run: bool,
) -> None:
    platform = reader.platform.value
    rows = suggestions_from(
        parsed.memories, account_id=account_id, platform=platform, import_id=import_id
    )
    suggest(session, rows, finds, dry_run=dry_run)
    documents = {
        row["external_id"]: row
        for row in (_row(each, account_id, platform, import_id) for each in parsed.documents)
    }
    stored = documents_by_external_id(session, account_id, platform, list(documents))
    new = [row for external_id, row in documents.items() if external_id not in stored]
    changed = [
        (stored[external_id], row)
        for external_id, row in documents.items()
        if external_id in stored and _is_news(stored[external_id], row)
    ]
    finds.documents |= {(platform, row["external_id"]) for row in new}
    finds.documents |= {
        (platform, row["external_id"]) for old, row in changed if old.sha256 != row["sha256"]
    }
    if not dry_run:
        insert_documents(session, new)
        for old, row in changed:
            update_document(session, old.id, row)
        if new or changed:
            enqueue_documents(session, account_id)


def _row(
    document: ParsedDocument, account_id: str, platform: str, import_id: str | None
) -> DocumentRow:
    text = clean(document.text)
    body = text.encode("utf-8", "surrogatepass")
    return {
        "account_id": account_id,
        "platform": platform,
        "external_id": fit_id(document.external_id),
        "kind": document.kind,
        "name": clean(document.name),
        "project": clean(document.project)[:_PROJECT_CHARS],
        "project_external_id": fit_id(document.project_external_id),
        "media_type": document.media_type[:_MEDIA_TYPE_CHARS],
        "text": text,
        "size_bytes": len(body),
        "sha256": hashlib.sha256(body).hexdigest(),
        "created_at": document.created_at,
        "updated_at": document.updated_at,
        "import_id": import_id,
    }


def _is_news(stored: Document, row: DocumentRow) -> bool:
    """Whether the row says something else than what is stored, and is not from an older export."""
    if row["updated_at"] and stored.updated_at and row["updated_at"] < stored.updated_at:
        return False
    return any(
        getattr(stored, key) != value for key, value in row.items() if key not in {"import_id"}
    )
