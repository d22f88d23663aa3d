"""Conversations and their message trees, as whole rows: what importing and rebuilding write."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, cast

from sqlalchemy import Table, bindparam, delete, insert, select, update

from backread.store.base import sqlite_time, utcnow
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Conversation, Message, Passage
from backread.store.repositories.chunks import chunks

if TYPE_CHECKING:
    import psycopg  # at run time only where PostgreSQL is used


class MessageRow(TypedDict):
    id: str
    account_id: str
    conversation_id: str
    external_id: str
    parent_id: str | None
    position: int
    on_shown_line: bool
    role: str
    kind: str
    author: str
    model: str
    text: str
    created_at: datetime | None
    attachments: list[dict[str, Any]]
    asides: list[dict[str, Any]]
    citations: list[dict[str, Any]]


class ConversationRow(TypedDict):
    """Without the times at which we stored it, which say nothing about the conversation."""

    id: str
    account_id: str
    platform: str
    external_id: str
    capture_id: str
    parser_version: int
    title: str
    created_at: datetime | None
    updated_at: datetime | None
    first_message_at: datetime | None
    last_message_at: datetime | None
    url: str
    model: str
    project: str
    assistant_name: str
    is_starred: bool
    is_archived: bool
    current_message_id: str | None
    message_count: int
    token_count: int
    secrets: dict[str, int]
    secret_count: int
    extra: dict[str, Any]


class StoredPassage(NamedTuple):
    id: int
    message_id: str
    position: int
    start_offset: int
    end_offset: int
    text: str
    document: str


_CONVERSATION_KEYS = tuple(ConversationRow.__annotations__)
_MESSAGE_KEYS = tuple(MessageRow.__annotations__)


def conversations_by_external_id(
    session: ReadSession, account_id: str, platform: str, external_ids: Sequence[str]
) -> dict[str, ConversationRow]:
    """Those that are stored already, by the platform's id."""
    table = _conversations()
    query = select(*(table.c[key] for key in _CONVERSATION_KEYS)).where(
        table.c.account_id == account_id, table.c.platform == platform
    )
    found: dict[str, ConversationRow] = {}
    for some in chunks(external_ids):
        for row in session.execute(query.where(table.c.external_id.in_(some))).mappings():
            found[row["external_id"]] = cast("ConversationRow", dict(row))
    return found


def conversations_by_id(
    session: ReadSession, account_id: str, ids: Sequence[str]
) -> dict[str, ConversationRow]:
    """Those of the ids that exist and are the account's."""
    table = _conversations()
    query = select(*(table.c[key] for key in _CONVERSATION_KEYS)).where(
        table.c.account_id == account_id
    )
    found: dict[str, ConversationRow] = {}
    for some in chunks(ids):
        for row in session.execute(query.where(table.c.id.in_(some))).mappings():
            found[row["id"]] = cast("ConversationRow", dict(row))
    return found


def conversation_page(
    session: ReadSession, account_id: str, *, after: str = "", limit: int = 100
) -> list[ConversationRow]:
    """The account's conversations by id. Page with `after` = the last one received."""
    table = _conversations()
    query = (
        select(*(table.c[key] for key in _CONVERSATION_KEYS))
        .where(table.c.account_id == account_id, table.c.id > after)
        .order_by(table.c.id)
        .limit(limit)
    )
    return [cast("ConversationRow", dict(row)) for row in session.execute(query).mappings()]


def message_trees(
    session: ReadSession, account_id: str, conversation_ids: Sequence[str]
) -> dict[str, dict[str, MessageRow]]:
    """By conversation, then by the platform's message id, in stored order."""
    table = _messages()
    query = (
        select(*(table.c[key] for key in _MESSAGE_KEYS))
        .where(table.c.account_id == account_id)
        .order_by(table.c.conversation_id, table.c.position)
    )
    found: dict[str, dict[str, MessageRow]] = {}
    for some in chunks(conversation_ids):
        for row in session.execute(query.where(table.c.conversation_id.in_(some))).mappings():
            message = cast("MessageRow", dict(row))
            found.setdefault(message["conversation_id"], {})[message["external_id"]] = message
    return found


