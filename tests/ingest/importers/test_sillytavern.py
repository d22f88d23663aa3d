from datetime import UTC, datetime
from typing import Any

import pytest

from backread.domain import MessageKind
from backread.errors import UnreadableImport
from ingest.importers.sillytavern import SILLYTAVERN
from ingest.importers.tavern import tavern_time
from tests.ingest.importers.parsing import (
    beside,
    elsewhere,
    line_of,
    parse_file,
    parse_json,
    parse_lines,
    said,
)


def test_a_chat_shows_the_chosen_swipes_and_keeps_the_others_as_branches() -> None:
    (parsed,) = parse_file("sillytavern", "chat.jsonl")
    assert (parsed.external_id, parsed.title) == ("st-1", "Keeper")
    assert parsed.model == "llama"
    assert said(parsed) == [
        "assistant: The lamp is lit.",
        "user: May I come in?",
        "assistant: Mind the step.",
    ]
    assert elsewhere(parsed) == ["Who goes there?"]
    assert beside(parsed) == [("reasoning", "", "Be calm.")]
    assert line_of(parsed)[2].kind is MessageKind.HIDDEN
    assert line_of(parsed)[3].attachments[0].name == "step.png"
    assert parsed.news == {}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2024-9-28@14h 03m 22s 118ms", datetime(2024, 9, 28, 14, 3, 22, 118000, tzinfo=UTC)),
        ("2024-9-28 @14h 3m 22s", datetime(2024, 9, 28, 14, 3, 22, tzinfo=UTC)),
        ("September 28, 2024 2:03pm", datetime(2024, 9, 28, 14, 3, tzinfo=UTC)),
        ("2024-09-28T14:03:22Z", datetime(2024, 9, 28, 14, 3, 22, tzinfo=UTC)),
        (1727532202, datetime(2024, 9, 28, 14, 3, 22, tzinfo=UTC)),
        (1727532202000, datetime(2024, 9, 28, 14, 3, 22, tzinfo=UTC)),
        ("2024-19-28@14h 03m 22s", None),
        ("yesterday", None),
        (None, None),
    ],
)
def test_every_form_of_date_is_read(value: Any, expected: datetime | None) -> None:
    assert tavern_time(value) == expected


def test_the_chats_of_other_tools_are_read() -> None:
    pairs = [["<|BEGIN-VISIBLE-CHAT|>", "Hello."], ["Tide?", "High."], ["And?", ""]]
    (ooba,) = parse_json({"internal": pairs, "visible": pairs, "data_visible": pairs})
    assert said(ooba) == ["assistant: Hello.", "user: Tide?", "assistant: High.", "user: And?"]
    messages = [{"_id": "a", "msg": "Hail", "userId": "u"}, {"_id": "b", "msg": "Well met"}]
    (agnai,) = parse_json({"name": "x", "messages": messages})
    assert said(agnai) == ["user: Hail", "assistant: Well met"]
    chub = parse_lines(
        {"user_name": "Ada", "character_name": "Bo", "chat_metadata": {}},
        {"name": "Bo", "is_user": False, "mes": {"message": "Hey"}},
    )
    assert said(chub) == ["assistant: Hey"]


def test_chats_that_begin_with_the_same_greeting_are_two() -> None:
    greeting = ["", "Welcome."]
    first, second, grown = (
        SILLYTAVERN.identify({"data_visible": [greeting, *pairs]})
        for pairs in ([["A?", "B."]], [["C?", "D."]], [["A?", "B."], ["E?", "F."]])
    )
    assert first == grown != second


def test_a_swipe_keeps_its_time_and_model_and_a_picture_its_prompt() -> None:
    info = {"send_date": 1727532202, "extra": {"model": "older", "reasoning": "Hm."}}
    parsed = parse_lines(
        {"user_name": "Ada", "character_name": "Bo", "chat_metadata": {}},
        {
            "name": "Bo",
            "is_user": False,
            "mes": "Two",
            "swipes": ["One", "Two"],
            "swipe_info": [info, {}],
            "extra": {
                "image": "a/lamp.png",
                "title": "a lamp at night",
                "file": {"name": "log.txt", "size": 4, "text": "calm"},
            },
        },
    )
    (swipe,) = [m for m in parsed.messages if m.external_id not in parsed.shown_line]
    assert (swipe.text, swipe.model) == ("One", "older")
    assert swipe.created_at == datetime(2024, 9, 28, 14, 3, 22, tzinfo=UTC)
    assert [aside.text for aside in swipe.asides] == ["Hm."]
    (shown,) = line_of(parsed)
    assert [(a.name, a.text) for a in shown.attachments] == [
        ("lamp.png", "a lamp at night"),
        ("log.txt", "calm"),
    ]


def test_a_chat_without_an_id_keeps_the_same_one_as_it_grows() -> None:
    header = {"user_name": "A", "character_name": "B", "create_date": "x"}
    lines = [header, {"name": "B", "is_user": False, "mes": "Hi"}]
    first = parse_lines(*lines)
    grown = parse_lines(*lines, {"name": "A", "is_user": True, "mes": "Ho"}, {"odd": 1}, "{cut")
    assert first.external_id == grown.external_id
    assert grown.news == {"line:none": 1, "line:unreadable": 1}
    with pytest.raises(UnreadableImport):
        SILLYTAVERN.parse({"data_visible": []})
