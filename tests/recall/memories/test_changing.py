"""Editing, moving, buckets by name, facts that change, and what was only recalled."""

from dataclasses import replace
from datetime import timedelta

import pytest

from backread.domain import Principal
from backread.errors import Conflict, InvalidInput, LimitExceeded, NotFound
from backread.kernel import Kernel
from backread.store.base import utcnow
from recall.history import RecallRequest, recall_chat_history
from recall.memories import (
    MOST_AT_ONCE,
    Source,
    create_bucket,
    edit_memory,
    list_buckets,
    memories_and_buckets,
    move_memories,
    search_memories,
    store_memory,
)
from tests.recall.chats import GARDEN, keep


def texts(kernel: Kernel, principal: Principal, query: str, **more: str) -> list[str]:
    found = search_memories(kernel, principal, query, **more)  # type: ignore[arg-type]
    return [each.text for each in found.memories]


def test_an_edited_memory_is_found_by_its_new_words_only(
    kernel: Kernel, principal: Principal
) -> None:
    stored = store_memory(kernel, principal, "The gate code is 4711.")
    result = edit_memory(kernel, principal, stored.memory_id, text="The spare key hangs outside.")
    assert result.edited
    assert texts(kernel, principal, "gate code") == []
    (found,) = search_memories(kernel, principal, "spare key").memories
    assert found.memory_id == stored.memory_id


def test_an_edit_that_says_what_another_memory_says_is_refused(
    kernel: Kernel, principal: Principal
) -> None:
    first = store_memory(kernel, principal, "Ada drinks tea.")
    second = store_memory(kernel, principal, "Ada drinks coffee.")
    for text in ("Ada drinks tea.", "ada drinks the tea"):
        with pytest.raises(Conflict, match=first.memory_id):
            edit_memory(kernel, principal, second.memory_id, text=text)
    # Its own words in another spelling are no duplicate of themselves.
    assert edit_memory(kernel, principal, second.memory_id, text="Ada drinks the coffee!").edited


def test_a_bucket_that_is_named_and_missing_is_made_once(
    kernel: Kernel, principal: Principal
) -> None:
    stored = store_memory(kernel, principal, "The beds are made of cedar.")
    moved = edit_memory(kernel, principal, stored.memory_id, bucket_name="Garden")
    assert (moved.bucket_created, moved.moved) == (True, 1)
    again = create_bucket(kernel, principal, " garden ")
    assert (again.created, again.bucket_id, again.name) == (False, moved.bucket_id, "Garden")
    assert len(list_buckets(kernel, principal).buckets) == 2
    found = search_memories(kernel, principal, "cedar", bucket_id=moved.bucket_id)
    assert [each.memory_id for each in found.memories] == [stored.memory_id]


def test_a_move_is_all_or_nothing(
    kernel: Kernel, principal: Principal, stranger: Principal
) -> None:
    ids = [store_memory(kernel, principal, f"Fact number {n}.").memory_id for n in range(3)]
    foreign = store_memory(kernel, stranger, "A fact of somebody else.").memory_id
    for unknown in ("0" * 26, foreign):
        with pytest.raises(NotFound, match=unknown):
            move_memories(kernel, principal, [*ids, unknown], bucket_name="Elsewhere")
        assert [each.name for each in list_buckets(kernel, principal).buckets] == ["General"]
    target = create_bucket(kernel, principal, "Elsewhere").bucket_id
    store_memory(kernel, principal, "Fact number 1.", bucket_id=target)
    with pytest.raises(Conflict, match=ids[1]):
        move_memories(kernel, principal, ids, bucket_id=target)
    assert search_memories(kernel, principal, "fact", bucket_id=target).memories[1:] == []
    moved = move_memories(kernel, principal, [ids[0], ids[0], ids[2]], bucket_id=target)
    assert moved.moved == 2


def test_what_a_change_names_twice_or_not_at_all_is_refused(
    kernel: Kernel, principal: Principal
) -> None:
    stored = store_memory(kernel, principal, "Ada drinks tea.")
    with pytest.raises(InvalidInput, match="both given"):
        edit_memory(kernel, principal, stored.memory_id, bucket_id=1, bucket_name="Garden")
    with pytest.raises(InvalidInput, match="Nothing to change"):
        edit_memory(kernel, principal, stored.memory_id)
    with pytest.raises(InvalidInput, match="Where to move"):
        move_memories(kernel, principal, [stored.memory_id])
    with pytest.raises(LimitExceeded, match="101"):
        move_memories(kernel, principal, ["x"] * (MOST_AT_ONCE + 1), bucket_name="Garden")