def passages_of_conversation(
    session: ReadSession, account_id: str, conversation_id: str
) -> list[StoredPassage]:
    """In reading order."""
    query = (
        select(*(getattr(Passage, name) for name in StoredPassage._fields))
        .where(Passage.account_id == account_id, Passage.conversation_id == conversation_id)
        .order_by(Passage.position)
    )
    return [StoredPassage(*row) for row in session.execute(query)]


def insert_conversations(session: WriteSession, rows: Sequence[ConversationRow]) -> None:
    now = utcnow()
    if rows:
        stored_at = {"imported_at": now, "changed_at": now}
        session.connection().execute(
            insert(_conversations()), [{**row, **stored_at} for row in rows]
        )


def update_conversations(session: WriteSession, rows: Sequence[ConversationRow]) -> None:
    _update(session, _conversations(), _CONVERSATION_KEYS, rows, {"changed_at": utcnow()})


def note_captures(session: WriteSession, rows: Sequence[ConversationRow]) -> None:
    """Notes the newest capture of conversations that it did not change."""
    table = _conversations()
    if rows:
        session.connection().execute(
            update(table)
            .where(table.c.id == bindparam("of_id"))
            .values(
                capture_id=bindparam("new_capture_id"), parser_version=bindparam("new_version")
            ),
            [
                {
                    "of_id": row["id"],
                    "new_capture_id": row["capture_id"],
                    "new_version": row["parser_version"],
                }
                for row in rows
            ],
        )


def insert_messages(session: WriteSession, rows: Sequence[MessageRow]) -> None:
    """Through the driver: SQLAlchemy's work per row would take longer than the database's."""
    if not rows:
        return
    connection = session.connection()
    names = ", ".join(_MESSAGE_KEYS)
    if connection.dialect.name == "sqlite":
        marks = ", ".join("?" * len(_MESSAGE_KEYS))
        connection.exec_driver_sql(
            f"INSERT INTO messages ({names}) VALUES ({marks})",  # noqa: S608 - our own names
            [_record(row, sqlite_time(row["created_at"])) for row in rows],
        )
        return
    driver: psycopg.Connection[Any] = connection.connection.driver_connection  # type: ignore[assignment]
    with driver.cursor() as cursor, cursor.copy(f"COPY messages ({names}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(_record(row, row["created_at"]))


def _record(row: MessageRow, created_at: datetime | str | None) -> tuple[Any, ...]:
    """A row of the table in the order of `_MESSAGE_KEYS`."""
    return (
        row["id"],
        row["account_id"],
        row["conversation_id"],
        row["external_id"],
        row["parent_id"],
        row["position"],
        row["on_shown_line"],
        row["role"],
        row["kind"],
        row["author"],
        row["model"],
        row["text"],
        created_at,
        _json(row["attachments"]),
        _json(row["asides"]),
        _json(row["citations"]),
    )


def _json(items: list[dict[str, Any]]) -> str:
    return json.dumps(items) if items else "[]"


def update_messages(session: WriteSession, rows: Sequence[MessageRow]) -> None:
    _update(session, _messages(), _MESSAGE_KEYS, rows, {})


def delete_messages(session: WriteSession, account_id: str, ids: Sequence[str]) -> None:
    table = _messages()
    for some in chunks(ids):
        session.connection().execute(
            delete(table).where(table.c.account_id == account_id, table.c.id.in_(some))
        )


def _update(
    session: WriteSession,
    table: Table,
    keys: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
    further: Mapping[str, Any],
) -> None:
    if not rows:
        return
    values: dict[str, Any] = {key: bindparam(f"new_{key}") for key in keys if key != "id"}
    session.connection().execute(
        update(table).where(table.c.id == bindparam("new_id")).values(**values, **further),
        [{f"new_{key}": row[key] for key in keys} for row in rows],
    )


def _conversations() -> Table:
    return cast("Table", Conversation.__table__)


def _messages() -> Table:
    return cast("Table", Message.__table__)
