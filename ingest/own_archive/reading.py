"""Takes in what an archive of Backread holds beside conversations: memories, the buckets they
lie in, decisions about suggested ones, and deletions. What is here already stays as it is."""

import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from secrets import randbits

from backread.identity import new_id, statement_hash
from backread.store.base import utcnow
from backread.store.engine import WriteSession
from backread.store.models import Bucket, Memory, SuggestedMemory, Tombstone
from backread.store.repositories.archiving import (
    bucket_named,
    has_conversation,
    has_default_bucket,
    has_former_memory,
    memory_saying,
    memory_with_text,
    message_ids,
    suggestion_of,
)
from backread.store.repositories.captures import tombstoned
from backread.store.repositories.memories import default_bucket, find_by_hash
from ingest.importers.base import dict_in, text_in, time_in
from ingest.indexing import enqueue_embedding
from ingest.json_stream import load
from ingest.own_archive.files import take_file, take_file_bucket, take_file_version
from ingest.own_archive.folders import take_folder, take_folder_record, take_record_revision
from ingest.own_archive.form import (
    BUCKET,
    FILE,
    FILE_BUCKET,
    FILE_VERSION,
    FOLDER,
    FOLDER_RECORD,
    KIND,
    MEMORY,
    NOTE_REVISION,
    RECORD_REVISION,
    SUGGESTION,
    TOMBSTONE,
    Record,
)
from ingest.own_archive.notes import take_note_revision
from ingest.rows import fit_id

_BUCKET_CHARS = 200
_MEMORY_CHARS = 10_000  # as many as may be stored by hand
_SLUG_CHARS = 32
_CLIENT_CHARS = 512
_STATES = frozenset({"open", "accepted", "dismissed", "erased"})
_HASH = re.compile(r"[0-9a-f]{64}")
_ORIGIN = ("conversation_external_id", "message_external_id")


def store_records(session: WriteSession, account_id: str, bodies: Sequence[bytes]) -> Counter[str]:
    """Writes what is not here yet. Counts by kind: `memory` those that were added, `memory:known`
    those that were here, `memory:wrong` those that cannot be read. Safe to repeat."""
    counts: Counter[str] = Counter()
    for body in bodies:
        record = dict_in(load(body))
        kind = text_in(record.get(KIND))
        take = _TAKERS.get(kind)
        counts[f"{kind}{take(session, account_id, record) if take else ':wrong'}"] += 1
    if counts[MEMORY] or counts[NOTE_REVISION]:
        enqueue_embedding(session, account_id)
    return counts


def records_in_words(counts: Counter[str]) -> list[str]:
    """What became of the records, for the report."""
    told = []
    for kind, (one, many) in _WORDS.items():
        added, known, wrong = (counts[f"{kind}{end}"] for end in ("", ":known", ":wrong"))
        if added + known + wrong:
            words = f"{added:,} {one if added == 1 else many} added"
            words += f", {known:,} here already" if known else ""
            words += f", {wrong:,} that could not be read" if wrong else ""
            told.append(f"From the archive: {words}.")
    return told


def _take_tombstone(session: WriteSession, account_id: str, record: Record) -> str:
    """A chat that is here was not deleted here: it stays."""
    platform = text_in(record.get("platform"))
    external_id = fit_id(text_in(record.get("external_id")))
    if not external_id or not 0 < len(platform) <= _SLUG_CHARS:
        return ":wrong"
    if tombstoned(session, account_id, platform, [external_id]) or has_conversation(
        session, account_id, platform, external_id
    ):
        return ":known"
    session.add(
        Tombstone(
            account_id=account_id,
            platform=platform,
            external_id=external_id,
            deleted_at=_past(record, "deleted_at"),
        )
    )
    session.flush()
    return ""


def _take_bucket(session: WriteSession, account_id: str, record: Record) -> str:
    name = text_in(record.get("name")).strip()[:_BUCKET_CHARS]
    if not name:
        return ":wrong"
    if bucket_named(session, account_id, name) is not None:
        return ":known"
    # The first default bucket is the one that stays it.
    is_default = record.get("is_default") is True and not has_default_bucket(session, account_id)
    _add_bucket(session, account_id, name, is_default, _past(record, "created_at"))
    return ""


