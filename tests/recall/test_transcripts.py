"""Whole conversations, and what they were about."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from backread.domain import Principal
from backread.errors import InvalidInput, NotFound
from backread.kernel import Kernel
from backread.store.models import Conversation, Message
from backread.tokens import estimate_tokens
from recall.summaries import SUMMARY_TOKENS, conversation_summary
from recall.transcripts import full_conversation
from tests.ingest.exports import claude, claude_message, import_files, write
from tests.recall.chats import GARDEN, Chat, keep


def long_chat() -> Chat:
    turns = [
        f"In week {number} the boat needs varnish coat {number}; the harbour master wants the "
        f"papers for mooring {number} before the tide table changes. " * 4
        for number in range(70)
    ]
    turns[30] = (
        "We decided to sell the boat to Marit on 12 April 2024 because mooring costs too much."
    )
    return Chat("The boat", turns, datetime(2024, 4, 1, tzinfo=UTC))


def test_the_transcript_has_every_word_in_order(kernel: Kernel, principal: Principal) -> None:
    (garden,) = keep(kernel, principal, GARDEN)
    transcript = full_conversation(kernel, principal, garden)
    assert [message.text for message in transcript.messages] == list(GARDEN.turns)
    assert [message.role for message in transcript.messages] == ["user", "assistant"] * 2
    assert GARDEN.at is not None
    assert transcript.messages[1].created_at == GARDEN.at + timedelta(minutes=1)
    assert all(text in transcript.text for text in GARDEN.turns)
    assert transcript.model_dump()["conversationId"] == garden


def test_a_single_message_is_counted_in_the_singular(kernel: Kernel, principal: Principal) -> None:
    (asked,) = keep(kernel, principal, Chat("Shed", ["Where is the key?"], None), index=False)
    assert "· 1 message\n" in full_conversation(kernel, principal, asked).text


def test_a_huge_transcript_comes_in_pages_that_add_up(kernel: Kernel, principal: Principal) -> None:
    chat = long_chat()
    (boat,) = keep(kernel, principal, chat, index=False)
    first = full_conversation(kernel, principal, boat, page_tokens=2000)
    pages = [
        full_conversation(kernel, principal, boat, page=number, page_tokens=2000)
        for number in range(1, first.pages + 1)
    ]
    assert len(pages) > 3
    texts = [message.text for page in pages for message in page.messages]
    assert [text.strip() for text in texts] == [text.strip() for text in chat.turns]
    for number in (0, first.pages + 1):
        with pytest.raises(InvalidInput):
            full_conversation(kernel, principal, boat, page=number, page_tokens=2000)


@pytest.mark.parametrize("read", [full_conversation, conversation_summary])
def test_a_foreign_conversation_is_as_good_as_none(
    kernel: Kernel,
    principal: Principal,
    stranger: Principal,
    read: Callable[[Kernel, Principal, str], object],
) -> None:
    (garden,) = keep(kernel, principal, GARDEN, index=False)
    messages = []
    for identifier in (garden, "0" * 26, "nonsense"):
        with pytest.raises(NotFound) as caught:
            read(kernel, stranger, identifier)
        messages.append(str(caught.value))
    assert len(set(messages)) == 1


def test_a_short_conversation_is_its_own_summary(kernel: Kernel, principal: Principal) -> None:
    (garden,) = keep(kernel, principal, GARDEN, index=False)
    summary = conversation_summary(kernel, principal, garden)
    assert summary.is_transcript
    assert [message.text for message in summary.messages] == list(GARDEN.turns)


def test_a_long_conversation_is_summed_up_in_its_own_sentences(
    kernel: Kernel, principal: Principal
) -> None:
    (boat,) = keep(kernel, principal, long_chat(), index=False)
    summary = conversation_summary(kernel, principal, boat)
    assert not summary.is_transcript
    assert summary.messages == []
    assert "sell the boat to Marit" in summary.text
    assert estimate_tokens("\n".join(each.text for each in summary.statements)) <= SUMMARY_TOKENS
    with kernel.store.read() as session:
        rows = session.execute(select(Message.id, Message.text))
        texts = {row.id: row.text for row in rows}
    for statement in summary.statements:
        assert statement.text in " ".join(texts[statement.message_id].split())
    dates = [each.date for each in summary.statements if each.date]
    assert dates == sorted(dates)


def test_from_5000_tokens_on_it_is_a_summary(kernel: Kernel, principal: Principal) -> None:
    line = "The varnish of the boat dries in the sun. "
    room = 4999 - 4 * estimate_tokens(line * 100)
    below = [line * 100] * 4 + ["x" * 4 * room]
    at = [*below[:-1], below[-1] + "xxxx"]
    short, long = keep(kernel, principal, Chat("Below", below), Chat("At", at), index=False)
    assert conversation_summary(kernel, principal, short).is_transcript
    assert not conversation_summary(kernel, principal, long).is_transcript


def _with_canvas(kernel: Kernel, principal: Principal, folder: Path, content: str) -> str:
    """A chat in which a document is made beside the chat, and then written anew."""
    first = claude_message("m1", "assistant", "", content=[_artifact("create", content="old")])
    second = claude_message("m3", "assistant", "Done.", content=[_artifact("rewrite", content)])
    second["content"].append({"type": "text", "text": "Done.", "citations": []})
    chat = claude("c", ["Write it.", first, "Again.", second])
    import_files(kernel, principal, write(folder / "c.json", [chat]))
    with kernel.store.read() as session:
        return session.scalars(select(Conversation.id)).one()


def _artifact(command: str, content: str = "") -> dict[str, Any]:
    given = {"id": "a1", "type": "text/markdown", "title": "Plan", "command": command}
    return {"type": "tool_use", "name": "artifacts", "input": given | {"content": content}}


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_artifacts_are_named_blocks_where_they_were_made(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    chat = _with_canvas(kernel, principal, tmp_path, "Dig the pond in March.")
    text = full_conversation(kernel, principal, chat).text
    assert "[artifact “Plan” (text/markdown), version 1 of 2, replaced later]" in text
    block = "[artifact “Plan” (text/markdown), version 2 of 2]\nDig the pond in March.\n[end of art"
    assert "Done.\n" + block in text
    assert text.index("Again.") < text.index(block)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_artifacts_count_for_the_size_of_pages(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    chat = _with_canvas(kernel, principal, tmp_path, "Dig the pond in March. " * 400)
    first = full_conversation(kernel, principal, chat, page_tokens=1000)
    assert first.pages == 2
    last = full_conversation(kernel, principal, chat, page=2, page_tokens=1000)
    assert [message.text for message in last.messages] == ["Done."]


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_short_conversation_comes_whole_with_its_artifacts(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    chat = _with_canvas(kernel, principal, tmp_path, "Dig the pond in March.")
    summary = conversation_summary(kernel, principal, chat)
    assert summary.is_transcript
    assert not summary.artifacts_left_out
    assert "version 2 of 2]\nDig the pond in March.\n[end of artifact]" in summary.text


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_artifacts_that_are_too_long_for_a_summary_are_named(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    chat = _with_canvas(kernel, principal, tmp_path, "Dig the pond in March. " * 1000)
    summary = conversation_summary(kernel, principal, chat)
    assert summary.is_transcript
    assert summary.artifacts_left_out
    assert "get_full_conversation has them." in summary.text
    assert "[artifact “Plan” (text/markdown), version 2 of 2, without its text]" in summary.text
    assert "Dig the pond" not in summary.text
    assert "Done." in summary.text
