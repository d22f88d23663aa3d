"""Text on its way to a model."""

from hypothesis import given
from hypothesis import strategies as st

from backread.text.cleaning import clean

# Pieces of which marks of roles and of our own markers are made.
PIECES = st.sampled_from(
    [
        *"<>[]|=-:/ \n\t*#_",
        "user",
        "System",
        "im_start",
        "recall",
        "end of",
        "INST",
        "tool_call",
        "antml:invoke",
        "Ada drinks tea.",
        "naïve：",
    ]
)


@given(st.lists(PIECES | st.text(max_size=3), max_size=12).map("".join))
def test_text_that_looks_harmless_gets_the_same_cleaning_as_any_other(text: str) -> None:
    # A character that is always taken out, so that nothing can be passed over.
    assert clean(text) == clean("\x00" + text)


def test_plain_sentences_stay_as_they_are() -> None:
    for text in (
        "Ada's cat (4) is called Pixel; isn't it?",
        "a-b -- c",
        "01m8r6nx74dzsh3v5mfnpw1328",
    ):
        assert clean(text) == text
