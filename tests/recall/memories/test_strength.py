from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from backread.domain import Principal
from backread.kernel import Kernel
from backread.store.models import Memory
from recall.memories import search_memories, store_memory
from recall.memories.strength import REINFORCE_EVERY, memory_kind, memory_strength

NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Always run the linter before committing.", "procedural"),
        ("Prefers oat milk over soy.", "procedural"),
        ("Use jose for tokens.", "procedural"),
        ("Currently working on the harbour survey.", "working"),
        ("Next step: call the landlord.", "working"),
        ("Moved to Lisbon in March 2024.", "episodic"),
        ("On 2025-05-03 the boiler was replaced.", "episodic"),
        ("Ada's sister is called Ines.", "semantic"),
        ("The flat has three rooms.", "semantic"),
        ("总是先运行测试。", "procedural"),
    ],
)
def test_the_kind_of_a_memory_follows_from_its_words(text: str, kind: str) -> None:
    assert memory_kind(text) == kind


def test_strength_is_whole_when_stored_fades_and_is_kept_up_by_use() -> None:
    stored = NOW - timedelta(days=30)
    assert memory_strength(NOW, None, 0, now=NOW) == 1.0
    assert memory_strength(stored, None, 0, now=NOW) == pytest.approx(0.368, abs=0.001)
    assert memory_strength(stored, NOW, 0, now=NOW) == 1.0
    by_uses = [
        memory_strength(stored, NOW - timedelta(days=20), uses, now=NOW) for uses in range(6)
    ]
    assert by_uses == sorted(by_uses)
    assert len(set(by_uses)) == 6


def uses(kernel: Kernel, memory_id: str) -> int:
    with kernel.store.read() as session:
        return session.scalars(select(Memory.use_count).where(Memory.id == memory_id)).one()


def test_saying_it_again_and_finding_it_count_as_use_within_an_hour_once(
    kernel: Kernel, principal: Principal
) -> None:
    memory = store_memory(kernel, principal, "Ada prefers green tea.").memory_id
    assert uses(kernel, memory) == 0
    store_memory(kernel, principal, "ada prefers green tea")
    assert uses(kernel, memory) == 1
    for _ in range(3):
        search_memories(kernel, principal, "green tea")
    assert uses(kernel, memory) == 1
    with kernel.store.write() as session:
        row = session.scalars(select(Memory).where(Memory.id == memory)).one()
        assert row.used_at is not None
        row.used_at -= REINFORCE_EVERY + timedelta(seconds=1)
    for _ in range(3):
        search_memories(kernel, principal, "green tea")
    assert uses(kernel, memory) == 2
