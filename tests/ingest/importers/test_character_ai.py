from datetime import UTC, datetime
from pathlib import Path

import pytest

from backread.domain import Principal
from backread.errors import UnreadableImport
from backread.kernel import Kernel
from ingest.importers.character_ai import CHARACTER_AI
from tests.ingest.exports import import_files
from tests.ingest.importers.parsing import EXPORTS, elsewhere, parse_file, parse_json, said


def test_a_dumpers_file_holds_every_chat_with_the_character() -> None:
    first, greeting, empty = parse_file("character_ai", "dumper.json")
    assert (first.external_id, first.title) == ("h-1", "Captain Ada")
    assert first.created_at == datetime(2023, 3, 1, 10, tzinfo=UTC)
    assert said(first) == ["assistant: Welcome aboard!", "user: To the islands.", "assistant: Aye."]
    assert [m.author for m in first.messages] == ["Captain Ada", "", "Captain Ada"]
    assert said(greeting) == ["assistant: Welcome aboard!"]
    assert empty.messages == ()


def test_turns_are_turned_round_and_the_chosen_answer_is_shown() -> None:
    key = {"chat_id": "c-9"}
    turns = [
        {
            "turn_key": key,
            "author": {"name": "Ada"},
            "candidates": [
                {"candidate_id": "x", "raw_content": "North.", "is_final": True},
                {"candidate_id": "y", "raw_content": "South.", "is_final": True},
            ],
            "primary_candidate_id": "y",
        },
        {
            "turn_key": key,
            "author": {"name": "Me", "is_human": True},
            "create_time": "2024-05-01T10:00:00Z",
            "candidates": [{"candidate_id": "u", "raw_content": "Where to?"}],
            "primary_candidate_id": "u",
        },
        {"turn_key": key, "author": {"name": "Ada"}, "candidates": []},
    ]
    (parsed,) = parse_json({"turns": turns})
    assert parsed.external_id == "c-9"
    assert said(parsed) == ["user: Where to?", "assistant: South."]
    assert elsewhere(parsed) == ["North."]
    assert parsed.news == {"turn:no candidates": 1}


def test_the_files_of_cai_tools_are_read() -> None:
    lines = [
        {"name": "Ada", "message": "Hello", "isHuman": False},
        {"name": "Me", "message": "Hi", "isHuman": True},
    ]
    (parsed,) = parse_json({"history": [{"date": 1709640000000, "chat": lines}]})
    assert said(parsed) == ["assistant: Hello", "user: Hi"]
    assert parsed.created_at == datetime(2024, 3, 5, 12, tzinfo=UTC)
    with pytest.raises(UnreadableImport):
        CHARACTER_AI.parse({"chat": []})


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_an_empty_chat_is_skipped_with_its_reason(kernel: Kernel, principal: Principal) -> None:
    report = import_files(kernel, principal, Path(EXPORTS / "character_ai" / "dumper.json"))
    assert (report.totals.new, report.totals.skipped) == (2, 1)
    assert report.items[0].reason == "It has no messages."
