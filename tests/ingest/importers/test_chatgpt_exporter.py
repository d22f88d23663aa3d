from datetime import UTC, datetime
from pathlib import Path

import pytest

from backread.domain import Principal
from backread.kernel import Kernel
from ingest.importers import importer_for
from ingest.importers.chatgpt_exporter import CHATGPT_EXPORTER
from tests.ingest.exports import as_zip, chatgpt, import_files, write
from tests.ingest.importers.parsing import EXPORTS, beside, parse_bytes, parse_file, said


def test_a_markdown_page_is_read_with_its_front_matter() -> None:
    (parsed,) = parse_file("chatgpt_exporter", "page.md")
    assert parsed.external_id == "6612a0aa-1111-4222-8333-0123456789ab"
    assert parsed.title == "Lanterns"
    assert parsed.url.endswith(parsed.external_id)
    assert parsed.created_at == datetime(2025, 4, 7, 18, 12, 5, tzinfo=UTC)
    assert parsed.messages[0].created_at == datetime(2025, 4, 7, 18, 12, 5, tzinfo=UTC)


def test_headings_inside_code_are_text_and_thoughts_stand_apart() -> None:
    (parsed,) = parse_file("chatgpt_exporter", "page.md")
    assert said(parsed) == [
        "user: How do I write this?\n\n```md\n#### You:\nnot a heading\n```",
        "assistant: With a fence.",
        "assistant: Take a lantern.",
    ]
    assert beside(parsed) == [
        ("reasoning", "", "A fence is text."),
        ("tool_result", "weather", "Rain."),
    ]
    assert parsed.messages[-1].text == "Take a lantern."


def test_a_page_without_front_matter_gets_a_stable_id() -> None:
    page = b"# Wicks\r\n\r\n#### You:\r\nHi\r\n\r\n#### ChatGPT:\r\nHello\r\n"
    (parsed,) = parse_bytes(page)
    (grown,) = parse_bytes(page + b"\r\n#### You:\r\nMore\r\n")
    assert parsed.external_id == grown.external_id
    assert parsed.title == "Wicks"
    assert said(grown) == ["user: Hi", "assistant: Hello", "user: More"]


def test_tavern_lines_and_ooba_pairs_are_read() -> None:
    (tavern,) = parse_file("chatgpt_exporter", "chat.tavern.jsonl")
    assert said(tavern) == ["user: Which wick?", "assistant: Cotton."]
    assert tavern.messages[0].author == ""
    assert tavern.created_at == datetime.fromtimestamp(1744049525, UTC)
    (ooba,) = parse_file("chatgpt_exporter", "chat.ooba.json")
    assert said(ooba) == ["user: Which oil?", "assistant: Rapeseed.", "user: And then?"]


def test_other_texts_and_the_scripts_json_are_not_taken() -> None:
    assert importer_for({"backread_text": "# Notes\n\n```\n#### You:\n```\n"}) is None
    assert importer_for(chatgpt()) is not CHATGPT_EXPORTER


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_zip_of_pages_is_imported(kernel: Kernel, principal: Principal, tmp_path: Path) -> None:
    members = {"Lanterns.md": (EXPORTS / "chatgpt_exporter" / "page.md").read_bytes()}
    members["README.md"] = b"# Nothing here"
    report = import_files(kernel, principal, as_zip(members, tmp_path / "pages.zip"))
    assert (report.totals.found, report.platforms) == (1, {"chatgpt": 1})
    assert report.warnings == []


def test_a_page_that_links_to_its_chat_is_a_copy_of_that_chat() -> None:
    page = (
        "# Wicks\n\nhttps://chatgpt.com/g/g-abc/c/chat-7\n\n#### You:\nHi\n\n#### ChatGPT:\nYes\n"
    )
    (parsed,) = parse_bytes(page.encode())
    assert (parsed.platform.value, parsed.external_id) == ("chatgpt", "chat-7")
    assert all(message.has_weak_id for message in parsed.messages)
    (nameless,) = parse_bytes(page.replace("https://chatgpt.com/g/g-abc/c/chat-7", "").encode())
    assert nameless.platform.value == "chatgpt_exporter"


def test_an_address_that_somebody_wrote_is_not_the_pages_own() -> None:
    page = "# Wicks\n\n#### You:\nSee https://chatgpt.com/c/chat-7\n\n#### ChatGPT:\nYes\n"
    (parsed,) = parse_bytes(page.encode())
    assert parsed.platform.value == "chatgpt_exporter"


def test_headings_that_stand_only_in_what_is_told_about_a_page_are_no_turns(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    page = "---\ntitle: Wicks\n#### You:\nHi\n#### ChatGPT:\nYes\n---\n\nNothing else.\n"
    report = import_files(kernel, principal, write(tmp_path / "page.md", page.encode()))
    assert (report.state, report.totals.new) == ("failed", 0)
    assert report.error is not None
    assert report.error.code == "unreadable_import"
