"""Sound files of every container type, for the mutations to start from. Words are invented."""

import gzip
import io
import sqlite3
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping
from contextlib import closing
from functools import cache
from pathlib import Path

import zstandard

from tests.exports import BOILER, GARDEN, as_json, chatgpt, claude, zip_bytes

_FIXTURES = Path(__file__).parents[2] / "fixtures" / "exports"

# A file's content, or a folder's: path in it -> content.
Original = bytes | dict[str, bytes]

KINDS = (
    "zip",
    "zip64",
    "zip_in_zip",
    "tar",
    "tar_gz",
    "gz",
    "zst",
    "folder",
    "json",
    "jsonl",
    "html",
    "csv",
    "markdown",
    "sqlite",
)
ENDINGS = {
    "zip": ".zip",
    "zip64": ".zip",
    "zip_in_zip": ".zip",
    "tar": ".tar",
    "tar_gz": ".tar.gz",
    "gz": ".json.gz",
    "zst": ".jsonl.zst",
    "folder": "",
    "json": ".json",
    "jsonl": ".jsonl",
    "html": ".html",
    "csv": ".csv",
    "markdown": ".md",
    "sqlite": ".vscdb",
}


@cache
def originals(kind: str) -> tuple[Original, ...]:
    """Several of the kind, always the same ones in the same order."""
    members = _members()
    shards = {
        "conversations-000.json": as_json([chatgpt("a", GARDEN), chatgpt("b", BOILER)]),
        "conversations-001.json": as_json([chatgpt("c")]),
        "photo.jpg": b"\xff\xd8\xff" + bytes(700),
    }
    claudes = {"conversations.json": as_json([claude("x"), claude("y", GARDEN)])}
    bare = {
        "zip": (zip_bytes(shards), zip_bytes(members)),
        "zip64": (_zip64(shards), _zip64(claudes)),
        "zip_in_zip": (
            zip_bytes({"part-1.zip": zip_bytes(shards), "part-2.zip": zip_bytes(claudes)}),
            zip_bytes({"chats.tar": tar_bytes(claudes), "a.json.gz": gzip.compress(_chats())}),
        ),
        "tar": tuple(
            tar_bytes(members | shards, form)
            for form in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)
        ),
        "tar_gz": (
            gzip.compress(tar_bytes(shards), mtime=0),
            gzip.compress(tar_bytes({"a.zip": zip_bytes(claudes)} | members), mtime=0),
            zstandard.compress(tar_bytes(shards)),
        ),
        "gz": (gzip.compress(_chats(), mtime=0), gzip.compress(_lines(), mtime=0)),
        "zst": (zstandard.compress(_lines()), zstandard.compress(_chats())),
        "sqlite": (_database(),),
    }
    if kind == "folder":
        return (shards, members)
    if kind in bare:
        return bare[kind]
    ending = {"markdown": ".md"}.get(kind, f".{kind}")
    fixtures = [content for name, content in members.items() if name.endswith(ending)]
    return (*fixtures, _chats()) if kind == "json" else tuple(fixtures)


def tar_bytes(members: Mapping[str, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=form) as archive:
        for name, body in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(body)
            archive.addfile(info, io.BytesIO(body))
    return packed.getvalue()


def _members() -> dict[str, bytes]:
    """The project's own fixture of every platform, as one export of many files."""
    return {
        f"{path.parent.name}/{path.name}": path.read_bytes()
        for path in sorted(_FIXTURES.rglob("*"))
        if path.is_file() and path.suffix != ".sql" and ".expected" not in path.name
    }


def _chats() -> bytes:
    return as_json([chatgpt("a", GARDEN), claude("b", BOILER), chatgpt("c")])


def _lines() -> bytes:
    return b"\n".join(as_json(chatgpt(f"c{number}", GARDEN)) for number in range(4))


def _zip64(members: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in members.items():
            with archive.open(name, "w", force_zip64=True) as stream:
                stream.write(body)
    content = packed.getvalue()
    # Small archives get the plain end record only; the zip64 one is put in front of it.
    at = content.rfind(b"PK\x05\x06")
    count = int.from_bytes(content[at + 10 : at + 12], "little")
    size, start = content[at + 12 : at + 16], content[at + 16 : at + 20]
    record = b"PK\x06\x06" + (44).to_bytes(8, "little") + b"\x2d\x00\x2d\x00" + bytes(8)
    record += count.to_bytes(8, "little") * 2
    record += int.from_bytes(size, "little").to_bytes(8, "little")
    record += int.from_bytes(start, "little").to_bytes(8, "little")
    locator = b"PK\x06\x07" + bytes(4) + at.to_bytes(8, "little") + (1).to_bytes(4, "little")
    end = content[at : at + 8] + b"\xff" * 12 + content[at + 20 :]
    return content[:at] + record + locator + end


def _database() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.vscdb"
        with closing(sqlite3.connect(path)) as database:
            database.executescript((_FIXTURES / "cursor" / "state.sql").read_text())
        return path.read_bytes()
