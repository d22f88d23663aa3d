"""What holds for every importer, shown on its own fixtures and on damaged copies of them."""

import json
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from backread.domain import Platform
from backread.errors import UnreadableImport
from backread.settings import Settings
from ingest.containers.source import Source
from ingest.cutting import cut
from ingest.importers import IMPORTERS, importer_for
from ingest.json_stream import load
from tests.ingest.importers.parsing import EXPORTS, check_tree

_JUNK: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    2**70,
    1.5,
    "",
    "x",
    "\ud800",
    [],
    {},
    [[]],
    [None],
    {"": 1},
)


def _bodies(path: Path, settings: Settings) -> Iterator[bytes]:
    if path.suffix == ".sql":
        made = settings.home / "made.db"
        with closing(sqlite3.connect(made)) as database:
            database.executescript(path.read_text())
        path = made
    body = path.read_bytes()
    for element in cut(Source("x", "x", len(body), lambda: iter([body])), settings):
        yield element.body


def _fixtures() -> list[Path]:
    return sorted(
        path
        for path in EXPORTS.rglob("*")
        if path.is_file() and not path.name.endswith(".expected.json")
    )


def test_every_platform_has_an_importer_and_a_fixture() -> None:
    assert set(IMPORTERS) == {platform.value for platform in Platform}
    assert {path.parent.name for path in _fixtures()} >= set(IMPORTERS)


@pytest.mark.parametrize("path", _fixtures(), ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_fixture_is_its_own_platforms_and_nothing_breaks_its_parser(
    path: Path, tmp_path: Path
) -> None:
    settings = Settings(home=tmp_path)
    chance = random.Random(path.name)  # the same damage on every run
    for body in _bodies(path, settings):
        importer = importer_for(load(body))
        assert importer is IMPORTERS[path.parent.name]
        for _ in range(40):
            damaged = load(body)
            for _ in range(chance.randint(1, 6)):
                _damage(damaged, chance)
            _survives(damaged)


def _survives(raw: Any) -> None:
    """Recognised or not, read or refused in words; and what is read is a sound tree."""
    importer = importer_for(raw)
    if importer is None or not importer.identify(raw):
        return
    try:
        parsed = importer.parse(raw)
    except UnreadableImport:
        return
    check_tree(parsed)
    json.dumps(parsed.extra)
    assert all(isinstance(count, int) and count > 0 for count in parsed.news.values())


def _damage(value: Any, chance: random.Random) -> None:
    """Replaces, removes or doubles something at a random place."""
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = chance.choice(keys)
        inner = value[key]
        if isinstance(inner, dict | list) and inner and chance.random() < 0.85:
            value = inner
            continue
        break
    what = chance.random()
    if what < 0.6:
        value[key] = chance.choice(_JUNK)
    elif what < 0.8:
        del value[key]
    elif isinstance(value, list):
        value.append(value[key])
