import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recall.folders.propositions import MOST, propositions


def facts(content: str, name: str = "Notes") -> list[str]:
    return [each.text for each in propositions(name, content)]


@pytest.mark.parametrize(
    ("content", "made"),
    [
        (
            "The ferry runs on Sundays. It needs six men.",
            ["The ferry runs on Sundays.", "The ferry needs six men."],
        ),
        (
            "Ada Byron leads Harbour. She likes tea. Her desk is upstairs.",
            ["Ada Byron leads Harbour.", "Ada Byron likes tea.", "Ada Byron's desk is upstairs."],
        ),
        (
            "Ada lives in Lisbon and she works in Porto.",
            ["Ada lives in Lisbon.", "Ada works in Porto."],
        ),
        ("Ada met Dr. Okafor in May. Is that so?", ["Ada met Dr. Okafor in May."]),
        (
            "Ada came on Monday; Boris left on Friday.",
            ["Ada came on Monday.", "Boris left on Friday."],
        ),
    ],
)
def test_sentences_become_facts_that_name_what_they_are_about(
    content: str, made: list[str]
) -> None:
    assert facts(content) == made


def test_items_carry_the_line_that_introduces_them() -> None:
    content = "# Billing\n\nThe API allows:\n\n- 100 requests a minute\n- uploads of 5 MB\n"
    assert facts(content) == [
        "The API allows 100 requests a minute",
        "The API allows uploads of 5 MB",
    ]


def test_fields_and_fragments_carry_their_heading() -> None:
    content = "# Larkspur\n\n- **Contact**: Ines\n- Status: renewal\n\n## Risks\n\n- old servers\n"
    assert facts(content) == [
        "Larkspur: Contact: Ines",
        "Larkspur: Status: renewal",
        "Larkspur, risks: old servers",
    ]


def test_rows_carry_the_names_of_their_columns() -> None:
    content = "# Prices\n\n| plan | price |\n|---|---|\n| Free | 0 € |\n| Team | 24 € |\n"
    assert facts(content) == ["Prices: plan Free, price 0 €", "Prices: plan Team, price 24 €"]


def test_a_pronoun_that_cannot_mean_the_subject_is_left_and_its_heading_put_before() -> None:
    made = facts("# Sensors\n\nLindgren used many. They were placed in rooms.")
    assert not any(each.startswith("Lindgren were") for each in made)


def test_code_front_matter_and_questions_state_nothing() -> None:
    content = "---\ntitle: x\n---\n\n```\nAda was here once.\n```\n\nWho was Ada then?\n"
    assert facts(content) == []


def test_the_same_fact_is_given_once() -> None:
    assert facts("Ada likes Earl Grey.\n\nAda likes Earl Grey.") == ["Ada likes Earl Grey."]


def test_a_statement_that_names_nothing_carries_its_heading() -> None:
    assert facts("# Pier 2\n\nThe planks are rotten.") == ["Pier 2: The planks are rotten."]


def test_a_fragment_carries_its_heading() -> None:
    content = "# Mooring\n\nThe mast is copper. 18 ropes. Salt!"
    assert facts(content) == ["Mooring: The mast is copper.", "Mooring: 18 ropes."]


def test_other_languages_keep_their_sentences() -> None:
    assert facts("东京是日本的首都。大阪很大。") == ["东京是日本的首都。", "大阪很大。"]
    made = facts("# Wohnung\n\nDie Miete beträgt 940 €. Sie steigt im Mai.")
    assert made[0] == "Die Miete beträgt 940 €."
    assert "Sie steigt im Mai." in made[1]


@given(st.text(alphabet=st.sampled_from("aA. ,;:!?\n\r#-*|`>[]()_1字。é\u200b"), max_size=300))
@settings(max_examples=500, deadline=None)
def test_any_text_gives_facts_whose_places_lie_in_it(content: str) -> None:
    made = propositions("Notes", content)
    assert len(made) <= MOST
    for each in made:
        assert 0 <= each.start < each.end <= len(content)
        assert each.text.strip()


def test_front_matter_that_never_ends_is_text() -> None:
    assert facts("---\r\n" + "a: b\r\n" * 200)


@pytest.mark.parametrize(
    "content",
    [
        "# " + "a " * 20_000 + "\n\n" + "- one two three\n" * 10 + "- four five six\n" * 500,
        "a " * 20_000 + ":\n\n" + "".join(f"- part {each}\n" for each in range(500)),
        "A" * 40_000 + " is good. " + "".join(f"It has {each} legs. " for each in range(500)),
        "| " + "a" * 40_000 + " | b |\n|-|-|\n" + "".join(f"| x{n} | y |\n" for n in range(500)),
    ],
)
def test_what_stands_above_is_not_repeated_at_any_length(content: str) -> None:
    made = facts(content)
    assert made
    assert sum(map(len, made)) < 10 * len(content)
