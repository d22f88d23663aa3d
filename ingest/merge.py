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
from ingest.converging import (
    Converged,
    chosen_line,
    converge,
    conversation_of_both,
    has_ids,
    is_involved,
)
from ingest.rows import (
    conversation_row,
    message_rows,
    placed,
    shown_line_of,
    with_figures,
    with_secrets,
)


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
    conversation = with_secrets(conversation, messages)
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
    rows = message_rows(parsed, stored["account_id"], stored["id"], stored_messages)
    if is_involved(stored_messages, rows):
        return _converged_copy(
            stored, stored_messages, parsed, rows, capture_id, parser_version=parser_version
        )
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


def _converged_copy(
    stored: ConversationRow,
    stored_messages: Mapping[str, MessageRow],
    parsed: ParsedConversation,
    rows: Mapping[str, MessageRow],
    capture_id: str,
    *,
    parser_version: int,
) -> Merged:
    """A copy by another route, where one of both has no ids: the one that has them is the better
    one, whichever is newer."""
    copy = converge(stored_messages, rows, shown_line_of(parsed))
    is_poorer = has_ids(stored_messages) and not has_ids(rows)
    is_better = has_ids(rows) and not has_ids(stored_messages)
    keeps_stored = is_poorer or (is_older(parsed, stored) and not is_better)
    messages = _both(copy, prefers_stored=keeps_stored)
    old_line = [each for each, row in copy.stored.items() if row["on_shown_line"]]
    prefers_old = is_older(parsed, stored) or (is_poorer and not _is_newer(parsed, stored))
    line = chosen_line(messages, old_line, copy.line, prefers_old=prefers_old)
    fresh = conversation_row(
        parsed,
        account_id=stored["account_id"],
        conversation_id=stored["id"],
        capture_id=capture_id,
        parser_version=parser_version,
        messages={},
    )
    first, then = (copy.stored, copy.rows) if keeps_stored else (copy.rows, copy.stored)
    in_places = placed(messages, line, [*first, *(each for each in then if each not in first)])
    both = (
        conversation_of_both(stored, fresh) if keeps_stored else conversation_of_both(fresh, stored)
    )
    # Of two formats: the higher one, so that taking in both again does not go to and fro.
    both["parser_version"] = max(stored["parser_version"], parser_version)
    return compared(stored, copy.stored, with_figures(both, in_places), in_places)


def _both(copy: Converged, *, prefers_stored: bool) -> dict[str, MessageRow]:
    """All messages of both copies; of two with different content the preferred one's."""
    messages: dict[str, MessageRow] = {each: row.copy() for each, row in copy.rows.items()}
    for each, row in copy.stored.items():
        if each not in messages or (prefers_stored and each not in copy.final):
            messages[each] = row.copy()
    return messages


def is_older(parsed: ParsedConversation, stored: ConversationRow) -> bool:
    """By the platform's time of the last change; without one the later import counts as newer."""
    theirs = parsed.updated_at or _last_time(parsed)
    ours = stored["updated_at"] or stored["last_message_at"]
    return theirs is not None and ours is not None and theirs < ours


def _is_newer(parsed: ParsedConversation, stored: ConversationRow) -> bool:
    theirs = parsed.updated_at or _last_time(parsed)
    ours = stored["updated_at"] or stored["last_message_at"]
    return theirs is not None and ours is not None and theirs > ours


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
    conversation = with_secrets(conversation, messages)
    added = [row for each, row in messages.items() if each not in stored_messages]
    changed = [
        row
        for each, row in messages.items()
        if each in stored_messages and row != stored_messages[each]
    ]
    # Another capture with the same content in it is no change to the conversation.
    same_but_for_capture: ConversationRow = {**conversation, "capture_id": stored["capture_id"]}
    return Merged(conversation, messages, added, changed, False, same_but_for_capture != stored)
