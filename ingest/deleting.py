"""Deleting one conversation: from every store at once, for good, with one receipt.

The database goes first, in one transaction that also sets the tombstones; the search index
follows, and a job finishes that if it cannot be reached. What refers to the conversation by the
database's own rule is counted from the schema, so a store that is added later is on the receipt
without being named here.
"""

from dataclasses import dataclass
from datetime import datetime

from backread.domain import Principal
from backread.errors import Unavailable
from backread.follow_ups import conversations_changed
from backread.jobs.scrubbing import scrub_later
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.repositories import deleting
from backread.store.repositories.browsing import find_conversation
from backread.store.repositories.erasing import delete_conversations
from backread.store.repositories.imports import lock_archive
from backread.store.repositories.passages import delete_passages
from ingest.indexing import carry_out_removals, enqueue_embedding

_NAMES = {
    "messages": "messages",
    "passages": "passages and their full text",
    "conversation_summaries": "summaries",
    "summary_parts": "parts of summaries",
    "export_links": "export links",
    "conversation_digests": "what the overview has read of it",
}
INDEX = "search index: words and vectors"


@dataclass(frozen=True, slots=True)
class PurgedStore:
    """A place that held something of the conversation. `pending`: it follows in the background."""

    name: str
    removed: int
    pending: bool = False


@dataclass(frozen=True, slots=True)
class DeletionReceipt:
    """What was deleted, and what stays: `memories_kept` were chosen by somebody to be kept and
    only lose the link. `tombstones`: ids under which no later import brings it back."""

    conversation_id: str
    deleted_at: datetime
    stores: tuple[PurgedStore, ...]
    tombstones: int
    memories_kept: int


def delete_conversation(
    kernel: Kernel, principal: Principal, conversation_id: str
) -> DeletionReceipt:
    """Cannot be undone. Raises NotFound for an unknown or foreign id."""
    account_id = principal.account_id
    with kernel.store.write() as session:
        lock_archive(session, account_id)
        conversation = find_conversation(session, principal, conversation_id)
        found = deleting.identities(session, conversation)
        deleting.add_tombstones(session, account_id, found)
        dependents = deleting.count_dependents(session, conversation_id)
        stores = [
            PurgedStore(_NAMES.get(name, name.replace("_", " ")), count)
            for name, count in dependents.items()
        ]
        # By way of their words: SQLite's full-text table forgets no row by itself.
        points = delete_passages(session, account_id, [conversation_id])
        stores += [
            PurgedStore(
                "raw captures", deleting.delete_captures(session, account_id, conversation_id)
            ),
            PurgedStore(
                "suggested memories",
                deleting.delete_suggestions(session, account_id, conversation_id),
            ),
            PurgedStore(
                "overview, which is made anew", deleting.delete_portrait(session, account_id)
            ),
            PurgedStore(
                "titles in import reports", deleting.clear_import_items(session, conversation_id)
            ),
        ]
        kept = deleting.unlink_memories(session, account_id, conversation_id)
        delete_conversations(session, account_id, [conversation_id])
        conversations_changed(kernel, session, account_id)
        scrub_later(session)
    pending = not _remove_from_index(kernel, account_id)
    return DeletionReceipt(
        conversation_id=conversation_id,
        deleted_at=utcnow(),
        stores=(*stores, PurgedStore(INDEX, len(points), pending)),
        tombstones=len(found),
        memories_kept=kept,
    )


def _remove_from_index(kernel: Kernel, account_id: str) -> bool:
    """False when the index is away; a job that was asked for then does it."""
    try:
        carry_out_removals(kernel, account_id)
    except Unavailable:
        with kernel.store.write() as session:
            enqueue_embedding(session, account_id)
        return False
    return True
