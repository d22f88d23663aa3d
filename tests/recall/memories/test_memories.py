"""Storing and finding memories."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from backread.domain import Principal
from backread.errors import InvalidInput, LimitExceeded, NotFound, Unavailable
from backread.kernel import Kernel
from backread.llm.embedding import Embedder, Vectors
from backread.store.engine import ReadSession
from backread.store.models import Bucket
from recall.folders.finding import find_records
from recall.memories import MAX_CHARACTERS, list_buckets, search_memories, store_memory
from recall.search import SearchQuery, search


def new_bucket(kernel: Kernel, principal: Principal, name: str) -> int:
    with kernel.store.write() as session:
        bucket = Bucket(account_id=principal.account_id, name=name)
        session.add(bucket)
        session.flush()
        return bucket.id


def test_the_first_memory_makes_the_general_bucket(kernel: Kernel, principal: Principal) -> None:
    assert list_buckets(kernel, principal).buckets == []
    stored = store_memory(kernel, principal, "Ada takes her tea without milk.")
    assert stored.stored
    assert stored.bucket_name == "General"
    (bucket,) = list_buckets(kernel, principal).buckets
    assert (bucket.bucket_id, bucket.memory_count, bucket.is_default) == (stored.bucket_id, 1, True)


@pytest.mark.parametrize(
    ("again", "how"),
    [
        ("Ada takes her tea without milk.", "exact"),
        ("  ada takes  her TEA without milk. ", "exact"),
        ("Ada takes her tea, without the milk", "near"),
    ],
)
def test_a_duplicate_is_ignored_and_named(
    kernel: Kernel, principal: Principal, again: str, how: str
) -> None:
    first = store_memory(kernel, principal, "Ada takes her tea without milk.")
    second = store_memory(kernel, principal, again)
    assert (second.stored, second.duplicate, second.memory_id) == (False, how, first.memory_id)
    assert "Not stored" in second.text
    assert list_buckets(kernel, principal).buckets[0].memory_count == 1


@pytest.mark.parametrize(
    "other",
    [
        "Ada takes her tea with milk.",
        "Ada took her tea without milk.",
        "Bob takes her tea without milk.",
        "Ada takes her 2 tea without milk.",
    ],
)
def test_what_says_something_else_is_no_duplicate(
    kernel: Kernel, principal: Principal, other: str
) -> None:
    store_memory(kernel, principal, "Ada takes her tea without milk.")
    assert store_memory(kernel, principal, other).stored


def test_the_same_text_may_lie_in_two_buckets(kernel: Kernel, principal: Principal) -> None:
    bucket = new_bucket(kernel, principal, "Kitchen")
    store_memory(kernel, principal, "The oven runs hot.")
    assert store_memory(kernel, principal, "The oven runs hot.", bucket_id=bucket).stored


def test_search_finds_by_words_at_once_and_best_first(kernel: Kernel, principal: Principal) -> None:
    store_memory(kernel, principal, "The bicycle is in the cellar.")
    store_memory(kernel, principal, "The spare key hangs behind the boiler.")
    found = search_memories(kernel, principal, "where is the spare key?").memories
    assert found[0].text == "The spare key hangs behind the boiler."
    assert found[0].bucket_name == "General"


def test_memories_are_found_though_the_index_lacks_them(
    kernel: Kernel, principal: Principal
) -> None:
    from backread.vectors.index import Collection

    store_memory(kernel, principal, "The spare key hangs behind the boiler.")
    kernel.index.delete_account(principal.account_id)
    assert kernel.index.count(Collection.MEMORIES, principal.account_id) == 0
    with kernel.store.write() as session:
        session.connection().exec_driver_sql("UPDATE memories SET dense_with = ''")
    assert len(search_memories(kernel, principal, "spare keys").memories) == 1


def test_words_still_find_while_the_embedding_model_is_away(
    kernel: Kernel, principal: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(texts: Sequence[str]) -> Vectors:
        raise Unavailable("The model is away.")

    store_memory(kernel, principal, "The spare key hangs behind the boiler.")
    store_memory(kernel, principal, "The bicycle is in the cellar.")
    monkeypatch.setattr(kernel.embedder, "embed_queries", away)
    found = search_memories(kernel, principal, "spare keys").memories
    assert [each.text for each in found] == ["The spare key hangs behind the boiler."]


def test_search_can_stay_inside_a_bucket(kernel: Kernel, principal: Principal) -> None:
    bucket = new_bucket(kernel, principal, "Kitchen")
    store_memory(kernel, principal, "The oven runs hot.", bucket_id=str(bucket))
    store_memory(kernel, principal, "The oven glove is red.")
    found = search_memories(kernel, principal, "oven", bucket_id=str(bucket)).memories
    assert [each.text for each in found] == ["The oven runs hot."]


def test_ten_are_returned_unless_up_to_twenty_are_asked_for(
    kernel: Kernel, principal: Principal
) -> None:
    for number in range(23):
        store_memory(kernel, principal, f"Shelf {number} holds paint.")
    assert len(search_memories(kernel, principal, "paint shelf").memories) == 10
    assert len(search_memories(kernel, principal, "paint shelf", limit=20).memories) == 20
    for limit in (0, 21):
        with pytest.raises(LimitExceeded):
            search_memories(kernel, principal, "paint", limit=limit)


def test_the_text_has_a_limit(kernel: Kernel, principal: Principal) -> None:
    assert store_memory(kernel, principal, "x" * MAX_CHARACTERS).stored
    with pytest.raises(LimitExceeded):
        store_memory(kernel, principal, "y" * (MAX_CHARACTERS + 1))
    with pytest.raises(InvalidInput):
        store_memory(kernel, principal, " \n ")


def test_a_stranger_sees_neither_memories_nor_buckets(
    kernel: Kernel, principal: Principal, stranger: Principal
) -> None:
    stored = store_memory(kernel, principal, "The spare key hangs behind the boiler.")
    assert search_memories(kernel, stranger, "spare key").memories == []
    assert list_buckets(kernel, stranger).buckets == []
    errors = []
    for bucket in (stored.bucket_id, 987_654_321, "nonsense"):
        with pytest.raises(NotFound) as caught:
            store_memory(kernel, stranger, "mine", bucket_id=bucket)
        errors.append(str(caught.value))
        with pytest.raises(NotFound):
            search_memories(kernel, stranger, "key", bucket_id=bucket)
    assert len(set(errors)) == 1


def test_no_search_asks_for_the_model_while_it_holds_a_session(
    kernel: Kernel, principal: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asking may read the database: on a server whose connections are all held, it would wait for
    one while it holds another."""
    store_memory(kernel, principal, "The spare key hangs behind the boiler.")
    read, current = kernel.store.read, kernel.models.current
    held, asked = [], []

    @contextmanager
    def counted() -> Iterator[ReadSession]:
        with read() as session:
            held.append(session)
            yield session
            held.remove(session)

    def asked_for() -> Embedder:
        asked.append(len(held))
        return current()

    monkeypatch.setattr(kernel.store, "read", counted)
    monkeypatch.setattr(kernel.models, "current", asked_for)
    search_memories(kernel, principal, "spare key")
    search(kernel, principal, SearchQuery(text="spare key"))
    find_records(kernel, principal, "spare key", limit=3)
    assert asked
    assert set(asked) == {0}
