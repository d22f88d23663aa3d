"""Documents coming in and going out: uploads, replacements, deletions, and the buckets.

An original is kept compressed under the hash of its bytes, once for an account. What is read out
of it is derived: `ingest.documents.reading` makes it, and makes it again.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final

import zstandard

from backread.domain import Principal
from backread.errors import InvalidInput, LimitExceeded, NotFound, Unavailable
from backread.indexing import carry_out_removals, enqueue_embedding
from backread.jobs import enqueue
from backread.jobs.scrubbing import scrub_later
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import File, FileBucket, FileOriginal, FileVersion
from backread.store.repositories import file_buckets as buckets
from backread.store.repositories import files as store
from backread.store.repositories.file_passages import COLLECTION, delete_derived
from ingest.normalise import clean

READ_FILE: Final = "ingest.read_file"
BUCKET_CHARS: Final = 200
NAME_CHARS: Final = 400
_COMPRESSION_LEVEL: Final = 3


@dataclass(frozen=True, slots=True)
class KeptFile:
    """What became of an upload: `added`, `replaced` or `unchanged`."""

    outcome: str
    file_id: str
    name: str
    bucket_id: int
    bucket_name: str


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a deletion took away, and from where. `index` is `removed`, or `pending` when the index
    could not be reached; a job then removes it there."""

    names: Sequence[str]
    deleted_at: datetime
    files: int
    originals: int
    passages: int
    index: str


def keep_file(
    kernel: Kernel,
    principal: Principal,
    *,
    name: str,
    path: Path,
    bucket_id: int | None = None,
    bucket_name: str = "",
) -> KeptFile:
    """Takes a document in and asks for it to be read. A file of this name in the bucket is
    replaced; the same bytes change nothing.

    The bucket is that with the id, or that with the name (made when there is none), or the default
    one. Raises NotFound for an unknown id, and LimitExceeded for what is too large or too much.
    """
    check_size(kernel.settings, path.stat().st_size)  # before it is in memory
    return keep_body(
        kernel,
        principal,
        name=name,
        body=path.read_bytes(),
        bucket_id=bucket_id,
        bucket_name=bucket_name,
    )


def keep_body(
    kernel: Kernel,
    principal: Principal,
    *,
    name: str,
    body: bytes,
    bucket_id: int | None = None,
    bucket_name: str = "",
) -> KeptFile:
    """As `keep_file`, with the bytes at hand."""
    packed = pack(body)  # before the database is locked
    digest = hashlib.sha256(body).hexdigest()
    with kernel.store.write() as session:
        bucket = choose_bucket(session, principal, bucket_id, bucket_name)
        file, outcome = put_file(
            session,
            kernel.settings,
            principal,
            bucket,
            name=name,
            sha256=digest,
            packed=packed,
            size=len(body),
        )
        enqueue_reading(session, file, even_if_ready=outcome != "unchanged")
        return KeptFile(outcome, file.id, file.name, bucket.id, bucket.name)


def pack(body: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=_COMPRESSION_LEVEL).compress(body)


def check_size(settings: Settings, size: int) -> None:
    """Raises LimitExceeded."""
    if size > settings.file_max_bytes:
        raise LimitExceeded(
            f"The file has {in_units(size)}; {in_units(settings.file_max_bytes)} are allowed.",
            hint="Split it, or raise BACKREAD_FILE_MAX_BYTES.",
        )


