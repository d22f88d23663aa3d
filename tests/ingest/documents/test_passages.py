"""How documents are cut into what search finds."""

from itertools import pairwise

import pytest

from backread.tokens import estimate_tokens
from ingest.documents.pages import Page, Table, Unit
from ingest.documents.passages import PASSAGE_TOKENS, passages_of

_MOST = PASSAGE_TOKENS * 1.5  # a rest a little longer stays whole, and parts overlap


def page(number: int, text: str, unit: Unit = Unit.PAGE, **about: object) -> Page:
    return Page(unit, number, text, **about)  # type: ignore[arg-type]


def sentences(count: int, word: str = "word") -> str:
    return " ".join(f"Sentence {n} of the text has another {word} in it." for n in range(count))


def test_no_passage_reaches_over_a_page() -> None:
    pages = [page(number, sentences(60, f"p{number}")) for number in (1, 2, 3)]
    found = passages_of("a.pdf", pages)
    assert {each["location"] for each in found} == {"page 1", "page 2", "page 3"}
    for each in found:
        assert each["first_page"] == each["last_page"]
        assert each["text"].count(f"p{each['first_page']}") > 1
        assert 0 < each["token_count"] <= _MOST
        text = pages[each["first_page"] - 1].text
        assert text[each["start_offset"] : each["end_offset"]] == each["text"]


def test_parts_of_a_page_overlap_by_a_sentence_and_lose_nothing() -> None:
    text = sentences(80)
    found = passages_of("a.pdf", [page(1, text)])
    assert len(found) > 2
    assert found[0]["start_offset"] == 0
    assert found[-1]["end_offset"] == len(text)
    for before, after in pairwise(found):
        overlap = before["end_offset"] - after["start_offset"]
        assert 0 <= overlap <= 200
        assert after["text"].startswith("Sentence")


@pytest.mark.parametrize("text", ["日本語の文章です。" * 200, "ภาษาไทย" * 300, "x" * 9000])
def test_text_without_spaces_is_bounded_too(text: str) -> None:
    found = passages_of("a.txt", [page(1, text, Unit.SECTION)])
    assert found[-1]["end_offset"] == len(text)
    assert all(each["token_count"] <= _MOST for each in found)


def test_a_page_of_a_few_words_goes_with_the_next_and_both_are_named() -> None:
    pages = [page(1, "Oven manual"), page(2, sentences(3)), page(3, "The end.")]
    (only,) = passages_of("a.pdf", pages)
    assert only["location"] == "pages 1–3"
    assert only["first_page"] == 1
    assert only["last_page"] == 3
    assert only["text"].startswith("Oven manual\nSentence 0")
    assert only["text"].endswith("The end.")


def test_slides_of_a_few_words_stay_apart() -> None:
    pages = [page(n, f"Slide {n}\n\nBees", Unit.SLIDE, label=f"Slide {n}") for n in (1, 2)]
    assert [each["location"] for each in passages_of("a.pptx", pages)] == ["slide 1", "slide 2"]


def test_short_sections_go_together_and_a_long_one_begins_anew() -> None:
    text = f"# A\n\nOne.\n\n## B\n\nTwo.\n\n# C\n\n{sentences(60)}"
    marks = ((0, "A"), (text.index("## B"), "A › B"), (text.index("# C"), "C"))
    found = passages_of("a.md", [page(1, text, Unit.SECTION, label="A", marks=marks)])
    assert [each["location"] for each in found] == ["A", *["C"] * (len(found) - 1)]
    assert found[0]["text"] == "# A\n\nOne.\n\n## B\n\nTwo."
    assert found[1]["heading"] == "a.md › C"


def test_rows_of_a_table_carry_the_header_and_their_place() -> None:
    rows = [f"Plant {n} | {n} days" for n in range(2, 202)]
    table = Table("Plant | Water", 2, ("A", "B"))
    text = "\n".join(["Plant | Water", *rows])
    found = passages_of("a.xlsx", [page(1, text, Unit.SHEET, label="Beds", table=table)])
    assert len(found) > 3
    assert all(each["text"].startswith("Plant | Water\nPlant ") for each in found)
    assert all(each["token_count"] <= _MOST for each in found)
    first, last = found[0]["location"], found[-1]["location"]
    assert first.startswith("Beds!A2:B")
    assert last.endswith(":B201")
    shown = [row for each in found for row in each["text"].split("\n")[1:]]
    assert shown == rows
    for each in found:
        body = each["text"].removeprefix("Plant | Water\n")
        assert text[each["start_offset"] : each["end_offset"]] == body


def test_a_row_that_is_longer_than_a_passage_is_cut() -> None:
    row = " | ".join(sentences(20) for _ in range(5))
    table = Table("A | B", 2)
    found = passages_of("a.csv", [page(1, f"A | B\n{row}", Unit.SECTION, table=table)])
    assert len(found) > 3
    assert {each["location"] for each in found} == {"row 2"}
    assert all(estimate_tokens(each["text"]) <= _MOST for each in found)


def test_blank_pages_give_nothing() -> None:
    assert passages_of("a.pdf", [page(1, ""), page(2, " \n ")]) == []
