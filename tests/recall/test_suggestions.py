"""Keeping and dismissing what platforms remember."""

import pytest
from sqlalchemy import event, select

from backread.domain import Principal
from backread.errors import InvalidInput, LimitExceeded, NotFound
from backread.identity import statement_hash
from backread.kernel import Kernel
from backread.store.models import Bucket, Memory, SuggestedMemory
from backread.store.repositories.suggestions import (
    SuggestionFilter,
    count_suggestions,
    insert_suggestions,
    list_suggestions,
)
from recall.memories import list_buckets, search_memories, store_memory
from recall.suggestions import (
    MOST_AT_ONCE,
    AcceptedSuggestion,
    accept_suggestions,
    dismiss_suggestions,
    restore_suggestions,
)


def offer(
    kernel: Kernel, principal: Principal, *texts: str, platform: str = "chatgpt"
) -> list[str]:
    """Ids of open suggestions with these texts, in their order."""
    with kernel.store.write() as session:
        insert_suggestions(
            session,
            [
                {
                    "account_id": principal.account_id,
                    "platform": platform,
                    "text": text,
                    "text_hash": statement_hash(text),
                    "source": "Saved memory",
                    "project_external_id": "",
                    "conversation_id": None,
                    "message_id": None,
                    "occurred_at": None,
                    "import_id": None,
                }
                for text in texts
            ],
        )
    by_text = {each.text: each.id for each in stored(kernel)}
    return [by_text[text] for text in texts]


def stored(kernel: Kernel) -> list[SuggestedMemory]:
    with kernel.store.read() as session:
        return list(session.scalars(select(SuggestedMemory).order_by(SuggestedMemory.text)))


def states(kernel: Kernel) -> dict[str, str]:
    return {each.text: each.state for each in stored(kernel)}


def memories(kernel: Kernel) -> dict[str, str]:
    """Texts by the bucket's name."""
    with kernel.store.read() as session:
        query = select(Memory.text, Bucket.name).join(Bucket, Bucket.id == Memory.bucket_id)
        return {row[0]: row[1] for row in session.execute(query)}


def test_a_kept_suggestion_is_a_memory_that_can_be_found_and_knows_its_origin(
    kernel: Kernel, principal: Principal
) -> None:
    first, second = offer(kernel, principal, "Fires at cone 6.", "Likes tea.")
    result = accept_suggestions(kernel, principal, [AcceptedSuggestion(first)])
    assert (result.accepted, result.stored, result.bucket_name) == (1, 1, "General")
    found = search_memories(kernel, principal, "which cone?").memories
    assert [each.text for each in found] == ["Fires at cone 6."]
    kept = next(each for each in stored(kernel) if each.id == first)
    assert (kept.state, kept.memory_id) == ("accepted", found[0].memory_id)
    assert kept.decided_at is not None
    assert states(kernel)["Likes tea."] == "open"
    assert second


def test_many_go_into_a_bucket_that_is_made_for_them(kernel: Kernel, principal: Principal) -> None:
    ids = offer(kernel, principal, "One.", "Two.", "Three.")
    chosen = [AcceptedSuggestion(each) for each in ids]
    result = accept_suggestions(kernel, principal, chosen[:2], bucket_name="  Clay   studio ")
    again = accept_suggestions(kernel, principal, chosen[2:], bucket_name="clay STUDIO")
    assert result.bucket_id == again.bucket_id
    assert memories(kernel) == dict.fromkeys(("One.", "Two.", "Three."), "Clay studio")
    assert [each.name for each in list_buckets(kernel, principal).buckets] == ["Clay studio"]


def test_an_edited_suggestion_is_kept_in_the_person_s_words(
    kernel: Kernel, principal: Principal
) -> None:
    (only,) = offer(kernel, principal, "User has cat.")
    accept_suggestions(kernel, principal, [AcceptedSuggestion(only, "  I have two cats. ")])
    assert list(memories(kernel)) == ["I have two cats."]
    assert states(kernel) == {"User has cat.": "accepted"}


def test_words_that_are_edited_to_nothing_are_refused(kernel: Kernel, principal: Principal) -> None:
    (only,) = offer(kernel, principal, "User has cat.")
    with pytest.raises(InvalidInput):
        accept_suggestions(kernel, principal, [AcceptedSuggestion(only, " \n ")])
    assert states(kernel) == {"User has cat.": "open"}


def test_a_bucket_is_read_once_however_many_are_kept(kernel: Kernel, principal: Principal) -> None:
    ids = offer(kernel, principal, *(f"Fact number {number}." for number in range(40)))
    reads: list[str] = []

    def note(_: object, __: object, statement: str, *rest: object) -> None:
        if "length(memories.text)" in statement:
            reads.append(statement)

    event.listen(kernel.store.engine, "before_cursor_execute", note)
    result = accept_suggestions(kernel, principal, [AcceptedSuggestion(each) for each in ids])
    assert result.stored == 40
    assert len(reads) == 1


