"""Parsed conversations as the rows that store them."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from backread.domain import Aside, MessageKind, ParsedConversation, ParsedMessage
from backread.identity import message_id
from backread.store.repositories.conversations import ConversationRow, MessageRow
from backread.text.secret_scan import secrets_in
from backread.tokens import estimate_tokens
from ingest.importers.drafts import digest_id
from ingest.normalise import clean
from ingest.wording import letters_of

_MODEL_CHARS = 200
_TITLE_CHARS = 1_000  # lists show many at once; the capture keeps whatever came
_EXTERNAL_ID_CHARS = 512
_WEAK = "weak:"  # begins the ids of messages whose format has none


def fit_id(external_id: str) -> str:
    """A platform's id as it is stored: clean, and never longer than the column."""
    cleaned = clean(external_id)
    if len(cleaned) <= _EXTERNAL_ID_CHARS:
        return cleaned
    return _with_digest(cleaned, external_id)


def fit_title(title: str) -> str:
    """A title of a length that lists can show."""
    return title if len(title) <= _TITLE_CHARS else f"{title[: _TITLE_CHARS - 1]}…"


def _with_digest(cleaned: str, external_id: str) -> str:
    digest = hashlib.sha256(external_id.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{cleaned[: _EXTERNAL_ID_CHARS - 65]}#{digest}"


def weak_id(words: str, time: int) -> str:
    """The id of a message that has none, for the first, second … time that the words come."""
    return f"{_WEAK}{words}" if time == 1 else f"{_WEAK}{words}#{time}"


def words_of_id(external_id: str) -> str:
    """The digest of the words that a weak id was made from."""
    return external_id.removeprefix(_WEAK).partition("#")[0]


def is_weak(external_id: str) -> bool:
    """Whether the id was made from the message's words, because its format has none."""
    return external_id.startswith(_WEAK)


def message_rows(
    parsed: ParsedConversation,
    account_id: str,
    conversation_id: str,
    stored: Mapping[str, MessageRow] | None = None,
) -> dict[str, MessageRow]:
    """A row per message, by the platform's id, in the importer's order. Places are set later.
    A message that is `stored` keeps its public id, whatever it was once made from; one that is
    known by its words gets an id for the time being, until it is compared with what is stored."""
    fitting = _fitting_ids(parsed)
    known = {each: row["id"] for each, row in (stored or {}).items() if not is_weak(each)}
    ids = {}
    for each, fitted in fitting.items():
        for_now = "further " if stored is not None and is_weak(fitted) else ""
        ids[each] = known.get(fitted) or message_id(conversation_id, for_now + fitted)
    rows = {}
    for message in parsed.messages:
        external_id = fitting[message.external_id]
        rows[external_id] = _message_row(message, external_id, ids, account_id, conversation_id)
    return rows


def _fitting_ids(parsed: ParsedConversation) -> dict[str, str]:
    """Each message's id as it is stored. Two that differ only in what cannot be stored stay two:
    otherwise one would be lost, and a message could come to hang on itself."""
    fitting: dict[str, str] = {}
    taken: set[str] = set()
    said: Counter[str] = Counter()
    for message in parsed.messages:
        if message.has_weak_id:
            words = digest_id(message.role.value, message.kind.value, letters_of(message.text))
            said[words] += 1
            fitting[message.external_id] = weak_id(words, said[words])
            continue
        fitted = fit_id(message.external_id)
        if fitted in taken:
            fitted = _with_digest(fitted, message.external_id)
        taken.add(fitted)
        fitting[message.external_id] = fitted
    return fitting


def shown_line_of(parsed: ParsedConversation) -> list[str]:
    """The shown line in the ids that `message_rows` goes by."""
    fitting = _fitting_ids(parsed)
    return [fitting[external_id] for external_id in parsed.shown_line]


def _message_row(
    message: ParsedMessage,
    external_id: str,
    ids: Mapping[str, str],
    account_id: str,
    conversation_id: str,
) -> MessageRow:
    above = message.parent_external_id
    return {
        "id": ids[message.external_id],
        "account_id": account_id,
        "conversation_id": conversation_id,
        "external_id": external_id,
        "parent_id": ids.get(above) if above is not None else None,
        "position": 0,
        "on_shown_line": False,
        "role": message.role.value,
        "kind": message.kind.value,
        "author": message.author,
        "model": message.model[:_MODEL_CHARS],
        "text": message.text,
        "created_at": message.created_at,
        "attachments": [
            {
                "name": each.name,
                "external_id": each.external_id,
                "mime_type": each.mime_type,
                "size_bytes": each.size_bytes,
                "text": each.text,
            }
            for each in message.attachments
        ],
        "asides": [_aside(each) for each in message.asides],
        "citations": [{"url": each.url, "title": each.title} for each in message.citations],
    }


def _aside(aside: Aside) -> dict[str, Any]:
    row: dict[str, Any] = {"kind": aside.kind, "text": aside.text, "name": aside.name}
    if aside.artifact is not None:
        # A list, as it comes back from the database: the two are compared.
        row["artifact"] = asdict(aside.artifact) | {
            "command": aside.artifact.command.value,
            "patches": [asdict(each) for each in aside.artifact.patches],
        }
    return row


def placed(
    rows: Mapping[str, MessageRow], line: Sequence[str], rest: Iterable[str]
) -> dict[str, MessageRow]:
    """The rows with their places in the tree: the shown line first, then what else is in `rest`,
    which are the other branches."""
    result: dict[str, MessageRow] = {}
    on_line = dict.fromkeys(line)
    for external_id in dict.fromkeys((*on_line, *rest)):
        row = rows[external_id]
        row["position"] = len(result)
        row["on_shown_line"] = external_id in on_line
        result[external_id] = row
    return result


def conversation_row(
    parsed: ParsedConversation,
    *,
    account_id: str,
    conversation_id: str,
    capture_id: str,
    parser_version: int,
    messages: Mapping[str, MessageRow],
) -> ConversationRow:
    """The conversation's row. Times and counts are those of the dialogue on the shown line."""
    row: ConversationRow = {
        "id": conversation_id,
        "account_id": account_id,
        "platform": parsed.platform.value,
        "external_id": fit_id(parsed.external_id),
        "capture_id": capture_id,
        "parser_version": parser_version,
        "title": fit_title(parsed.title),
        "created_at": parsed.created_at,
        "updated_at": parsed.updated_at,
        "first_message_at": None,
        "last_message_at": None,
        "url": parsed.url,
        "model": parsed.model[:_MODEL_CHARS],
        "project": parsed.project,
        "assistant_name": parsed.assistant_name,
        "is_starred": parsed.is_starred,
        "is_archived": parsed.is_archived,
        "current_message_id": None,
        "message_count": 0,
        "token_count": 0,
        "secrets": {},
        "secret_count": 0,
        "extra": parsed.extra,
    }
    return with_figures(row, messages)


def with_figures(
    conversation: ConversationRow, messages: Mapping[str, MessageRow]
) -> ConversationRow:
    """The row with the times, counts and end of the line that its placed messages have."""
    line = [row for row in messages.values() if row["on_shown_line"]]
    dialogue = [row for row in line if row["kind"] == MessageKind.DIALOGUE]
    times = [row["created_at"] for row in dialogue if row["created_at"]]
    created_at, updated_at = conversation["created_at"], conversation["updated_at"]
    return {
        **conversation,
        "first_message_at": min(times, default=created_at),
        "last_message_at": max(times, default=updated_at or created_at),
        "current_message_id": line[-1]["id"] if line else None,
        "message_count": len(dialogue),
        "token_count": sum(estimate_tokens(row["text"]) for row in dialogue),
    }


def with_secrets(
    conversation: ConversationRow, messages: Mapping[str, MessageRow]
) -> ConversationRow:
    """The row with the count of the secrets that its messages hold, on every branch."""
    secrets = secrets_in(text for row in messages.values() for text in _texts_of(row))
    return {**conversation, "secrets": secrets, "secret_count": sum(secrets.values())}


def _texts_of(row: MessageRow) -> Iterator[str]:
    yield row["text"]
    for part in (*row["attachments"], *row["asides"]):
        yield part["text"]
