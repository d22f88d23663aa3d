from backread.tokens import estimate_tokens
from ingest.normalise import clean


def test_what_databases_and_utf8_cannot_hold_goes() -> None:
    assert clean("\ufeffa\x00b\ud83dc") == "abc"


def test_citation_marks_go_and_other_private_signs_stay() -> None:
    assert clean("x\ue200cite\ue201 \uf8ff") == "xcite \uf8ff"


def test_line_ends_become_one_kind() -> None:
    assert clean("a\r\nb\rc") == "a\nb\nc"


def test_everything_else_stays_as_written() -> None:
    text = "Füße\t日本語 👩‍👩‍👧 \u200b\x1b[0m"
    assert clean(text) == text


def test_token_estimates_are_near_in_every_script() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens("a") == 1
    assert estimate_tokens("The kettle is on the stove in the kitchen.") == 11
    assert estimate_tokens("今日は東京で花見をしました。") == 14
    assert 10 <= estimate_tokens("Чайник стоит на плите.") <= 16
