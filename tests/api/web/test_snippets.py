from api.web.snippets import marked_snippet, plain_line, query_terms


def test_words_are_marked_with_their_other_endings() -> None:
    snippet = marked_snippet("She bakes; baking bread is what bakers do.", query_terms("bake"))
    assert str(snippet).count("<mark>") == 3


def test_words_that_only_ask_are_not_marked() -> None:
    assert query_terms("what did I say about the rye?") == ["rye"]


def test_the_snippet_is_cut_around_what_was_asked_for() -> None:
    text = "filler " * 200 + "the copper pipes of the plumber " + "filler " * 200
    snippet = str(marked_snippet(text, query_terms("copper pipes")))
    assert "<mark>copper</mark> <mark>pipes</mark>" in snippet
    assert snippet.startswith("… ")
    assert snippet.endswith(" …")
    assert len(snippet) < 400


def test_text_without_spaces_is_marked_and_cut_too() -> None:
    snippet = str(marked_snippet("麦" * 500 + "発酵" + "麦" * 500, ["発酵"]))
    assert "<mark>発酵</mark>" in snippet
    assert len(snippet) < 400


def test_markdown_signs_are_left_out() -> None:
    assert plain_line("## Title\n\n> a **b** `c`\n- [d](https://e.example)") == "Title a b c d"
    assert plain_line("snake_case * 2 # no heading") == "snake_case * 2 # no heading"