def _take_memory(session: WriteSession, account_id: str, record: Record) -> str:
    text = text_in(record.get("text")).strip()
    if not 0 < len(text) <= _MEMORY_CHARS:
        return ":wrong"
    bucket = _bucket_for(session, account_id, text_in(record.get("bucket")).strip())
    superseded_at = time_in(record.get("superseded_at"))
    if superseded_at is None:
        if find_by_hash(session, account_id, bucket.id, statement_hash(text)) is not None:
            return ":known"
    elif has_former_memory(session, account_id, bucket.id, text, superseded_at):
        return ":known"
    created_at = _past(record, "created_at")
    about = [fit_id(text_in(record.get(key))) for key in _ORIGIN]
    conversation_id, message_id = message_ids(
        session, account_id, text_in(record.get("platform")), *about
    )
    memory_id = new_id()
    session.add(
        Memory(
            id=memory_id,
            account_id=account_id,
            bucket_id=bucket.id,
            text=text,
            text_hash=statement_hash(f"{memory_id} {text}" if superseded_at else text),
            client_id=text_in(record.get("stored_by"))[:_CLIENT_CHARS] or None,
            updated_by=text_in(record.get("edited_by"))[:_CLIENT_CHARS] or None,
            conversation_id=conversation_id,
            message_id=message_id,
            superseded_by=_successor(session, account_id, record) if superseded_at else None,
            superseded_at=superseded_at,
            created_at=created_at,
            updated_at=max(created_at, _past(record, "updated_at")),
            point_id=randbits(62),
        )
    )
    session.flush()
    return ""


def _successor(session: WriteSession, account_id: str, record: Record) -> str:
    """The memory that holds in its place: it comes before in the archive. One that was deleted is
    an id that leads nowhere."""
    bucket = bucket_named(session, account_id, text_in(record.get("superseded_by_bucket")))
    text = text_in(record.get("superseded_by_text"))
    found = memory_with_text(session, account_id, bucket.id, text) if bucket and text else None
    return found.id if found else new_id()


def _take_suggestion(session: WriteSession, account_id: str, record: Record) -> str:
    """A decision that was made here is not undone; one that was made there holds here too."""
    platform, text = text_in(record.get("platform")), text_in(record.get("text"))
    state = text_in(record.get("state"))
    if not 0 < len(platform) <= _SLUG_CHARS or state not in _STATES:
        return ":wrong"
    text_hash = statement_hash(text) if text else text_in(record.get("text_hash"))
    if (state == "erased") == bool(text) or not _HASH.fullmatch(text_hash):
        return ":wrong"
    suggested_at = _past(record, "created_at")
    found = suggestion_of(session, account_id, platform, text_hash)
    if found is not None:
        found.created_at = min(found.created_at, suggested_at)
        if found.state != "open" or state == "open":
            return ":known"
    else:
        about = [fit_id(text_in(record.get(key))) for key in _ORIGIN]
        conversation_id, message_id = message_ids(session, account_id, platform, *about)
        found = SuggestedMemory(
            account_id=account_id,
            platform=platform,
            text=text,
            text_hash=text_hash,
            source=text_in(record.get("source")),
            project_external_id=fit_id(text_in(record.get("project_external_id"))),
            conversation_id=conversation_id,
            message_id=message_id,
            occurred_at=time_in(record.get("occurred_at")),
            created_at=suggested_at,
        )
        session.add(found)
    found.state = state
    if state == "erased":
        found.text = found.source = ""
    if state != "open":
        found.decided_at = _past(record, "decided_at")
    if state == "accepted":
        found.memory_id = memory_saying(session, account_id, text_hash)
    session.flush()
    return ""


def _bucket_for(session: WriteSession, account_id: str, name: str) -> Bucket:
    name = name[:_BUCKET_CHARS]
    if not name:
        return default_bucket(session, account_id)
    found = bucket_named(session, account_id, name)
    return found or _add_bucket(session, account_id, name, False, utcnow())


def _add_bucket(
    session: WriteSession, account_id: str, name: str, is_default: bool, created_at: datetime
) -> Bucket:
    bucket = Bucket(account_id=account_id, name=name, is_default=is_default, created_at=created_at)
    session.add(bucket)
    session.flush()
    return bucket


def _past(record: Record, key: str) -> datetime:
    """The record's time; now for one that is missing or lies ahead."""
    now = utcnow()
    return min(time_in(record.get(key)) or now, now)


_WORDS = {
    BUCKET: ("bucket", "buckets"),
    MEMORY: ("memory", "memories"),
    FILE_BUCKET: ("file bucket", "file buckets"),
    FILE: ("file", "files"),
    FOLDER: ("folder", "folders"),
    FOLDER_RECORD: ("record", "records"),
    NOTE_REVISION: ("revision of notes", "revisions of notes"),
    SUGGESTION: ("suggested memory", "suggested memories"),
    TOMBSTONE: ("deletion", "deletions"),
}
_TAKERS = {
    BUCKET: _take_bucket,
    MEMORY: _take_memory,
    FILE_BUCKET: take_file_bucket,
    FILE: take_file,
    FILE_VERSION: take_file_version,
    FOLDER: take_folder,
    FOLDER_RECORD: take_folder_record,
    RECORD_REVISION: take_record_revision,
    NOTE_REVISION: take_note_revision,
    SUGGESTION: _take_suggestion,
    TOMBSTONE: _take_tombstone,
}