def test_a_fact_that_has_changed_comes_with_its_former_version_newest_first(
    kernel: Kernel, principal: Principal
) -> None:
    old = store_memory(kernel, principal, "Ada lives in Zurich near the lake.")
    new = store_memory(kernel, principal, "Ada moved to Lisbon in May.", supersedes=old.memory_id)
    newest = store_memory(kernel, principal, "Ada now rents in Porto.", supersedes=old.memory_id)
    assert newest.superseded == new.memory_id  # the latest of the line is meant
    found = search_memories(kernel, principal, "Zurich lake")
    assert [each.memory_id for each in found.memories] == [newest.memory_id, old.memory_id]
    present, former = found.memories
    assert (former.superseded_by, present.superseded_by) == (new.memory_id, "")
    assert former.superseded_at is not None
    assert "NO LONGER HOLDS" in found.text
    with pytest.raises(InvalidInput, match="one line"):
        edit_memory(kernel, principal, old.memory_id, supersedes=newest.memory_id)


def test_as_of_a_day_shows_what_held_then(kernel: Kernel, principal: Principal) -> None:
    old = store_memory(kernel, principal, "Ada lives in Zurich.")
    then = utcnow()
    store_memory(kernel, principal, "Ada lives in Lisbon.", supersedes=old.memory_id)
    assert texts(kernel, principal, "Ada lives", as_of=then.isoformat()) == ["Ada lives in Zurich."]
    assert texts(kernel, principal, "Ada lives", as_of="2001-01-01") == []
    assert texts(kernel, principal, "Ada lives")[0] == "Ada lives in Lisbon."
    # What holds again may be stored again.
    assert store_memory(kernel, principal, "Ada lives in Zurich.").stored


def test_a_memory_leads_back_to_where_it_was_said(
    kernel: Kernel, principal: Principal, stranger: Principal
) -> None:
    (garden,) = keep(kernel, principal, GARDEN)
    (foreign,) = keep(kernel, stranger, GARDEN)
    client = replace(principal, client_id="client-1")
    store_memory(kernel, client, "The beds are made of cedar.", source=Source(garden))
    (found,) = search_memories(kernel, principal, "cedar").memories
    assert found.stored_by == "client-1"
    assert found.source_url.endswith(f"/c/{garden}")
    for source in (Source(foreign), Source("0" * 26), Source(garden, "0" * 26)):
        with pytest.raises(NotFound):
            store_memory(kernel, client, "Another fact.", source=source)
    with pytest.raises(InvalidInput, match="conversationId"):
        store_memory(kernel, client, "Another fact.", source=Source("", "0" * 26))


def test_recalled_text_is_not_stored_back_and_a_sentence_always_can_be(
    kernel: Kernel, principal: Principal
) -> None:
    (garden,) = keep(kernel, principal, GARDEN)
    client = replace(principal, client_id="client-1")
    request = RecallRequest(query="cedar planks and soil for the beds")
    recalled = recall_chat_history(kernel, principal, request).text
    assert "Hollis" in recalled
    with pytest.raises(InvalidInput, match="answer of a recall"):
        store_memory(kernel, client, recalled)
    copied = f"{GARDEN.turns[0]} {GARDEN.turns[1]}"
    with pytest.raises(InvalidInput, match="word for word"):
        store_memory(kernel, client, copied)
    stored = store_memory(kernel, client, "Something else.")
    with pytest.raises(InvalidInput, match="word for word"):
        edit_memory(kernel, client, stored.memory_id, text=copied)
    assert store_memory(kernel, client, GARDEN.turns[2]).stored
    assert store_memory(kernel, client, copied, source=Source(garden)).stored
    # The owner writes what they like.
    assert store_memory(kernel, principal, f"{copied} That is all.").stored


def test_what_is_said_today_is_no_recalled_text(kernel: Kernel, principal: Principal) -> None:
    today = replace(GARDEN, at=utcnow() - timedelta(minutes=10))
    keep(kernel, principal, today)
    client = replace(principal, client_id="client-1")
    assert store_memory(kernel, client, f"{GARDEN.turns[0]} {GARDEN.turns[1]}").stored


def test_all_memories_come_in_pages_within_a_budget(kernel: Kernel, principal: Principal) -> None:
    stored = [
        store_memory(kernel, principal, f"Fact {n}: " + "a tall hedge " * 30).memory_id
        for n in range(60)
    ]
    seen: list[str] = []
    cursor = ""
    pages = 0
    while True:
        page = memories_and_buckets(kernel, principal, every=True, cursor=cursor, page_tokens=3000)
        assert page.memory_total == 60
        seen += [each.memory_id for each in page.memories]
        pages += 1
        cursor = page.next
        if not cursor:
            break
        assert cursor in page.text
    assert seen == stored[::-1]
    assert pages > 3
    recent = memories_and_buckets(kernel, principal, count=2)
    assert [each.memory_id for each in recent.memories] == stored[:-3:-1]
    for wrong in ("next", "1-0", "9" * 30):
        with pytest.raises(InvalidInput, match="cursor"):
            memories_and_buckets(kernel, principal, every=True, cursor=wrong)
