from datetime import UTC, datetime
from pathlib import Path

import pytest

from backread.domain import Principal
from backread.errors import UnreadableImport
from backread.kernel import Kernel
from ingest.importers import importer_for
from ingest.importers.poe import POE
from tests.ingest.exports import import_files, write
from tests.ingest.importers.parsing import EXPORTS, line_of, parse_file, parse_json, said


def test_a_shared_chats_page_is_read() -> None:
    (parsed,) = parse_file("poe", "share.html")
    assert (parsed.external_id, parsed.title) == ("aB3xY9", "Ink")
    assert parsed.url == "https://poe.com/s/aB3xY9"
    assert parsed.created_at == datetime(2024, 7, 1, 10, 40, tzinfo=UTC)
    assert said(parsed) == [
        "user: Draw a heron.",
        "assistant: ",
        "user: Which paper?",
        "assistant: Cotton.",
    ]
    drawing = line_of(parsed)[1]
    assert (drawing.author, drawing.attachments[0].mime_type) == ("pacarana", "image/png")
    assert parsed.news == {"message:empty": 1}


def test_a_transcript_is_read_with_rules_inside_answers() -> None:
    (parsed,) = parse_file("poe", "transcript.md")
    assert said(parsed) == [
        "user: Which nib?",
        "assistant: A fine one.\n\n---\n\n\nor a broad one.",
        "user: Thanks",
    ]
    assert parsed.model == "GPT-5.5"
    assert importer_for({"backread_text": "Note:\nx\n\n---\n\nMore:\ny"}) is None


def test_chats_that_begin_with_the_same_question_are_two() -> None:
    texts = [f"User:\nHi\n\n---\n\nGPT-5.5:\n{answer}\n" for answer in ("Hello.", "Hey.")]
    first, second = (POE.identify({"backread_text": text}) for text in texts)
    grown = POE.identify({"backread_text": f"{texts[0]}\n---\n\nUser:\nMore\n"})
    assert first == grown != second


def test_message_lists_are_read() -> None:
    messages = [
        {
            "role": "user",
            "content": "See",
            "attachments": [{"url": "https://example.invalid/a.png?x"}],
        },
        {"role": "bot", "content": "Seen."},
    ]
    (parsed,) = parse_json({"messages": messages})
    assert said(parsed) == ["user: See", "assistant: Seen."]
    assert parsed.messages[0].attachments[0].name == "a.png"
    (share,) = parse_json(
        {"chatShare": {"shareCode": "s", "messages": [{"author": "human", "text": "Hi"}]}}
    )
    assert said(share) == ["user: Hi"]
    with pytest.raises(UnreadableImport):
        POE.parse({"messages": []})


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_saved_page_is_imported(kernel: Kernel, principal: Principal, tmp_path: Path) -> None:
    page = write(tmp_path / "page.html", (EXPORTS / "poe" / "share.html").read_bytes())
    report = import_files(kernel, principal, page)
    assert (report.totals.new, report.platforms) == (1, {"poe": 1})
