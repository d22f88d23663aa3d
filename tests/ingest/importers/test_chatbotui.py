import pytest

from backread.errors import UnreadableImport
from ingest.importers import importer_for
from ingest.importers.chatbotui import CHATBOTUI
from tests.ingest.importers.parsing import parse_file, parse_json, said


def test_an_export_is_read_with_folders_and_without_times() -> None:
    (parsed,) = parse_file("chatbotui", "export.json")
    assert (parsed.external_id, parsed.title) == ("cb-1", "Knots")
    assert (parsed.project, parsed.model) == ("Boats", "gpt-4")
    assert parsed.extra == {"system_prompt": "Be kind."}
    assert said(parsed) == ["user: Best knot?", "assistant: Bowline."]
    assert parsed.created_at is None
    assert all(message.created_at is None for message in parsed.messages)


def test_an_older_chat_with_a_number_for_an_id_is_read() -> None:
    messages = [{"role": "user", "content": "Hi"}, {"role": "robot", "content": "beep"}]
    chat = {"id": 7, "name": "", "messages": messages, "model": "gpt-3.5", "prompt": ""}
    (parsed,) = parse_json([chat])
    assert (parsed.external_id, parsed.title) == ("7", "Hi")
    assert parsed.news == {"role:robot": 1}


def test_other_chats_are_not_taken() -> None:
    assert importer_for({"id": "x", "name": "y", "messages": [{"text": "z"}], "model": "m"}) is None
    with pytest.raises(UnreadableImport):
        CHATBOTUI.parse({"id": None, "name": "", "messages": []})
