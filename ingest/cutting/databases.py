"""SQLite databases that hold chats: Cursor's `state.vscdb` and `store.db`.

The database may be open, or damaged, so a copy is read, and what can be read of it counts. What
was written last may still lie in the log beside it (`-wal`); the copy takes that along.
"""

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from backread.settings import Settings
from ingest.containers.source import Source
from ingest.cutting.base import too_large
from ingest.cutting.cursor_store import store_chats
from ingest.importers.base import dict_in, dicts_in, text_in
from ingest.importers.envelopes import (
    BUBBLES_KEY,
    COMPOSER_ID_KEY,
    COMPOSER_KEY,
    HEADER_KEY,
    TAB_KEY,
)
from ingest.json_stream import Element, dump, load_inner

_MAGIC = b"SQLite format 3\x00"
_TABLES = (b"cursorDiskKV", b"ItemTable")
_STORE_TABLES = (b"CREATE TABLE blobs", b"CREATE TABLE meta")
_COMPOSER = "composerData:"
_BUBBLE = "bubbleId:"
_TABS_KEY = "workbench.panel.aichat.view.aichat.chatdata"
_COMPOSERS_KEY = "composer.composerData"
_HEADERS_KEY = "composer.composerHeaders"  # of newer versions: a list of all composers
# The others say what a window shows, and change when somebody looks at a chat.
_HEADER_KEYS = ("name", "createdAt", "lastUpdatedAt", "workspaceIdentifier", "isArchived")
_COPIES = 5  # tries to copy a database that is being written


class CursorDatabaseCutter:
    """One element per composer and chat tab; memory holds one of them."""

    def claims(self, source: Source, head: bytes) -> bool:
        if not head.startswith(_MAGIC):
            return False
        is_store = all(table in head for table in _STORE_TABLES)
        return is_store or any(table in head for table in _TABLES)

    def cut(self, source: Source, settings: Settings) -> Iterator[Element]:
        settings.uploads_dir.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=settings.uploads_dir) as folder:
            copy = Path(folder) / "copy.db"
            _copy(source, copy)
            index = 0
            try:
                with closing(_opened(copy)) as database:
                    for chat in _chats(database, settings.conversation_max_bytes):
                        body = dump(chat) if chat else b""
                        problem = "" if body else too_large(settings)
                        if len(body) > settings.conversation_max_bytes:
                            body, problem = b"", too_large(settings)
                        yield Element(index, source.size, body, problem)
                        index += 1
            except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
                # SQLite quotes the damage in its error, and Python cannot always read that.
                why = error if isinstance(error, sqlite3.Error) else "malformed"
                words = f"The database is damaged ({why}); what comes after is not read."
                yield Element(index, source.size, b"", words)


CURSOR_DATABASE = CursorDatabaseCutter()


def _copy(source: Source, copy: Path) -> None:
    """The database with its log, both of one moment where it can be told."""
    log = copy.with_name(f"{copy.name}-wal")
    for _ in range(_COPIES):
        before = source.stamp()
        _write(source.chunks(), copy)
        if source.log is None:
            return
        _write(source.log(), log)
        if source.stamp() == before:
            return


def _write(chunks: Iterator[bytes], path: Path) -> None:
    with path.open("wb") as target:
        for chunk in chunks:
            target.write(chunk)


def _opened(path: Path) -> sqlite3.Connection:
    """The copy, for reading. One with a log is recovered first, which writes beside it."""
    has_log = path.with_name(f"{path.name}-wal").exists()
    mode = "mode=rw" if has_log else "mode=ro&immutable=1"
    database = sqlite3.connect(f"{path.as_uri()}?{mode}", uri=True)
    database.execute("PRAGMA query_only = ON")
    database.execute("PRAGMA trusted_schema = OFF")
    return database


