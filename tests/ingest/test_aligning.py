"""Which messages of two copies are the same, and what a conversation is after both: pure."""

import random
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from backread.domain import (
    MessageKind,
    ParsedConversation,
    ParsedMessage,
    Platform,
    Role,
)
from ingest.aligning import Node, matches
from ingest.merge import Merged, first_copy, further_copy
from ingest.wording import letters_of

NOON = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)
LONG = "A sentence that is long enough to tell one message from every other one"
WORDS = ("yes", "continue", "**thanks**", "how so?", "👍", LONG, f"{LONG}, again")


def line(*texts: str, start: int = 0, parent: str | None = None) -> list[Node]:
    """Turns of a chat, the person first; keys are their places."""
    nodes = []
    for place, text in enumerate(texts, start):
        role = "assistant" if place % 2 else "user"
        nodes.append(Node(str(place), parent, role, True, text, None, True))
        parent = str(place)
    return nodes


def pairs(weak: Sequence[Node], known: Sequence[Node]) -> dict[str, str]:
    return {key: match.first for key, match in matches(weak, known).items()}


def test_marks_links_and_wrapping_make_no_difference() -> None:
    rich = "See **[the guide](https://example.org/x)**:\n\n- one\n- two"
    flat = "See the guide:\n* one\n* two[^1]\n\n[^1]: https://example.org"
    assert letters_of(rich) == letters_of(flat)
    assert pairs(line(flat), line(rich)) == {"0": "0"}


def test_the_same_words_twice_are_two_messages_in_order() -> None:
    copy = line("go on", "One.", "go on", "Two.")
    assert pairs(copy, copy) == {"0": "0", "1": "1", "2": "2", "3": "3"}
    assert pairs(copy[:2], copy) == {"0": "0", "1": "1"}


def test_an_edited_question_is_not_matched_and_neither_is_what_follows() -> None:
    known = line("How hot?", "Warm.", "continue", "Warmer.")
    copy = line("How cold?", "Cool.", "continue", "Cooler.")
    assert pairs(copy, known) == {}


def test_a_message_that_one_copy_lacks_does_not_part_the_rest() -> None:
    known = line("Hello", "Hi", LONG, "Yes")
    without = [known[0], Node("2", "0", "user", True, LONG, None, True)]
    assert pairs(without, known) == {"0": "0", "2": "2"}


def test_answers_that_one_copy_joined_begin_and_end_where_they_do() -> None:
    known = [*line("Hello", "One."), Node("b", "1", "assistant", True, "Two.", None, True)]
    match = matches(line("Hello", "One.\n\nTwo."), known)["1"]
    assert (match.first, match.last) == ("1", "b")


def test_a_shown_twin_comes_before_one_on_another_branch() -> None:
    twins = [
        Node("other", None, "user", True, "Hello", None, False),
        Node("shown", None, "user", True, "Hello", None, True),
    ]
    assert pairs(line("Hello"), twins) == {"0": "shown"}


def test_the_same_moment_tells_more_than_different_words() -> None:
    known = [Node("k", None, "assistant", True, "The formula is $x^2$.", NOON, True)]
    copy = [Node("c", None, "assistant", True, "The formula is (image).", NOON, True)]
    assert pairs(copy, known) == {"c": "k"}
    later = [Node("c", None, "assistant", True, LONG, NOON + timedelta(minutes=1), True)]
    sooner = [Node("k", None, "assistant", True, f"{LONG}.!x", NOON, True)]
    assert pairs(later, sooner) == {}


@pytest.mark.parametrize("shape", ["line", "star", "twins"])
def test_large_copies_take_no_long_time(shape: str) -> None:
    count = 20_000
    texts = ["same"] * count if shape == "twins" else [f"text {n}" for n in range(count)]
    nodes = [
        Node(str(n), None if shape == "star" or not n else str(n - 1), "user", True, t, None, True)
        for n, t in enumerate(texts)
    ]
    changed = [
        Node(n.key, n.parent, n.role, True, n.text + "!" * (int(n.key) % 2), None, True)
        for n in nodes
    ]
    start = time.process_time()
    assert len(matches(changed, nodes)) == count
    assert time.process_time() - start < 30


def _chat(texts: Sequence[str], *, is_weak: bool, seed: int = 0) -> ParsedConversation:
    """A straight chat of which the export also knows hidden steps and times."""
    messages: list[ParsedMessage] = []
    parent: str | None = None
    chance = random.Random(seed)
    for place, text in enumerate(texts):
        role = Role.ASSISTANT if place % 2 else Role.USER
        if not is_weak and role is Role.ASSISTANT and chance.random() < 0.5:
            step = f"{place}-step"
            messages.append(ParsedMessage(step, parent, Role.TOOL, MessageKind.TOOL, "Searched."))
            parent = step
        key = f"index:{place}" if is_weak else f"id-{place}"
        at = None if is_weak else NOON + timedelta(minutes=place)
        shown = text.replace("*", "") if is_weak else text
        messages.append(
            ParsedMessage(key, parent, role, MessageKind.DIALOGUE, shown, at, has_weak_id=is_weak)
        )
        parent = key
    ends = None if is_weak else NOON + timedelta(minutes=len(texts))
    return ParsedConversation(
        Platform.CHATGPT, "c", "Chat", messages, [m.external_id for m in messages], NOON, ends
    )


def _folded(copies: Sequence[ParsedConversation]) -> Merged:
    merged: Merged | None = None
    for number, copy in enumerate(copies):
        if merged is None:
            merged = first_copy(
                copy,
                account_id="a",
                conversation_id="c" * 26,
                capture_id=str(number),
                parser_version=1,
            )
            continue
        merged = further_copy(
            merged.conversation,
            merged.messages,
            copy,
            capture_id=str(number),
            parser_version=1,
        )
    assert merged is not None
    return merged