def put_file(
    session: WriteSession,
    settings: Settings,
    principal: Principal,
    bucket: FileBucket,
    *,
    name: str,
    sha256: str,
    packed: bytes,
    size: int,
) -> tuple[File, str]:
    """Writes the file's row and its original; returns it and what became of it."""
    account_id = principal.account_id
    check_size(settings, size)
    name = file_name(name)
    used = store.count_bytes(session, account_id)  # also locks the account
    known = store.file_named(session, account_id, bucket.id, name)
    if known is not None and known.sha256 == sha256:
        return known, "unchanged"
    if not store.has_original(session, account_id, sha256):
        _check_room(settings, used, size)
        store.add_original(session, account_id, sha256, packed, size)
    if known is None:
        file = File(account_id=account_id, bucket_id=bucket.id, name=name, sha256=sha256)
        file.size_bytes, file.client_id = size, principal.client_id
        session.add(file)
        session.flush()
        return file, "added"
    _supersede(session, known)
    known.sha256, known.size_bytes, known.uploaded_at = sha256, size, utcnow()
    known.version += 1
    known.client_id = principal.client_id
    _reset(known)
    session.flush()
    _drop_old_versions(session, settings, known)
    return known, "replaced"


def _supersede(session: WriteSession, file: File) -> None:
    """The old text is found no more, from now on; the old original is kept if that is set."""
    delete_derived(session, file.account_id, [file.id])
    enqueue_embedding(session, file.account_id, COLLECTION)
    session.add(
        FileVersion(
            file_id=file.id,
            version=file.version,
            account_id=file.account_id,
            sha256=file.sha256,
            size_bytes=file.size_bytes,
            uploaded_at=file.uploaded_at,
        )
    )
    session.flush()


def _drop_old_versions(session: WriteSession, settings: Settings, file: File) -> None:
    kept = store.versions_of(session, file.account_id, file.id)
    gone = kept[settings.file_versions_kept :]
    for version in gone:
        session.delete(version)
    store.drop_unused_originals(session, file.account_id, [each.sha256 for each in gone])


def _reset(file: File) -> None:
    file.state = "waiting"
    file.problem = file.problem_text = file.problem_hint = file.kind = file.page_unit = ""
    file.remarks = []
    file.page_count = file.character_count = file.passage_count = file.reader_version = 0
    file.read_at = None


def _check_room(settings: Settings, used: int, size: int) -> None:
    if used + size > settings.files_max_bytes:
        raise LimitExceeded(
            f"There is no room: {in_units(used)} of {in_units(settings.files_max_bytes)} are used, "
            f"and the file has {in_units(size)}.",
            hint="Delete files that are not needed, or raise BACKREAD_FILES_MAX_BYTES.",
        )


def enqueue_reading(session: WriteSession, file: File, *, even_if_ready: bool = False) -> None:
    """Asks for the file to be read, unless it has been and nothing is new."""
    if file.state == "failed" or even_if_ready:
        _reset(file)
    if file.state in ("waiting", "reading"):
        enqueue(
            session,
            READ_FILE,
            account_id=file.account_id,
            dedupe_key=f"read_file:{file.id}",
            file_id=file.id,
        )


def read_again(session: WriteSession, principal: Principal, file_id: str) -> File:
    """For a person who has repaired what was in the way. Raises NotFound."""
    file = store.find_file(session, principal, file_id)
    delete_derived(session, file.account_id, [file.id])
    enqueue_embedding(session, file.account_id, COLLECTION)
    enqueue_reading(session, file, even_if_ready=True)
    return file


def original_of(
    session: ReadSession, principal: Principal, file_id: str, version: int | None = None
) -> tuple[File, bytes]:
    """The very bytes that were uploaded. Raises NotFound."""
    file = store.find_file(session, principal, file_id)
    sha256 = file.sha256
    if version is not None and version != file.version:
        kept = store.versions_of(session, principal.account_id, file_id)
        sha256 = next((each.sha256 for each in kept if each.version == version), "")
    original = store.get_original(session, principal.account_id, sha256) if sha256 else None
    if original is None:
        raise NotFound("There is no such version of the file.", hint="It was not kept.")
    return file, unpack(original)


def unpack(original: FileOriginal) -> bytes:
    return zstandard.ZstdDecompressor().decompress(
        original.body, max_output_size=original.raw_bytes
    )


