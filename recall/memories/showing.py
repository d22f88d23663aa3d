"""From stored memories to what is handed out."""

from collections.abc import Sequence
from datetime import timedelta
from typing import TypeVar

from backread.store.engine import ReadSession
from backread.store.models import Memory
from backread.store.repositories import memories as store
from backread.store.repositories.conversations import conversations_by_id
from backread.tokens import characters_within, estimate_tokens
from recall.links import reader_link
from recall.memories.results import ShownMemory

# What a memory costs beside its text: ids, dates, names, in text and as fields.
FIELD_TOKENS = 120

M = TypeVar("M", bound=ShownMemory)


def shown(
    session: ReadSession, account_id: str, memories: Sequence[Memory], origin: str
) -> list[ShownMemory]:
    """The memories with their provenance, in the same order."""
    buckets = store.bucket_names(session, account_id)
    names = store.client_names(session, {each.client_id for each in memories})
    replaced = store.superseded_by_any(session, account_id, [each.id for each in memories])
    said_in = {each.conversation_id for each in memories if each.conversation_id}
    there = conversations_by_id(session, account_id, sorted(said_in))
    return [
        ShownMemory(
            memory_id=each.id,
            text=each.text,
            bucket_id=each.bucket_id,
            bucket_name=buckets[each.bucket_id],
            created_at=each.created_at,
            updated_at=each.updated_at if _was_changed(each) else None,
            stored_by=each.client_id or "",
            stored_by_name=names.get(each.client_id or "", ""),
            edited_by=each.updated_by or "",
            superseded_by=each.superseded_by or "",
            superseded_at=each.superseded_at,
            supersedes=replaced.get(each.id, []),
            **_source(each, each.conversation_id in there, origin),
        )
        for each in memories
    ]


def cost(memory: ShownMemory) -> int:
    """Tokens that a memory takes in a result, estimated."""
    return estimate_tokens(memory.text) + FIELD_TOKENS


def cut_to(
    memory: M, tokens: int, *, more: str = "the whole text is under Memories in the web app"
) -> M:
    """The memory with no more text than fits, and behind it how to see `more`."""
    kept = characters_within(memory.text, tokens)
    if kept == len(memory.text):
        return memory
    return memory.model_copy(update={"text": f"{memory.text[:kept]}… [cut; {more}]"})


def _was_changed(memory: Memory) -> bool:
    """Both times are set when a memory is stored, in older rows a moment apart."""
    return memory.updated_at - memory.created_at > timedelta(seconds=1)


def _source(memory: Memory, is_there: bool, origin: str) -> dict[str, str]:
    """Where it was said. A chat that is gone leads nowhere."""
    if not memory.conversation_id or not is_there:
        return {}
    return {
        "conversation_id": memory.conversation_id,
        "message_id": memory.message_id or "",
        "source_url": reader_link(origin, memory.conversation_id, memory.message_id or ""),
    }
