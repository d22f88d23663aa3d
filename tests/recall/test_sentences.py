"""What of a message can stand in an answer by itself."""

import time

import pytest

from recall.sentences import sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("## Soil\nIt holds water.", ["It holds water."]),
        ("1. **Soil Preparation**\n   It takes a day.", ["It takes a day."]),
        ("- **Depth:** 30 cm is *enough*.", ["Depth: 30 cm is enough."]),
        ("You will need:\n- a spade", ["a spade"]),
        ("See [the guide](https://a.example/b(1)) or `man ls`.", ["See the guide or man ls."]),
        ("| Wood | Years |\n|---|---:|\n| Oak | 20 |", ["Oak · 20"]),
        ("Run it.\n```python\nprint(1)\n```\nThen stop.", ["Run it.", "Then stop."]),
        ("const a = 5;\nThat is all.", ["That is all."]),
        ("total = a + b;\n```\nThe sum is kept.", ["The sum is kept."]),
        ("Mr. Hale paid. Ms. Orr did not.", ["Mr. Hale paid.", "Ms. Orr did not."]),
        (
            "Rename my_old_name, keep 2*3*4 and `__init__`.",
            ["Rename my_old_name, keep 2*3*4 and __init__."],
        ),
        ("今天下雨。明天晴！", ["今天下雨。", "明天晴！"]),
        ("---\n***\n", []),
    ],
)
def test_sentences_are_plain_and_stand_alone(text: str, expected: list[str]) -> None:
    assert list(sentences(text)) == expected


def test_a_line_of_dots_costs_no_more_than_its_length() -> None:
    began = time.process_time()
    assert len("".join(sentences("Kilns " + "." * 100_000))) >= 100_000
    assert time.process_time() - began < 5  # minutes, when each dot is tried as a beginning


def test_long_sentences_are_cut_between_words() -> None:
    text = "word " * 300
    cut = list(sentences(text))
    assert all(len(each) <= 400 for each in cut)
    assert " ".join(cut).split() == text.split()
