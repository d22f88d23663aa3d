"""What a further copy of a conversation changes. Pure: rows in, rows out, no database.

A newer copy sets the words, the title and the shown line; messages that it no longer has stay as
other branches. An older copy only adds messages that were not known. So any order of imports
leads to the same set of messages, and nothing that was once imported is lost.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from backread.domain import ParsedConversation
from backread.store.repositories.conversations import ConversationRow, MessageRow
from ingest.rows import conversation_row, message_rows, placed, shown_line_of


@dataclass(frozen=True, slots=True)
class Merged:
    """A conversation after a copy of it was taken in: what to write, and what it is then."""

    conversation: ConversationRow
    messages: Mapping[str, MessageRow]  # the whole tree, by the platform's id, in order
    added: list[MessageRow]
    changed: list[MessageRow]
    is_new: bool
    is_conversation_changed: bool

    @property
    def has_changes(self) -> bool:
        return bool(self.added or self.changed or self.is_conversation_changed)

    @property
    def line(self) -> list[MessageRow]:
        return [row for row in self.messages.values() if row["on_shown_line"]]


def first_copy(
    parsed: ParsedConversation,
    *,
    account_id: str,
    conversation_id: str,
    capture_id: str,
    parser_version: int,
) -> Merged:
    rows = message_rows(parsed, account_id, conversation_id)
    line = shown_line_of(parsed)
    messages = placed(rows, line, rows)
    conversation = conversation_row(
        parsed,
        account_id=account_id,
        conversation_id=conversation_id,
        capture_id=capture_id,
        parser_version=parser_version,
        messages=messages,
    )
    return Merged(conversation, messages, list(messages.values()), [], True, True)


def further_copy(
    stored: ConversationRow,
    stored_messages: Mapping[str, MessageRow],
    parsed: ParsedConversation,
    *,
    capture_id: str,
    parser_version: int,
) -> Merged:
    """`stored_messages` are in their stored order."""
    rows = message_rows(parsed, stored["account_id"], stored["id"])
    if is_older(parsed, stored):
        return _older_copy(stored, stored_messages, rows)
    rest = [*rows, *(each for each in stored_messages if each not in rows)]
    kept: dict[str, MessageRow] = {
        each: row.copy() for each, row in stored_messages.items() if each not in rows
    }
    messages = placed({**rows, **kept}, shown_line_of(parsed), rest)
    conversation = conversation_row(
        parsed,
        account_id=stored["account_id"],
        conversation_id=stored["id"],
        capture_id=capture_id,
        parser_version=parser_version,
        messages=messages,
    )
    return compared(stored, stored_messages, conversation, messages)


def is_older(parsed: ParsedConversation, stored: ConversationRow) -> bool:
    """By the platform's time of the last change; without one the later import counts as newer."""
    theirs = parsed.updated_at or _last_time(parsed)
    ours = stored["updated_at"] or stored["last_message_at"]
    return theirs is not None and ours is not None and theirs < ours


def _last_time(parsed: ParsedConversation) -> datetime | None:
    return max((m.created_at for m in parsed.messages if m.created_at), default=None)


def _older_copy(
    stored: ConversationRow,
    stored_messages: Mapping[str, MessageRow],
    rows: Mapping[str, MessageRow],
) -> Merged:
    line = [each for each, row in stored_messages.items() if row["on_shown_line"]]
    rest = [*stored_messages, *(each for each in rows if each not in stored_messages)]
    kept: dict[str, MessageRow] = {each: row.copy() for each, row in stored_messages.items()}
    messages = placed({**rows, **kept}, line, rest)
    return compared(stored, stored_messages, stored, messages)


def compared(
    stored: ConversationRow,
    stored_messages: Mapping[str, MessageRow],
    conversation: ConversationRow,
    messages: Mapping[str, MessageRow],
) -> Merged:
    """What has to be written to bring the stored rows to the given ones."""
    added = [row for each, row in messages.items() if each not in stored_messages]
    changed = [
        row
        for each, row in messages.items()
        if each in stored_messages and row != stored_messages[each]
    ]
    # Another capture with the same content in it is no change to the conversation.
    same_but_for_capture: ConversationRow = {**conversation, "capture_id": stored["capture_id"]}
    return Merged(conversation, messages, added, changed, False, same_but_for_capture != stored)
