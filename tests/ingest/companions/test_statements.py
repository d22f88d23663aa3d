"""How a platform's text about a person becomes statements that can be judged one by one."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.companions.statements import MAX_CHARACTERS, Statement, statements_in


def texts(markdown: str) -> list[str]:
    return [statement.text for statement in statements_in(markdown)]


def test_a_paragraph_stays_whole_under_its_heading() -> None:
    markdown = (
        "**Work context**\n\nAda runs a pottery. She teaches,\ntoo.\n\n# Home\n\nA flat in Porto."
    )
    assert list(statements_in(markdown)) == [
        Statement("Ada runs a pottery. She teaches,\ntoo.", "Work context"),
        Statement("A flat in Porto.", "Home"),
    ]


def test_list_items_are_statements_and_keep_what_hangs_on_them() -> None:
    markdown = "Tools:\n- A kiln\n  - electric\n- A wheel\n\n  bought in May\n1. First\n2) Second"
    assert list(statements_in(markdown)) == [
        Statement("A kiln\n  - electric", "Tools"),
        Statement("A wheel\n  bought in May", "Tools"),
        Statement("First", "Tools"),
        Statement("Second", "Tools"),
    ]


def test_an_indented_list_is_a_list() -> None:
    assert texts("  - one\n  - two\n    deeper") == ["one", "two\n    deeper"]


def test_what_the_platform_was_told_and_what_it_guessed_is_noted() -> None:
    found = list(statements_in("- [stated] Likes clay\n- [Inferred] Works at night"))
    assert found == [
        Statement("Likes clay", "", "stated"),
        Statement("Works at night", "", "inferred"),
    ]


def test_rules_and_front_matter_are_no_statements() -> None:
    assert texts("---\nname: x\n---\nReal.\n\n---\n\nToo.") == ["Real.", "Too."]
    assert texts("") == texts(" \n\n ") == []


def test_bold_words_at_the_start_of_a_sentence_are_no_heading() -> None:
    assert texts("**Ada** runs a pottery.\n**She** teaches.") == [
        "**Ada** runs a pottery.\n**She** teaches."
    ]


def test_a_text_that_no_memory_could_hold_is_cut_and_nothing_is_lost() -> None:
    markdown = "Ada fires clay. " * 2000
    pieces = texts(markdown)
    assert len(pieces) > 1
    assert all(len(piece) <= MAX_CHARACTERS for piece in pieces)
    assert "".join(" ".join(pieces).split()) == "".join(markdown.split())
    assert [len(piece) for piece in texts("x" * 25_000)] == [10_000, 10_000, 5_000]


@given(st.text(alphabet="ab -*#\n\t1.):[]", max_size=300))
def test_words_of_any_text_come_out_in_their_order(markdown: str) -> None:
    """Only marks of structure may go: the letters of statements and headings are the text's."""
    letters = [each for each in markdown if each in "ab"]
    found = list(statements_in(markdown))
    spoken = [each for statement in found for each in statement.text if each in "ab"]
    rest = iter(letters)
    assert all(each in rest for each in spoken)


@pytest.mark.parametrize("line", [f"# a{' ' * 100_000}b", f"# a{' #' * 50_000} b", "# " * 100_000])
def test_a_heading_is_found_in_a_time_that_goes_with_its_length(line: str) -> None:
    began = time.process_time()
    assert list(statements_in(f"{line}\n- Fires at cone 6."))[-1].text == "Fires at cone 6."
    assert time.process_time() - began < 5  # hours, when the pattern can go back
