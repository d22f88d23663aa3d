"""Uploaded documents in Backread's own archive: the buckets, the originals, and earlier originals
that are kept. What is read out of them is made again where they arrive."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import PurePosixPath

from backread.domain import Principal
from backread.identity import content_hash
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import File, FileBucket, FileVersion
from backread.store.repositories import file_buckets as buckets
from backread.store.repositories import files as store
from ingest.documents.keeping import (
    BUCKET_CHARS,
    choose_bucket,
    enqueue_reading,
    file_name,
    pack,
    unpack,
)
from ingest.importers.base import text_in, time_in
from ingest.own_archive.form import (
    FILE,
    FILE_BUCKET,
    FILE_VERSION,
    Record,
    body_of,
    held,
)

_CLIENT_CHARS = 512
_PAGE = 200
_MOST_VERSION = 1_000_000


def file_records(kernel: Kernel, account_id: str) -> Iterator[tuple[str, Record]]:
    """Kind and record, the buckets first; one original in memory at a time."""
    with kernel.store.read() as session:
        counted = buckets.file_buckets_of(session, account_id)
    names = {each.bucket.id: each.bucket.name for each in counted}
    for each in counted:
        bucket = each.bucket
        yield (
            FILE_BUCKET,
            {
                "name": bucket.name,
                "is_default": bucket.is_default,
                "created_at": bucket.created_at,
            },
        )
    place = 0
    while True:
        with kernel.store.read() as session:
            files = store.files_page(session, account_id, place, _PAGE)
        if not files:
            return
        place += len(files)
        for file in files:
            yield from _records_of(kernel, file, names.get(file.bucket_id, ""))


def _records_of(kernel: Kernel, file: File, bucket: str) -> Iterator[tuple[str, Record]]:
    named = {"bucket": bucket, "name": file.name}
    with kernel.store.read() as session:
        body = _body(session, file.account_id, file.sha256)
        versions = store.versions_of(session, file.account_id, file.id)
    if body is None:
        return  # deleted meanwhile
    yield (
        FILE,
        named
        | {
            "version": file.version,
            "uploaded_at": file.uploaded_at,
            "uploaded_by": file.client_id,
            "sha256": file.sha256,
        }
        | held(body),
    )
    for version in reversed(versions):
        with kernel.store.read() as session:
            body = _body(session, file.account_id, version.sha256)
        if body is not None:
            about = {
                "version": version.version,
                "uploaded_at": version.uploaded_at,
                "sha256": version.sha256,
            }
            yield FILE_VERSION, named | about | held(body)


def _body(session: ReadSession, account_id: str, sha256: str) -> bytes | None:
    original = store.get_original(session, account_id, sha256)
    return None if original is None else unpack(original)


def take_file_bucket(session: WriteSession, account_id: str, record: Record) -> str:
    name = text_in(record.get("name")).strip()[:BUCKET_CHARS]
    if not name:
        return ":wrong"
    if buckets.bucket_by_name(session, account_id, name) is not None:
        return ":known"
    # The first default bucket is the one that stays it.
    there = buckets.file_buckets_of(session, account_id)
    is_default = record.get("is_default") is True and not any(
        each.bucket.is_default for each in there
    )
    session.add(
        FileBucket(
            account_id=account_id,
            name=name,
            is_default=is_default,
            created_at=_past(record, "created_at"),
        )
    )
    session.flush()
    return ""


def take_file(session: WriteSession, account_id: str, record: Record) -> str:
    """A file that is here already stays as it is. One of the same name with other bytes stays,
    too: that of the archive then gets a number. No limit applies: nothing may be lost by moving."""
    body = _checked_body(record)
    if body is None:
        return ":wrong"
    bucket = _bucket_of(session, account_id, record)
    digest = text_in(record.get("sha256"))
    name = file_name(text_in(record.get("name")))
    free = _free_name(session, account_id, bucket.id, name, digest)
    if free is None:
        return ":known"
    if not store.has_original(session, account_id, digest):
        store.add_original(session, account_id, digest, pack(body), len(body))
    file = File(
        account_id=account_id,
        bucket_id=bucket.id,
        name=free,
        sha256=digest,
        size_bytes=len(body),
        version=_version(record),
        client_id=text_in(record.get("uploaded_by"))[:_CLIENT_CHARS] or None,
        uploaded_at=_past(record, "uploaded_at"),
    )
    file.state = "waiting"
    session.add(file)
    session.flush()
    enqueue_reading(session, file)
    return ""


def take_file_version(session: WriteSession, account_id: str, record: Record) -> str:
    """An earlier original, for the file that has come before it."""
    body = _checked_body(record)
    if body is None:
        return ":wrong"
    bucket = _bucket_of(session, account_id, record)
    name, version = file_name(text_in(record.get("name"))), _version(record)
    file = store.file_named(session, account_id, bucket.id, name)
    if file is None or version >= file.version:
        return ":known"
    if any(each.version == version for each in store.versions_of(session, account_id, file.id)):
        return ":known"
    digest = text_in(record.get("sha256"))
    if not store.has_original(session, account_id, digest):
        store.add_original(session, account_id, digest, pack(body), len(body))
    session.add(
        FileVersion(
            file_id=file.id,
            version=version,
            account_id=account_id,
            sha256=digest,
            size_bytes=len(body),
            uploaded_at=_past(record, "uploaded_at"),
        )
    )
    session.flush()
    return ""


def _checked_body(record: Record) -> bytes | None:
    body = body_of(record)
    return body if body is not None and content_hash(body) == record.get("sha256") else None


def _bucket_of(session: WriteSession, account_id: str, record: Record) -> FileBucket:
    name = text_in(record.get("bucket"))[:BUCKET_CHARS]
    return choose_bucket(session, Principal(account_id), None, name)


def _free_name(
    session: WriteSession, account_id: str, bucket_id: int, name: str, digest: str
) -> str | None:
    """The name, or the first free one made of it; None when the file is here under one of them."""
    path = PurePosixPath(name)
    number = 1
    candidate = name
    while (there := store.file_named(session, account_id, bucket_id, candidate)) is not None:
        if there.sha256 == digest:
            return None
        number += 1
        candidate = file_name(str(path.with_name(f"{path.stem} ({number}){path.suffix}")))
    return candidate


def _version(record: Record) -> int:
    version = record.get("version")
    return version if isinstance(version, int) and 0 < version < _MOST_VERSION else 1


def _past(record: Record, key: str) -> datetime:
    """The record's time; now for one that is missing or lies ahead."""
    now = utcnow()
    return min(time_in(record.get(key)) or now, now)