def _chats(database: sqlite3.Connection, most: int) -> Iterator[dict[str, Any]]:
    """Each chat, or {} for one that is too large."""
    found = database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    tables = {name for (name,) in found}
    if "cursorDiskKV" in tables:
        headers = _headers(database, most) if "ItemTable" in tables else {}
        yield from _composers(database, headers, most)
    if "ItemTable" in tables:
        yield from _older(database, most)
    if {"blobs", "meta"} <= tables:
        yield from store_chats(database, most)


def _headers(database: sqlite3.Connection, most: int) -> dict[str, dict[str, Any]]:
    """What the list of all composers says about each: its name, its workspace."""
    headers: dict[str, dict[str, Any]] = {}
    for (value,) in database.execute("SELECT value FROM ItemTable WHERE key = ?", (_HEADERS_KEY,)):
        if len(value or "") <= most:
            for header in dicts_in(_value(value).get("allComposers")):
                told = {key: header[key] for key in _HEADER_KEYS if key in header}
                headers[text_in(header.get("composerId"))] = told
    return headers


def _composers(
    database: sqlite3.Connection, headers: dict[str, dict[str, Any]], most: int
) -> Iterator[dict[str, Any]]:
    query = "SELECT key, value FROM cursorDiskKV WHERE key >= ? AND key < ? ORDER BY key"
    for key, value in database.execute(query, _range(_COMPOSER)):
        composer = _value(value)
        if not dicts_in(composer.get("fullConversationHeadersOnly")) and not dicts_in(
            composer.get("conversation")
        ):
            continue  # made, and never written in
        composer_id = str(key).removeprefix(_COMPOSER)
        bubbles = _bubbles(database, composer_id, composer, most)
        if bubbles is None:
            yield {}
            continue
        chat = {COMPOSER_ID_KEY: composer_id, COMPOSER_KEY: composer, BUBBLES_KEY: bubbles}
        yield chat | ({HEADER_KEY: headers[composer_id]} if composer_id in headers else {})


def _bubbles(
    database: sqlite3.Connection, composer_id: str, composer: dict[str, Any], most: int
) -> dict[str, Any] | None:
    """Those that the headers name, by their names there; None when they are too large."""
    headers = dicts_in(composer.get("fullConversationHeadersOnly"))
    wanted = {text_in(header.get("bubbleId")) for header in headers}
    found: dict[str, Any] = {}
    size = 0
    start = f"{_BUBBLE}{composer_id}:"
    query = "SELECT key, value FROM cursorDiskKV WHERE key >= ? AND key < ?"
    for key, value in database.execute(query, _range(start)):
        size += len(value or "")
        if size > most:
            return None
        bubble = _value(value)
        names = {str(key).removeprefix(start)}
        if "bubbleId" in bubble:
            names.add(text_in(bubble.get("bubbleId")))
        for name in names & wanted:
            if bubble or name not in found:
                found[name] = bubble or None
    return found


def _older(database: sqlite3.Connection, most: int) -> Iterator[dict[str, Any]]:
    """Chats that lie in the workspace's own table."""
    query = "SELECT value FROM ItemTable WHERE key = ?"
    for (value,) in database.execute(query, (_TABS_KEY,)):
        for tab in dicts_in(_value(value).get("tabs")) if len(value or "") <= most else []:
            if tab.get("bubbles"):
                yield {TAB_KEY: tab}
    for (value,) in database.execute(query, (_COMPOSERS_KEY,)):
        for composer in dicts_in(_value(value).get("allComposers")):
            if dicts_in(composer.get("conversation")):
                yield {COMPOSER_KEY: composer}


def _range(start: str) -> tuple[str, str]:
    """All keys that begin with `start`, which ends with a colon."""
    return start, start[:-1] + chr(ord(":") + 1)


def _value(value: Any) -> dict[str, Any]:
    body = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    if not isinstance(body, bytes):
        return {}
    try:
        return dict_in(load_inner(body))
    except ValueError:
        return {}
