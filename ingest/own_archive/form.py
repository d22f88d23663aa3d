"""The form of Backread's own archive: a zip of lines of JSON, and of Markdown to read.

Each line is one record and says what it is under `backread`. Captures lie in it byte for byte,
so that whatever a later version can read out of them is not lost by moving. The form has a
number; a reader takes every number up to its own.
"""

import base64
import re
from datetime import datetime
from typing import Any

import orjson

FORM = 1
KIND = "backread"
MANIFEST = "manifest.json"
MANIFEST_KEY = "backread_archive"

CAPTURE = "capture"
COMPANION = "companion"
BUCKET = "bucket"
MEMORY = "memory"
SUGGESTION = "suggestion"
TOMBSTONE = "tombstone"
FILE_BUCKET = "file_bucket"
FILE = "file"
FILE_VERSION = "file_version"
FOLDER = "folder"
FOLDER_RECORD = "folder_record"
RECORD_REVISION = "record_revision"
NOTE_REVISION = "note_revision"

LINE_START = re.compile(rb'\{\s*"backread"\s*:\s*"')

Record = dict[str, Any]


def line(kind: str, record: Record) -> bytes:
    """One record as it stands in the archive. Times are ISO 8601 with microseconds."""
    return orjson.dumps({KIND: kind} | record, default=_time) + b"\n"


def held(body: bytes) -> Record:
    """Raw bytes as part of a record: as text if they are text, which anybody can read."""
    try:
        return {"body": body.decode("utf-8")}
    except UnicodeDecodeError:
        return {"body_base64": base64.b64encode(body).decode()}


def body_of(record: Record) -> bytes | None:
    """The raw bytes of a record; None when it holds none."""
    text, packed = record.get("body"), record.get("body_base64")
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")
    if not isinstance(packed, str):
        return None
    try:
        return base64.b64decode(packed, validate=True)
    except ValueError:
        return None


def _time(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} does not belong into an archive")
