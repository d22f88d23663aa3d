from hypothesis import given, settings
from hypothesis import strategies as st

from backread.tokens import estimate_tokens
from recall.folders.chunking import CHUNK_TOKENS, chunks

PLAIN = {"folder_description": "", "description": ""}
MARKDOWN = st.lists(
    st.sampled_from(
        [
            "# Head\n",
            "## Below\n",
            "A sentence that says something. ",
            "字" * 150,
            "word " * 90,
            "\n\n",
            "- item\n",
            "| a | b |\n|---|---|\n| 1 | 2 |\n",
            "```py\ncode = 1\n```\n",
            "> said\n",
            "\r\n",
            "\r",
            "---\nkey: value\n---\n",
            "x" * 3000,
        ]
    ),
    max_size=30,
).map("".join)


@given(MARKDOWN)
@settings(max_examples=300, deadline=None)
def test_parts_are_in_order_small_and_lose_no_text_but_headings(content: str) -> None:
    made = chunks("Name", content, **PLAIN)
    end = 0
    for chunk in made:
        assert end <= chunk.start < chunk.end <= len(content)
        shown = content[chunk.start : chunk.end]
        assert estimate_tokens(shown) <= CHUNK_TOKENS + 40  # what lies between blocks
        assert chunk.text.endswith(shown)
        end = chunk.end


def test_every_word_of_a_text_stands_in_a_part() -> None:
    content = "# Piers\n\n" + " ".join(f"word{number}." for number in range(2000))
    made = chunks("Survey", content, **PLAIN)
    assert len(made) > 5
    shown = "".join(content[chunk.start : chunk.end] for chunk in made)
    assert shown.split() == content.removeprefix("# Piers\n\n").split()


def test_a_part_is_embedded_below_its_description_name_and_headings() -> None:
    content = "# Piers\n\n## Pier 2\n\nIt needs planks."
    (chunk,) = chunks("Survey", content, folder_description="Harbour", description="")
    assert chunk.text == "Harbour\nSurvey › Piers › Pier 2\nIt needs planks."


def test_a_description_of_its_own_takes_the_place_of_everything() -> None:
    (chunk,) = chunks("Dump", "0x00 " * 900, folder_description="Harbour", description=" Log ")
    assert (chunk.text, chunk.start, chunk.end) == ("Log", 0, 1200)


def test_a_record_without_text_has_no_parts() -> None:
    assert chunks("Empty", "# Only a heading\n", **PLAIN) == []
