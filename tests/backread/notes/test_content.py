from hypothesis import given
from hypothesis import strategies as st

from backread.notes.content import folded, searched_text, snippet_of, tags_of, title_of
from backread.notes.passages import MAX_CHARACTERS, passages_of


def test_a_title_is_given_or_a_heading_or_the_files_name() -> None:
    assert title_of("a/b.md", {"title": " Given \n one"}, "# Heading") == "Given one"
    assert title_of("a/b.md", {"title": 3}, "\n\n#  Heading ##\ntext") == "Heading"
    assert title_of("work/plan.md", {}, "text\n# Later") == "Plan"
    assert title_of("work/plan.md", {}, "## Second level") == "Plan"


def test_tags_in_code_headings_and_numbers_are_none() -> None:
    body = "# Title\n#a text#no #b-c/d, (#no)\n```\n#no\n```\n`#no` #12 #1a\n~~~py\n#no\n"
    assert tags_of({"tags": ["#x", "x", 7, None]}, body) == ["x", "a", "b-c/d", "1a"]
    assert tags_of({"tags": "one, two three"}, "") == ["one", "two", "three"]


@given(st.text(max_size=300), st.text(min_size=1, max_size=5))
def test_a_snippet_shows_the_match_when_the_body_has_one(body: str, query: str) -> None:
    snippet = snippet_of(body, query)
    assert len(snippet) <= 210
    if folded(query).strip() and query.isalnum() and query.isascii() and query in body:
        assert query.casefold() in snippet.casefold()


def test_no_match_reaches_from_the_title_into_the_body() -> None:
    assert "ab" not in searched_text("a", "b", ["c"])
    assert "\nb\n" not in searched_text("a", "b", ["c"]).replace("\n\x1f\n", "")


@given(st.text(st.sampled_from("ab. \n!。"), max_size=6000))
def test_passages_hold_every_word_and_are_short(body: str) -> None:
    pieces = passages_of("T", body)
    assert all(len(each) <= MAX_CHARACTERS + 10 for each in pieces)
    joined = "".join(piece.removeprefix("T") for piece in pieces)
    assert "".join(joined.split()) == "".join(body.split())
