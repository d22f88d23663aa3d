"""Facts that have changed: the new memory holds, the old one stays and says until when it did."""

from collections.abc import Sequence

from backread.domain import Principal
from backread.errors import InvalidInput
from backread.identity import statement_hash
from backread.store.base import utcnow
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Memory
from backread.store.repositories import memories as store
from recall.categories.asking import enqueue_categorising

MOST_STEPS = 50  # of a line of versions


def supersede(
    session: WriteSession, principal: Principal, memory: Memory, former_id: str
) -> Memory:
    """Marks the memory with `former_id` as replaced by `memory`, and returns it. Where that one
    was replaced before, the latest of its line is meant.

    Raises NotFound for an unknown id and InvalidInput for a memory that would replace itself.
    """
    account_id = principal.account_id
    # Two that took each other's place at once would both be gone.
    store.lock_lines(session, account_id)
    session.flush()
    session.refresh(memory)
    named = store.get_memory(session, account_id, former_id.strip())
    session.refresh(named)
    former = line_of(session, account_id, [named]).get(named.id, [named])[-1]
    if former.id == memory.id or memory.superseded_by:
        raise InvalidInput(
            f"Memory {memory.id} cannot take the place of {former_id[:40]}: the two are one line "
            "already.",
            hint="Name the memory that holds no longer, or store the new fact as a new memory.",
        )
    enqueue_categorising(session, principal.account_id, former.bucket_id, memory.bucket_id)
    former.superseded_by = memory.id
    former.superseded_at = utcnow()
    # So that the old statement can be stored again once it holds again.
    former.text_hash = retired_hash(former)
    session.flush()
    return former


def line_of(
    session: ReadSession, account_id: str, memories: Sequence[Memory]
) -> dict[str, list[Memory]]:
    """For each memory the line that starts with it: what replaced it, what replaced that, and so
    on to the one that holds. A line may end at a replaced one whose successor was deleted."""
    known = {memory.id: memory for memory in memories}
    for _ in range(MOST_STEPS):
        wanted = {each.superseded_by for each in known.values() if each.superseded_by}
        more = store.memories_by_id(session, account_id, wanted - known.keys())
        if not more:
            break
        known |= more
    return {memory.id: _walk(memory, known) for memory in memories}


def retired_hash(memory: Memory) -> str:
    """Stands for a text that others may say again."""
    return statement_hash(f"{memory.id} {memory.text}")


def _walk(memory: Memory, known: dict[str, Memory]) -> list[Memory]:
    line = [memory]
    while (after := known.get(line[-1].superseded_by or "")) and len(line) < MOST_STEPS:
        line.append(after)
    return line
