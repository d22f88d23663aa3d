import json
from collections.abc import Iterator

import pytest

from backread.errors import UnreadableImport
from backread.settings import Settings
from ingest.containers.source import Source
from ingest.cutting import cut
from ingest.importers.typingmind import TYPINGMIND
from tests.ingest.importers.parsing import (
    EXPORTS,
    beside,
    parse_bytes,
    parse_file,
    parse_json,
    said,
)


def test_an_export_is_read_with_its_folders_names() -> None:
    (parsed,) = parse_file("typingmind", "export.json")
    assert (parsed.external_id, parsed.title) == ("c-1", "Roof")
    assert (parsed.project, parsed.model) == ("House", "gpt-4o")
    assert said(parsed) == ["user: Slate or tile?", "assistant: Slate lasts."]
    assert parsed.messages[1].attachments[0].external_id == "https://example.invalid/s.png"
    assert beside(parsed) == [("unknown", "hologram", ""), ("tool_call", "look", "{}")]
    assert parsed.messages[2].role.value == "tool"
    assert parsed.news == {"part:hologram": 1}


def test_a_cloud_backup_and_a_list_of_chats_hold_the_same() -> None:
    whole = json.loads((EXPORTS / "typingmind" / "export.json").read_bytes())
    chat = whole["data"]["chats"][0]
    chats = {"CHAT_c-1": chat, "CHAT_c-2": json.dumps(chat | {"chatID": "c-2"}), "other": 1}
    backup = parse_json({"localStorage": {}, "indexedDB": chats})
    assert [parsed.external_id for parsed in backup] == ["c-1", "c-2"]
    (alone,) = parse_json([chat])
    assert said(alone) == said(backup[0]) == said(backup[1])


@pytest.mark.parametrize("chunk", [1000, 4096, 100_000])
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_backup_larger_than_any_conversation_may_be_is_cut_into_its_chats(
    chunk: int, settings: Settings
) -> None:
    whole = json.loads((EXPORTS / "typingmind" / "export.json").read_bytes())
    chat = whole["data"]["chats"][0]
    chats = {f"CHAT_c-{n}": chat | {"chatID": f"c-{n}"} for n in range(20)}
    other = {"localStorage": {"CHAT_no": {"a": [1]}}, "indexedDB": {"FOLDER_x": {}} | chats}
    body = json.dumps(other | {"later": {"CHAT_no": {}}}).encode()
    small = settings.model_copy(update={"conversation_max_bytes": len(body) // 4})

    def chunks() -> Iterator[bytes]:
        for start in range(0, len(body), chunk):
            yield body[start : start + chunk]

    elements = list(cut(Source("x", "x", len(body), chunks), small))
    assert [json.loads(each.body)["chatID"] for each in elements] == [f"c-{n}" for n in range(20)]
    assert elements[-1].end_offset <= len(body)


@pytest.mark.parametrize("chunk", [100, 401])
def test_the_chats_are_found_wherever_chunks_end(chunk: int) -> None:
    body = (EXPORTS / "typingmind" / "export.json").read_bytes()
    assert parse_bytes(body, chunk=chunk) == parse_file("typingmind", "export.json")


def test_a_chat_with_a_character_names_it() -> None:
    messages = [{"role": "user", "content": "Hi"}]
    chat = {"chatID": "c", "chatTitle": "x", "messages": messages, "character": {"title": "Mason"}}
    (parsed,) = parse_json([chat])
    assert parsed.assistant_name == "Mason"


def test_a_chat_without_an_id_keeps_the_same_one_as_it_grows() -> None:
    chat = {"chatTitle": "x", "messages": [{"role": "user", "content": "Hi"}]}
    (first,) = parse_json([chat])
    chat["messages"] = [*chat["messages"], {"role": "assistant", "content": "Ho"}]
    (grown,) = parse_json([chat])
    assert first.external_id == grown.external_id
    with pytest.raises(UnreadableImport):
        TYPINGMIND.parse({"chatTitle": "x", "messages": []})
