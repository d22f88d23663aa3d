import pytest

from backread.text.language import language_of
from benchmarks.summaries.data import read_chats

CODES = {
    "english": "en",
    "german": "de",
    "Le vélo cargo": "fr",
    "La chorale": "fr",
    "La panadería en línea": "es",
    "El tejado": "es",
    "Curso de cerâmica": "pt",
    "Il matrimonio": "it",
    "Ремонт кухни": "ru",
    "阳台种菜": "zh",
    "京都の旅行": "ja",
}


@pytest.mark.parametrize("title", [title for title in CODES if title not in {"english", "german"}])
def test_the_language_of_a_chat_is_told(title: str) -> None:
    (chat,) = [each for each in read_chats() if each.title == title]
    assert language_of(" ".join(turn.text for turn in chat.turns)).code == CODES[title]


def test_english_and_german_chats_are_told_apart() -> None:
    codes = [language_of(" ".join(t.text for t in chat.turns)).code for chat in read_chats()]
    assert codes.count("en") == 8
    assert codes.count("de") == 3


@pytest.mark.parametrize("text", ["", "12 34", "x = y + z", "Zyx wvu tsr qpo nml kji hgf"])
def test_what_cannot_be_told_is_left_open(text: str) -> None:
    assert language_of(text).code == ""
    assert "most of the text" in language_of(text).name_for_prompt
