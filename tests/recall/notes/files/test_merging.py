from hypothesis import given
from hypothesis import strategies as st

from recall.notes.files.merging import merged

texts = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n"]), max_size=8).map("".join)


@given(texts, texts)
def test_a_change_of_one_side_is_taken_and_the_same_change_of_both_once(
    base: str, changed: str
) -> None:
    assert merged(base, changed, base) == changed
    assert merged(base, base, changed) == changed
    assert merged(base, changed, changed) == changed


@given(texts, texts, texts)
def test_it_does_not_matter_which_side_is_which(base: str, one: str, other: str) -> None:
    assert merged(base, one, other) == merged(base, other, one)


@given(texts, texts, texts)
def test_no_line_that_only_one_side_has_is_lost(base: str, one: str, other: str) -> None:
    mine = "mine\n" + one
    result = merged(base, mine, other)
    if result is not None:
        assert result.count("mine\n") == 1


def test_changes_apart_are_merged_and_neighbouring_ones_are_not() -> None:
    base = "1\n2\n3\n4\n5\n"
    assert merged(base, "one\n2\n3\n4\n5\n", "1\n2\n3\n4\nfive\nsix") == ("one\n2\n3\n4\nfive\nsix")
    assert merged(base, "1\n2\n4\n5\n", "0\n1\n2\n3\n4\n5\n") == "0\n1\n2\n4\n5\n"
    assert merged(base, "one\n2\n3\n4\n5\n", "1\ntwo\n3\n4\n5\n") is None
    assert merged("", "a", "b") is None
