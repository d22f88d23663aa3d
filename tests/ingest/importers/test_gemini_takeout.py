from datetime import UTC, datetime
from pathlib import Path

import pytest

from backread.domain import ParsedConversation, Principal
from backread.kernel import Kernel
from ingest.importers.activity_dates import looks_like_date, read_date
from tests.ingest.exports import as_zip, import_files, write
from tests.ingest.importers.parsing import (
    EXPORTS,
    line_of,
    parse_bytes,
    parse_file,
    parse_json,
    said,
)


def _by_title(name: str) -> dict[str, ParsedConversation]:
    return {parsed.title: parsed for parsed in parse_file("gemini_takeout", name)}


def test_rows_of_one_chat_are_one_conversation_oldest_first() -> None:
    parsed = _by_title("MyActivity.json")["What do owls do?"]
    assert parsed.external_id == "owlchat01"
    assert parsed.url == "https://gemini.google.com/app/owlchat01"
    assert said(parsed) == [
        "user: What do owls do?",
        "assistant: By day they sleep.",
        "user: And at night?",
        "assistant: They hunt.\n\n- mice\n- voles",
    ]
    question, answer, *_ = line_of(parsed)
    assert question.created_at == datetime(2026, 7, 20, 15, 15, 21, 568000, tzinfo=UTC)
    assert [a.name for a in question.attachments] == ["owl.pdf"]
    assert [c.url for c in answer.citations] == ["https://example.invalid/owl"]


def test_rows_without_a_chat_stay_single_exchanges_in_any_language() -> None:
    parsed = _by_title("MyActivity.json")
    assert said(parsed["俳句を書いて"]) == ["user: 俳句を書いて", "assistant: 梟の声"]
    assert said(parsed["¿Y ayer?"]) == ["user: ¿Y ayer?"]
    assert said(parsed["¿Y anteayer?"]) == ["user: ¿Y anteayer?"]
    assert parsed["¿Y ayer?"].external_id != parsed["¿Y anteayer?"].external_id


def test_a_picture_alone_is_a_prompt_and_an_unknown_verb_is_news() -> None:
    conversations = parse_file("gemini_takeout", "MyActivity.json")
    (picture,) = (p for p in conversations if "assistant: A barn owl." in said(p))
    assert [a.name for a in line_of(picture)[0].attachments] == ["photo.jpg"]
    (unknown,) = (p for p in conversations if "assistant: Sim." in said(p))
    assert unknown.news == {"row:unknown verb": 1}
    assert said(unknown)[0] == "user: Pergunta nova sobre corujas"


def test_what_was_done_and_not_said_is_no_conversation() -> None:
    texts = [text for p in parse_file("gemini_takeout", "MyActivity.json") for text in said(p)]
    for other in ("Canvas", "feedback", "Watched", "Etwas"):
        assert not any(other in text for text in texts)


def test_the_page_form_comes_to_the_same_conversation() -> None:
    page = _by_title("MyActivity.html")["What do owls do?"]
    rows = _by_title("MyActivity.json")["What do owls do?"]
    assert page.external_id == rows.external_id
    assert said(page)[1:] == said(rows)[1:]
    assert [m.external_id for m in line_of(page)][2:] == [m.external_id for m in line_of(rows)][2:]
    assert line_of(page)[0].created_at == datetime(2026, 7, 20, 15, 15, 21, tzinfo=UTC)
    assert [a.name for a in line_of(page)[0].attachments] == ["owl.pdf"]


def test_pages_in_other_languages_and_zones_are_read() -> None:
    parsed = _by_title("MyActivity.html")
    czech = parsed["Kde spí sova? A sýc?"]
    assert line_of(czech)[0].text == "Kde spí sova?\nA sýc?"
    assert line_of(czech)[1].text == "V dutině.\n\n```\nif x < 1:\n    pass\n```"
    assert line_of(czech)[0].created_at == datetime(2026, 1, 1, 9, 35, tzinfo=UTC)
    assert parsed["Where?"].created_at is None
    assert parsed["Where?"].news == {"date:not understood": 1}
    assert len(parsed) == 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Feb 5, 2025, 9:01:02\u202fPM CET", datetime(2025, 2, 5, 20, 1, 2, tzinfo=UTC)),
        ("Feb 5, 2025, 12:01:02 AM UTC", datetime(2025, 2, 5, 0, 1, 2, tzinfo=UTC)),
        ("5 févr. 2025, 21:01:02 GMT+02:00", datetime(2025, 2, 5, 19, 1, 2, tzinfo=UTC)),
        ("05.02.2025, 21:01:02 MEZ", datetime(2025, 2, 5, 20, 1, 2, tzinfo=UTC)),
        ("2025/02/05 21:01:02 JST", datetime(2025, 2, 5, 12, 1, 2, tzinfo=UTC)),
        ("2025年2月5日 21:01:02 JST", datetime(2025, 2, 5, 12, 1, 2, tzinfo=UTC)),
        ("5 de fev. de 2025, 21:01:02 BRT", datetime(2025, 2, 6, 0, 1, 2, tzinfo=UTC)),
        ("5 Φεβ 2025, 9:01:02 μ.μ. EET", datetime(2025, 2, 5, 19, 1, 2, tzinfo=UTC)),
        ("Feb 5, 2025, 9:01:02 PM GMT-3:30", datetime(2025, 2, 6, 0, 31, 2, tzinfo=UTC)),
        ("Feb 5, 2025, 9:01:02 PM", None),
        ("Feb 31, 2025, 9:01:02 PM UTC", None),
        ("Foo 5, 2025, 9:01:02 PM UTC", None),
    ],
)
def test_dates_are_read_for_certain_or_not_at_all(text: str, expected: datetime | None) -> None:
    assert looks_like_date(text)
    assert read_date(text) == expected


def test_words_with_numbers_are_no_date() -> None:
    assert not looks_like_date("Meet me in 2025 at 9")
    assert read_date("nothing") is None


@pytest.mark.parametrize("chunk", [5, 64, 1000])
def test_pages_come_apart_the_same_wherever_chunks_end(chunk: int) -> None:
    body = (EXPORTS / "gemini_takeout" / "MyActivity.html").read_bytes()
    assert parse_bytes(body, chunk=max(chunk, 64)) == parse_bytes(body)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_takeout_is_imported_whatever_its_files_are_called(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    folder = "Takeout/我的活動/Gemini Apps/"
    members = {
        folder + "我的活動.html": (EXPORTS / "gemini_takeout" / "MyActivity.html").read_bytes(),
        "Takeout/archive_browser.html": b"<!DOCTYPE html><html><body>Index</body></html>",
    }
    report = import_files(kernel, principal, as_zip(members, tmp_path / "takeout.zip"))
    assert (report.totals.new, report.totals.failed) == (3, 0)
    assert report.platforms == {"gemini_takeout": 3}
    rows = (EXPORTS / "gemini_takeout" / "MyActivity.json").read_bytes()
    further = import_files(kernel, principal, write(tmp_path / "x.json", rows))
    assert (further.totals.new, further.totals.skipped) == (5, 1)
    assert further.totals.updated + further.totals.unchanged == 1


def test_files_that_a_rows_subtitles_name_are_attachments() -> None:
    row = {
        "header": "Gemini Apps",
        "title": "Prompted What is this?",
        "time": "2026-03-01T10:00:00.000Z",
        "products": ["Gemini Apps"],
        "subtitles": [{"name": "Attached 1 file."}, {"name": "- moss.jpg"}],
    }
    (parsed,) = parse_json([row])
    assert [file.name for file in parsed.messages[0].attachments] == ["moss.jpg"]
