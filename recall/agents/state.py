"""How much there is of an account's memory, and which memories are most alive."""

from datetime import datetime

from backread.domain import Principal
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.repositories import agent_sessions as store
from recall.memories.strength import memory_kind, memory_strength
from recall.rendering import one_line
from recall.wire import ResultModel

LATEST_MEMORIES = 10
_TITLE_CHARACTERS = 90


class MemoryStatus(ResultModel):
    session_count: int
    memory_count: int
    health_status: str  # available | no-data


class LatestMemory(ResultModel):
    id: str
    title: str
    type: str  # working | episodic | semantic | procedural
    strength: float  # 0 to 1, see `recall.memories.strength`
    created_at: datetime
    last_used_at: datetime | None


def memory_status(kernel: Kernel, principal: Principal) -> MemoryStatus:
    """Sessions are conversations with coding agents; memories are those of all buckets."""
    with kernel.store.read() as session:
        sessions = store.count_sessions(session, principal.account_id)
        memories = store.count_memories(session, principal.account_id)
    return MemoryStatus(
        session_count=sessions,
        memory_count=memories,
        health_status="available" if sessions or memories else "no-data",
    )


def latest_memories(kernel: Kernel, principal: Principal) -> list[LatestMemory]:
    """The ten memories that were stored, said again or used last."""
    now = utcnow()
    with kernel.store.read() as session:
        rows = store.latest_memories(session, principal.account_id, limit=LATEST_MEMORIES)
    return [
        LatestMemory(
            id=row.id,
            title=one_line(row.text, _TITLE_CHARACTERS),
            type=memory_kind(row.text).value,
            strength=round(memory_strength(row.created_at, row.used_at, row.use_count, now=now), 2),
            created_at=row.created_at,
            last_used_at=row.used_at,
        )
        for row in rows
    ]