def test_of_several_that_say_the_same_one_is_kept(kernel: Kernel, principal: Principal) -> None:
    ids = offer(kernel, principal, "Likes tea.", "Likes the tea!", "Likes coffee.")
    result = accept_suggestions(kernel, principal, [AcceptedSuggestion(each) for each in ids])
    assert (result.accepted, result.stored) == (3, 2)
    assert sorted(memories(kernel)) == ["Likes coffee.", "Likes tea."]
    assert len({each.memory_id for each in stored(kernel)}) == 2


def test_what_the_bucket_holds_already_is_not_doubled(kernel: Kernel, principal: Principal) -> None:
    known = store_memory(kernel, principal, "Likes tea.")
    same, near = offer(kernel, principal, "likes  TEA.", "Likes the tea")
    result = accept_suggestions(
        kernel, principal, [AcceptedSuggestion(same), AcceptedSuggestion(near)]
    )
    assert (result.accepted, result.stored) == (2, 0)
    assert {each.memory_id for each in stored(kernel)} == {known.memory_id}
    assert list(memories(kernel)) == ["Likes tea."]


def test_accepting_twice_keeps_one(kernel: Kernel, principal: Principal) -> None:
    (only,) = offer(kernel, principal, "Likes tea.")
    twice = [AcceptedSuggestion(only), AcceptedSuggestion(only)]
    assert accept_suggestions(kernel, principal, twice).accepted == 1
    assert accept_suggestions(kernel, principal, twice).accepted == 0
    assert list(memories(kernel)) == ["Likes tea."]


def test_dismissing_can_be_undone_and_a_dismissed_one_accepted(
    kernel: Kernel, principal: Principal
) -> None:
    first, second = offer(kernel, principal, "One.", "Two.")
    with kernel.store.write() as session:
        assert dismiss_suggestions(session, principal, [first, second]) == 2
        assert dismiss_suggestions(session, principal, [first]) == 0
        assert restore_suggestions(session, principal, [first]) == 1
    assert states(kernel) == {"One.": "open", "Two.": "dismissed"}
    assert accept_suggestions(kernel, principal, [AcceptedSuggestion(second)]).stored == 1
    with kernel.store.write() as session:
        assert restore_suggestions(session, principal, [second]) == 0
    assert states(kernel) == {"One.": "open", "Two.": "accepted"}


def test_one_wrong_choice_keeps_none(
    kernel: Kernel, principal: Principal, stranger: Principal
) -> None:
    (own,) = offer(kernel, principal, "One.")
    (foreign,) = offer(kernel, stranger, "Two.")
    for other in (foreign, "0" * 26):
        with pytest.raises(NotFound):
            accept_suggestions(
                kernel, principal, [AcceptedSuggestion(own), AcceptedSuggestion(other)]
            )
        with pytest.raises(NotFound), kernel.store.write() as session:
            dismiss_suggestions(session, principal, [own, other])
    with pytest.raises(LimitExceeded):
        accept_suggestions(kernel, principal, [AcceptedSuggestion(own, "x" * 10_001)])
    with pytest.raises(NotFound):
        accept_suggestions(kernel, principal, [AcceptedSuggestion(own)], bucket_id=4711)
    assert memories(kernel) == {}
    assert states(kernel) == {"One.": "open", "Two.": "open"}


def test_none_or_too_many_at_once_are_refused(kernel: Kernel, principal: Principal) -> None:
    with pytest.raises(InvalidInput):
        accept_suggestions(kernel, principal, [])
    many = [AcceptedSuggestion(f"{number:026d}") for number in range(MOST_AT_ONCE + 1)]
    with pytest.raises(LimitExceeded):
        accept_suggestions(kernel, principal, many)
    with pytest.raises(LimitExceeded):
        accept_suggestions(kernel, principal, many[:1], bucket_name="b" * 201)


def test_lists_come_by_platform_in_pages_and_only_of_the_account(
    kernel: Kernel, principal: Principal, stranger: Principal
) -> None:
    offer(kernel, principal, *(f"Statement {number}." for number in range(5)))
    offer(kernel, principal, "From Claude.", platform="claude_ai")
    offer(kernel, stranger, "Foreign.")
    with kernel.store.read() as session:
        counts = count_suggestions(session, principal, SuggestionFilter())
        assert counts == {"chatgpt": 5, "claude_ai": 1}
        pages = [
            list_suggestions(session, principal, SuggestionFilter(), offset=offset, limit=4)
            for offset in (0, 4, 8)
        ]
        only = list_suggestions(session, principal, SuggestionFilter(platform="claude_ai"))
    assert [len(page) for page in pages] == [4, 2, 0]
    seen = [each.suggestion.text for page in pages for each in page]
    assert len(set(seen)) == 6
    assert seen[-1] == "From Claude."
    assert [each.suggestion.text for each in only] == ["From Claude."]
