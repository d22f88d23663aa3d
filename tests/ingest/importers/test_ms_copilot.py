from datetime import UTC, datetime
from pathlib import Path

import pytest

from backread.domain import Principal
from backread.kernel import Kernel
from tests.ingest.exports import import_files, write
from tests.ingest.importers.parsing import EXPORTS, parse_bytes, parse_file, said


def test_rows_of_one_chat_come_together_turned_round() -> None:
    bread, bike, opener = parse_file("ms_copilot", "history.csv")
    assert bread.title == "Bread, slow"
    assert said(bread) == [
        "user: How long?",
        "assistant: Four hours.",
        "user: and after, that?",
        'assistant: Fold it:\n\n1. "twice"',
    ]
    assert bread.created_at == datetime(2026, 7, 26, 23, 20, 56, tzinfo=UTC)
    assert said(bike) == ["user: How do I clean it?", "assistant: Use degreaser."]
    assert said(opener) == ["assistant: A reply to nothing."]


def test_the_other_columns_are_read_as_well() -> None:
    (chat,) = parse_bytes(
        b"CreatedAt,MessageContent,Author,ChatName\n"
        b"2025-01-02T10:00:00Z,Hello.,Copilot,Greeting\n"
        b"2025-01-02T10:00:00Z,Hi,user,Greeting\n"
        b"2025-01-02T09:00:00Z,beep,robot,Greeting\n"
    )
    assert said(chat) == ["user: Hi", "assistant: Hello."]
    assert chat.news == {"author:robot": 1}


def test_prompts_alone_are_a_conversation_each_and_nameless_chats_stay_apart() -> None:
    prompts = parse_bytes(
        b"Timestamp,ClientApp,Prompt\n2025-01-02T10:00:00Z,Paint,A cat\n"
        b"2025-01-02T09:00:00Z,Paint,A dog\n"
    )
    assert [said(each) for each in prompts] == [["user: A cat"], ["user: A dog"]]
    assert prompts[0].extra == {"app": "Paint"}
    nameless = parse_bytes(
        b"Conversation,Time,Author,Message\n,2025-01-02T10:00:00,AI,Yes\n"
        b",2025-01-02T10:00:00,Human,No?\n,2025-01-01T10:00:00,Human,Older\n"
    )
    assert [said(each) for each in nameless] == [
        ["user: No?", "assistant: Yes"],
        ["user: Older"],
    ]


@pytest.mark.parametrize("chunk", [1, 2, 50])
def test_tables_come_apart_the_same_wherever_chunks_end(chunk: int) -> None:
    body = (EXPORTS / "ms_copilot" / "history.csv").read_bytes()
    header = body[: body.index(b"\n") + 1]
    assert parse_bytes(body, chunk=max(chunk, len(header))) == parse_bytes(body)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_later_export_of_a_grown_chat_updates_it(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    body = (EXPORTS / "ms_copilot" / "history.csv").read_bytes()
    first = import_files(kernel, principal, write(tmp_path / "a.csv", body))
    assert (first.totals.new, first.platforms) == (3, {"ms_copilot": 3})
    header, rows = body.split(b"\r\n", 1)
    more = b"Bike,2026-07-27T10:00:00,Human,Thanks"
    grown = write(tmp_path / "b.csv", b"\r\n".join((header, more, rows)))
    again = import_files(kernel, principal, grown)
    assert (again.totals.updated, again.totals.unchanged, again.messages_new) == (1, 2, 1)
    other = import_files(kernel, principal, write(tmp_path / "c.csv", b"a,b\n1,2\n"))
    assert other.state == "failed"
