"""Builds everything derived of an account's conversations again from their raw captures."""

from collections.abc import Sequence
from dataclasses import dataclass

import zstandard

from backread.domain import ParsedMemory
from backread.jobs import one_of_many
from backread.kernel import Kernel
from backread.log import get_logger
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Capture
from backread.store.repositories.captures import captured_conversations, captures_of
from backread.store.repositories.conversations import (
    conversations_by_id,
    delete_messages,
    message_trees,
)
from ingest.candidates import Candidate, decompress
from ingest.companions.storing import read_companions_again
from ingest.finds import Finds, suggest, suggestions_from
from ingest.importers import IMPORTERS
from ingest.indexing import enqueue_embedding
from ingest.json_stream import load
from ingest.merge import Merged, compared, first_copy, further_copy
from ingest.storing import write_merged

_CONVERSATIONS_PER_TRANSACTION = 50

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RebuildResult:
    """Conversations that were looked at, that came out different, and that no parser could read;
    those keep what they had."""

    conversations: int
    changed: int
    failed: int


def rebuild_account(kernel: Kernel, account_id: str) -> RebuildResult:
    """Parses every capture again, in the order they came in, and writes what differs.

    Ids of conversations, messages and unchanged passages stay. Repeatable, and safe to stop
    anywhere. Conversations without a capture are left alone. Documents and suggested memories
    that are missing are added; what a person has decided stays.
    """
    total = changed = failed = 0
    after = ""
    while True:
        with kernel.store.write() as session:
            ids = captured_conversations(
                session, account_id, after=after, limit=_CONVERSATIONS_PER_TRANSACTION
            )
            if not ids:
                break
            after = ids[-1]
            for conversation_id in ids:
                total += 1
                has_changed: bool | None = None
                with one_of_many("rebuild", conversation_id), session.begin_nested():
                    has_changed = rebuild_conversation(session, account_id, conversation_id)
                failed += has_changed is None
                changed += bool(has_changed)
    with kernel.store.write() as session:
        read_companions_again(session, account_id)
        enqueue_embedding(session, account_id)
    return RebuildResult(total, changed, failed)


def rebuild_conversation(
    session: WriteSession, account_id: str, conversation_id: str
) -> bool | None:
    """Parses one conversation's captures again and writes what differs. True when something did,
    None when no parser could read them; it keeps what it had then."""
    memories: list[ParsedMemory] = []
    merged = _from_captures(session, account_id, conversation_id, memories)
    if merged is None:
        return None
    has_changed = _write(session, account_id, merged)
    _suggest(session, merged, memories)
    return has_changed


def _suggest(session: WriteSession, merged: Merged, memories: Sequence[ParsedMemory]) -> None:
    """Offers what an older release did not read. What was offered before is known."""
    conversation = merged.conversation
    rows = suggestions_from(
        memories,
        account_id=conversation["account_id"],
        platform=conversation["platform"],
        import_id=None,
        conversation=merged,
    )
    suggest(session, rows, Finds())


def _from_captures(
    session: ReadSession, account_id: str, conversation_id: str, memories: list[ParsedMemory]
) -> Merged | None:
    """The conversation as its captures have it; `memories` takes what they show of such."""
    merged: Merged | None = None
    for capture in captures_of(session, account_id, conversation_id):
        candidate = _candidate(capture)
        memories += candidate.memories if candidate is not None else ()
        if candidate is None or candidate.parsed is None:
            _log.warning("capture_not_parsed", capture_id=capture.id, importer=capture.importer)
        elif merged is None:
            merged = first_copy(
                candidate.parsed,
                account_id=account_id,
                conversation_id=conversation_id,
                capture_id=capture.id,
                parser_version=candidate.importer.version,
            )
        else:
            merged = further_copy(
                merged.conversation,
                merged.messages,
                candidate.parsed,
                capture_id=capture.id,
                parser_version=candidate.importer.version,
            )
    return merged


def _candidate(capture: Capture) -> Candidate | None:
    try:
        body = decompress(capture.body, capture.raw_bytes)
        raw = load(body)
    except (ValueError, zstandard.ZstdError):
        return None
    importer = IMPORTERS[capture.importer]
    candidate = Candidate(importer, capture.platform, capture.external_id, body, "", raw)
    candidate.parse()
    return candidate


def _write(session: WriteSession, account_id: str, merged: Merged) -> bool:
    """Brings the stored rows to what the captures say; True when that changed something."""
    conversation_id = merged.conversation["id"]
    stored = conversations_by_id(session, account_id, [conversation_id]).get(conversation_id)
    trees = message_trees(session, account_id, [conversation_id])
    # By the public id: a message may have got a better one of the platform's meanwhile.
    tree = {row["id"]: row for row in trees.get(conversation_id, {}).values()}
    messages = {row["id"]: row for row in merged.messages.values()}
    gone = [each for each in tree if each not in messages]
    delete_messages(session, account_id, gone)
    kept = {each: row for each, row in tree.items() if each in messages}
    if stored is None:
        final = Merged(merged.conversation, messages, list(messages.values()), [], True, True)
    else:
        final = compared(stored, kept, merged.conversation, messages)
    write_merged(session, account_id, [final], with_passages_of_all=True)
    return final.has_changes or bool(gone)