@pytest.mark.parametrize("seed", range(300))
def test_any_chat_in_any_order_of_routes_comes_to_the_same_messages(seed: int) -> None:
    chance = random.Random(seed)
    texts = [chance.choice(WORDS) for _ in range(chance.randint(1, 12))]
    some = texts[: chance.randint(1, len(texts))]
    copies = [
        _chat(texts, is_weak=False, seed=seed),
        _chat(some, is_weak=False, seed=seed),
        _chat(texts, is_weak=True),
        _chat(some, is_weak=True),
    ]
    whole = _folded(copies[:1])
    wanted = [(row["external_id"], row["text"], row["created_at"]) for row in whole.line]
    chance.shuffle(copies)
    merged = _folded(copies)
    assert [(row["external_id"], row["text"], row["created_at"]) for row in merged.line] == wanted
    assert len(merged.messages) == len(wanted)
    ids = {row["id"] for row in merged.messages.values()}
    assert len(ids) == len(wanted)
    parents = [row["parent_id"] for row in merged.line]
    assert parents == [None, *(row["id"] for row in merged.line[:-1])]
    again = _folded([*copies, chance.choice(copies)])
    assert [row["text"] for row in again.line] == [text for _, text, _ in wanted]
    assert not again.added


@pytest.mark.parametrize("seed", range(100))
def test_public_ids_never_change(seed: int) -> None:
    chance = random.Random(seed)
    texts = [chance.choice(WORDS) for _ in range(chance.randint(2, 8))]
    copies = [
        _chat(texts[: chance.randint(1, len(texts))], is_weak=chance.random() < 0.6)
        for _ in range(4)
    ]
    known: set[str] = set()
    for count in range(1, 5):
        merged = _folded(copies[:count])
        ids = {row["id"] for row in merged.messages.values()}
        assert known <= ids
        known = ids


@pytest.mark.parametrize("has_id", [True, False])
def test_nearly_the_same_words_are_the_same_only_beside_an_id(has_id: bool) -> None:
    known = [Node("k", None, "user", True, f"{LONG}, in 2024", None, True, has_id)]
    copy = [Node("c", None, "user", True, f"{LONG}, in 2025", None, True, False)]
    assert pairs(copy, known) == ({"c": "k"} if has_id else {})


def _tree(chance: random.Random) -> list[ParsedMessage]:
    """A chat with edits and retries: each message answers the last one or any other."""
    messages: list[ParsedMessage] = []
    for place in range(chance.randint(1, 14)):
        above = messages[-1] if messages else None
        if messages and chance.random() < 0.3:
            above = chance.choice(messages)
        is_question = above is None or above.role is not Role.USER
        is_step = not is_question and chance.random() < 0.25
        messages.append(
            ParsedMessage(
                external_id=f"id-{place}",
                parent_external_id=above.external_id if above else None,
                role=Role.TOOL if is_step else Role.USER if is_question else Role.ASSISTANT,
                kind=MessageKind.TOOL if is_step else MessageKind.DIALOGUE,
                text=chance.choice(WORDS) + (f" {place}" if chance.random() < 0.7 else ""),
                created_at=NOON + timedelta(minutes=place),
            )
        )
    return messages


def _line_to(leaf: ParsedMessage, messages: Sequence[ParsedMessage]) -> list[ParsedMessage]:
    by_id = {message.external_id: message for message in messages}
    line = [leaf]
    while line[-1].parent_external_id is not None:
        line.append(by_id[line[-1].parent_external_id])
    return line[::-1]


@pytest.mark.parametrize("seed", range(300))
def test_pages_of_any_branch_leave_the_exports_tree_sound_and_whole(seed: int) -> None:
    chance = random.Random(seed)
    messages = _tree(chance)
    copies = []
    for count, hours in ((len(messages), 9), (chance.randint(1, len(messages)), 3)):
        some = messages[:count]
        line = [each.external_id for each in _line_to(chance.choice(some), some)]
        ends = NOON + timedelta(hours=hours)
        copies.append(ParsedConversation(Platform.CHATGPT, "c", "Chat", some, line, NOON, ends))
    for _ in range(chance.randint(1, 3)):
        shown = _line_to(chance.choice(messages), messages)
        spoken = [each.text for each in shown if each.kind is MessageKind.DIALOGUE]
        if spoken:
            copies.append(_chat(spoken[: chance.randint(1, len(spoken))], is_weak=True))
    chance.shuffle(copies)
    merged = _folded(copies)
    rows = list(merged.messages.values())
    ids = [row["id"] for row in rows]
    assert len(set(ids)) == len(ids)
    assert all(row["parent_id"] is None or row["parent_id"] in ids for row in rows)
    assert [row["position"] for row in rows] == list(range(len(rows)))
    parents = [row["parent_id"] for row in merged.line]
    assert parents == [None, *(row["id"] for row in merged.line[:-1])]
    for message in messages:
        assert merged.messages[message.external_id]["text"] == message.text


def test_the_same_words_ten_thousand_times_are_folded_in_no_long_time() -> None:
    same = ["yes"] * 10_000
    copies = [
        _chat(same, is_weak=True),
        _chat(["no", *same], is_weak=True),
        _chat(["why", *same], is_weak=False),
    ]
    start = time.process_time()
    assert len(_folded(copies[:2]).messages) == 20_001
    assert len(_folded(copies).line) > 10_000
    assert time.process_time() - start < 30