def remove_file(kernel: Kernel, principal: Principal, file_id: str) -> Receipt:
    """Deletes a file everywhere: its row, pages, passages, original and kept versions, and its
    points in the index. Raises NotFound."""
    with kernel.store.write() as session:
        file = store.find_file(session, principal, file_id)
        receipt = _remove(session, principal, [file])
    return _with_index(kernel, principal, receipt)


def remove_bucket(kernel: Kernel, principal: Principal, bucket_id: int) -> Receipt:
    """Deletes a bucket with all its files. Raises NotFound."""
    with kernel.store.write() as session:
        bucket = buckets.get_file_bucket(session, principal.account_id, bucket_id)
        rows = store.list_files(session, principal.account_id, bucket_id=bucket.id, limit=None)
        receipt = _remove(session, principal, [file for file, _ in rows])
        session.delete(bucket)
    return _with_index(kernel, principal, receipt)


def _remove(session: WriteSession, principal: Principal, files: Sequence[File]) -> Receipt:
    account_id = principal.account_id
    passages = delete_derived(session, account_id, [file.id for file in files])
    hashes: list[str] = []
    for file in files:
        versions = store.versions_of(session, account_id, file.id)
        hashes += [file.sha256, *(version.sha256 for version in versions)]
        session.delete(file)
    originals = store.drop_unused_originals(session, account_id, hashes)
    enqueue_embedding(session, account_id, COLLECTION)  # which also carries out removals
    scrub_later(session)
    return Receipt(
        [file.name for file in files], utcnow(), len(files), originals, passages, "pending"
    )


def _with_index(kernel: Kernel, principal: Principal, receipt: Receipt) -> Receipt:
    try:
        carry_out_removals(kernel, principal.account_id)
    except Unavailable:
        return receipt
    return replace(receipt, index="removed")


def choose_bucket(
    session: WriteSession, principal: Principal, bucket_id: int | None, name: str = ""
) -> FileBucket:
    """By id, by name, or the default one. Raises NotFound and InvalidInput."""
    if bucket_id is not None:
        return buckets.get_file_bucket(session, principal.account_id, bucket_id)
    if name.strip():
        return buckets.named_file_bucket(session, principal.account_id, checked_name(name))
    return buckets.default_file_bucket(session, principal.account_id)


def rename_bucket(
    session: WriteSession, principal: Principal, bucket_id: int, name: str
) -> FileBucket:
    """Raises NotFound, and InvalidInput when another bucket has the name."""
    bucket = buckets.get_file_bucket(session, principal.account_id, bucket_id)
    name = checked_name(name)
    other = buckets.bucket_by_name(session, principal.account_id, name)
    if other is not None and other.id != bucket.id:
        raise InvalidInput("Another file bucket has this name.", hint="Choose another one.")
    bucket.name = name
    session.flush()
    return bucket


def checked_name(name: str) -> str:
    """A bucket's name on one line. Raises InvalidInput for an empty or overlong one."""
    name = " ".join(clean(name).split())
    if not name or len(name) > BUCKET_CHARS:
        raise InvalidInput(
            f"A file bucket's name has 1 to {BUCKET_CHARS} characters.", hint="Give a shorter name."
        )
    return name


def file_name(name: str) -> str:
    """A name to show: never used as a path. What is too long is cut at its beginning."""
    parts = [part.strip() for part in clean(name).replace("\\", "/").split("/")]
    kept = "/".join(part for part in parts if part not in {"", ".", ".."})
    shown = "".join(each for each in kept if each.isprintable())
    return shown[-NAME_CHARS:] or "unnamed file"


def in_units(size: int) -> str:
    """Bytes for people."""
    for unit, bytes_each in (("GB", 1024**3), ("MB", 1024**2)):
        if size >= bytes_each:
            return f"{size / bytes_each:,.1f} {unit}".replace(".0 ", " ")
    return f"{max(1, round(size / 1024)):,} kB" if size else "0 bytes"
