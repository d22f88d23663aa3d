from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from backread.domain import MessageKind, Principal
from backread.kernel import Kernel
from tests.ingest.exports import as_zip, import_files
from tests.ingest.importers.parsing import (
    EXPORTS,
    beside,
    elsewhere,
    line_of,
    parse_bytes,
    parse_file,
    parse_json,
    said,
)


def test_the_shown_line_ends_at_the_leaf_that_grok_names() -> None:
    parsed, _ = parse_file("grok", "prod-grok-backend.json")
    assert parsed.title == "Comets"
    assert parsed.url == "https://grok.com/c/g-1"
    assert parsed.is_starred
    assert parsed.extra == {"summary": "About tails"}
    assert parsed.model == "grok-4"
    assert said(parsed) == ["user: Why two tails?", "assistant: Dust and gas."]
    assert elsewhere(parsed) == ["One is dust.", "Draw them"]
    assert line_of(parsed)[0].created_at == datetime(2025, 1, 20, 14, tzinfo=UTC)
    assert parsed.news == {}


def test_thinking_searches_links_and_files_stand_beside_the_words() -> None:
    parsed, _ = parse_file("grok", "prod-grok-backend.json")
    assert beside(parsed) == [
        ("reasoning", "", "Solar wind."),
        ("reasoning", "", "Look up\ntails"),
        ("tool_call", "web", "comet tails"),
    ]
    links = [c.url for m in parsed.messages for c in m.citations]
    assert links == ["https://example.invalid/comet", "https://example.invalid/card"]
    assert line_of(parsed)[0].attachments[0].external_id == "file-1"


def test_without_parents_the_order_is_the_chat_and_a_picture_can_be_the_answer() -> None:
    _, parsed = parse_file("grok", "prod-grok-backend.json")
    assert parsed.title == "A blue fox"
    assert said(parsed) == ["user: A blue fox", "assistant: "]
    assert line_of(parsed)[1].attachments[0].name == "image"
    assert [m.kind for m in line_of(parsed)[2:]] == [MessageKind.HIDDEN, MessageKind.SYSTEM]
    assert parsed.news == {"sender:robot": 1}


def test_the_websites_own_shape_is_read() -> None:
    (parsed,) = parse_json(
        {
            "conversation_id": "w",
            "title": "W",
            "responses": [
                {
                    "response_id": "a",
                    "sender": "human",
                    "message": "Q",
                    "create_time": "2025-02-01T10:00:00Z",
                },
                {
                    "response_id": "b",
                    "parent_response_id": "a",
                    "sender": "ASSISTANT",
                    "message": "A",
                },
            ],
        }
    )
    assert parsed.external_id == "w"
    assert said(parsed) == ["user: Q", "assistant: A"]


def test_an_export_without_ids_gets_a_stable_one() -> None:
    raw: Any = {"conversations": [{"conversation": {"title": "T"}, "responses": []}]}
    raw["conversations"][0]["responses"] = [{"sender": "human", "message": "Q"}]
    (first,) = parse_json(raw)
    raw["conversations"][0]["responses"].append({"sender": "assistant", "message": "A"})
    (grown,) = parse_json(raw)
    assert first.external_id == grown.external_id


@pytest.mark.parametrize("chunk", [1, 7, 100, 1000])
def test_the_list_inside_is_found_wherever_chunks_end(chunk: int) -> None:
    body = (EXPORTS / "grok" / "prod-grok-backend.json").read_bytes()
    assert parse_bytes(body, chunk=chunk) == parse_bytes(body)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_the_zip_is_imported_without_its_account_data(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    folder = "ttl/30d/export_data/u/"
    members = {
        folder + "prod-grok-backend.json": (
            EXPORTS / "grok" / "prod-grok-backend.json"
        ).read_bytes(),
        folder + "prod-mc-auth-mgmt-api.json": {"user": {"email": "ada@example.invalid"}},
        folder + "prod-mc-asset-server/a/content": b"\x89PNG",
    }
    report = import_files(kernel, principal, as_zip(members, tmp_path / "u.zip"))
    assert (report.totals.new, report.totals.found) == (2, 2)
    assert report.platforms == {"grok": 2}


def test_posts_that_an_answer_names_are_links() -> None:
    response = {
        "_id": "r",
        "sender": "assistant",
        "message": "As she wrote.",
        "xpost_ids": ["123", "no number"],
    }
    about = {"id": "x", "temporary": True}
    (parsed,) = parse_json({"conversations": [{"conversation": about, "responses": [response]}]})
    assert [each.url for each in parsed.messages[0].citations] == ["https://x.com/i/status/123"]
    assert parsed.extra == {"is_temporary": True}
