"""Bytes of any kind are read as what they are or refused in words: nothing else may come out."""

import random
from contextlib import ExitStack
from pathlib import Path

import pytest

from backread.errors import UnreadableImport
from backread.settings import Settings
from ingest.accept import SourceFile
from ingest.containers.sources import find_sources
from ingest.cutting import cut

# How the forms begin that are looked into; what follows is noise.
_STARTS = {
    "nothing": b"",
    "a program": b"\x7fELF\x02\x01\x01\x00, \r\x00",
    "a table": b"Conversation,Time,Author,Message\r\n",
    "a quoted cell": b'"a,b',
    "an object": b"{",
    "a list": b"[{",
    "a page": b"<!doctype html>",
    "a database": b"SQLite format 3\x00",
    "a transcript": b"# t\n\n#### You:\n",
    "packed": b"\x28\xb5\x2f\xfd",
    "a zip": b"PK\x03\x04",
}
_STRUCTURE = b',\r\n"{}[]:<>'
_FILES = 60


@pytest.mark.parametrize("start", _STARTS.values(), ids=_STARTS.keys())
def test_noise_is_read_or_refused_in_words(tmp_path: Path, start: bytes) -> None:
    settings = Settings(home=tmp_path / "home")
    noise = random.Random(start)
    path = tmp_path / "noise"
    for _ in range(_FILES):
        size = noise.randrange(1, 400)
        path.write_bytes(
            start
            + bytes(
                noise.choice(_STRUCTURE) if noise.random() < 0.5 else noise.randrange(256)
                for _ in range(size)
            )
        )
        file = SourceFile(name="noise", path=path, size=path.stat().st_size)
        with ExitStack() as stack:
            try:
                sources = find_sources([file], settings, stack).sources
            except UnreadableImport:
                continue
            for source in sources:
                assert all(element.body or element.problem for element in cut(source, settings))
