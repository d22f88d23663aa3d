from datetime import UTC, datetime
from pathlib import Path

import pytest

from backread.domain import Principal
from backread.kernel import Kernel
from tests.ingest.exports import as_zip, import_files
from tests.ingest.importers.parsing import EXPORTS, beside, line_of, parse_file, parse_json, said


def test_messages_in_any_order_are_read_in_the_order_of_their_times() -> None:
    (parsed,) = parse_file("lechat", "chat-1.json")
    assert parsed.external_id == "lc-1"
    assert parsed.title == "Does wheat rise?"
    assert parsed.url == "https://chat.mistral.ai/chat/lc-1"
    assert parsed.created_at == datetime(2025, 5, 1, 10, 1, tzinfo=UTC)
    assert said(parsed) == [
        "user: Does wheat rise?",
        "assistant: Wheat rises, see here.",
        "user: And rye?",
        "assistant: Less.",
    ]


def test_chunks_are_one_text_with_tools_and_files_beside_it() -> None:
    (parsed,) = parse_file("lechat", "chat-1.json")
    assert beside(parsed) == [
        ("tool_call", "web_search", '{\n  "q": "wheat"\n}'),
        ("artifact", "canvas", "Loaf"),
        ("unknown", "hologram", "3d"),
    ]
    assert parsed.news == {"chunk:hologram": 1}
    assert [[a.name for a in m.attachments] for m in line_of(parsed)] == [
        [],
        ["image"],
        ["rye.txt"],
        [],
    ]


def test_thinking_and_repeated_ids_are_kept() -> None:
    message = {"id": "m", "chatId": "c", "role": "assistant", "content": "x"}
    chunk = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    (parsed,) = parse_json([message, message | {"contentChunks": [chunk]}])
    assert len(parsed.messages) == 2
    assert beside(parsed) == [("reasoning", "", "Hm.")]


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_zip_of_chats_and_their_files_is_imported(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    chat = (EXPORTS / "lechat" / "chat-1.json").read_bytes()
    members = {
        "chat-1.json": chat,
        "chat-2.json": chat.replace(b"lc-1", b"lc-2"),
        "chat-1-files/rye.txt": b"rye",
    }
    report = import_files(kernel, principal, as_zip(members, tmp_path / "le-chat.zip"))
    assert (report.totals.new, report.platforms) == (2, {"lechat": 2})


def test_a_document_in_a_frame_is_an_artifact() -> None:
    message = {"id": "m", "chatId": "c", "role": "assistant", "content": ""}
    chunk = {"type": "custom_element", "id": "e", "title": "Loaf", "content": "Bake it."}
    (parsed,) = parse_json([message | {"contentChunks": [chunk]}])
    (aside,) = parsed.messages[0].asides
    assert aside.text == "Bake it."
    assert aside.artifact is not None
    assert (aside.artifact.artifact_id, aside.artifact.title) == ("e", "Loaf")
