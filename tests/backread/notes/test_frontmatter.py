from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backread.errors import InvalidInput
from backread.notes.frontmatter import join, merge, read, split, write

letters = st.one_of(
    st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=20),
    st.sampled_from(
        [
            "",
            "yes",
            "no",
            "null",
            "~",
            "2026-01-01",
            "1e3",
            "0o7",
            "12:30",
            "- a",
            "a: b",
            "# c",
            "---",
            "...",
            "&a",
            "*a",
            "!x",
            "<<",
            "=",
            "\u2028",
            "\x85",
            "\ufeff",
            "a\nb\n",
            " x ",
            "'",
            '"',
            "\t",
            "|",
            ">",
            "{",
            "[",
            "%",
            "@",
            "`",
            "1_000",
            ".inf",
            "+1",
            "0x1F",
        ]
    ),
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63) + 1, 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    letters,
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(letters, inner, max_size=4)
    ),
    max_leaves=12,
)
maps = st.dictionaries(letters, values, max_size=6)


@settings(deadline=None, max_examples=300)
@given(maps)
def test_every_map_comes_back_from_its_text_with_its_order(wanted: dict[str, Any]) -> None:
    text = write(wanted)
    found = read(text)
    assert found == wanted
    assert list(found) == list(wanted)
    assert [type(each) for each in found.values()] == [type(each) for each in wanted.values()]


@settings(deadline=None, max_examples=200)
@given(maps, st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_a_file_is_split_into_what_it_was_joined_from(wanted: dict[str, Any], body: str) -> None:
    front = write(wanted)
    assert split(join(front, body))[:2] == (front, body)


@pytest.mark.parametrize(
    "body",
    ["---\na: 1\n---\nx", "---\n---\nx", "---\n[\n---\nx", "---\n", "--- \r\na: 1\r\n---\r\n"],
)
def test_a_body_that_looks_like_front_matter_stays_a_body(body: str) -> None:
    assert split(join(None, body))[:2] == (None, body)


@settings(deadline=None, max_examples=200)
@given(maps, maps)
def test_merging_replaces_top_level_keys_and_leaves_the_others(
    old: dict[str, Any], new: dict[str, Any]
) -> None:
    assert read(merge(write(old), new)) == old | new


def test_merging_keeps_comments_order_and_quotes_of_what_it_does_not_touch() -> None:
    front = "# mine\ntitle: 'A'  # quoted\ndate: 2026-01-01\ntags: [a, b]\nstatus: open\n"
    merged = merge(front, {"status": "done", "new": [1]})
    assert merged == (
        "# mine\ntitle: 'A'  # quoted\ndate: 2026-01-01\ntags: [a, b]\nstatus: done\nnew:\n  - 1\n"
    )


@pytest.mark.parametrize(
    "front",
    [
        "a: &x [1]\nb: *x\n",
        "a: &a [l, l]\nb: &b [*a, *a]\nc: &c [*b, *b]\n",
        "a: !!python/object/apply:os.system ['true']\n",
        "a: !!binary aGk=\n",
        "a: !!set {x, y}\n",
        "base: &b {x: 1}\nc: {<<: *b}\n",
        "- a list\n",
        "just words\n",
        "a: 1\na: 2\n",
        "a: [1, 2\n",
        "? [1, 2]\n: x\n",
        "a: .nan\n",
        "a: " + "[" * 2000 + "]" * 2000 + "\n",
        "a: " + "9" * 5000 + "\n",
        "a: 0x" + "f" * 200 + "\n",
        "x: " + "y" * 70_000 + "\n",
        "".join(f"k{index}: 1\n" for index in range(6000)),
        "a: b\n--- \nc: d\n",
        "%YAML 9.9\n",
    ],
)
def test_hostile_and_broken_yaml_is_refused_and_stays_a_part_of_the_body(front: str) -> None:
    with pytest.raises(InvalidInput):
        read(front)
    text = f"---\n{front}---\nbody"
    found_front, body, problem = split(text)
    if found_front is None:
        assert body == text
        assert join(None, body) == text
    else:  # an inner line of dashes ends the block
        assert problem == ""


def test_times_stay_as_they_are_written() -> None:
    assert read("a: 2026-01-01\nb: 2026-01-01T10:00:00Z\n7: x\ntrue: y\n") == {
        "a": "2026-01-01",
        "b": "2026-01-01T10:00:00Z",
        "7": "x",
        "true": "y",
    }


@pytest.mark.parametrize("value", [2**63, float("nan"), float("inf"), "a\x00", "\ud800", {1, 2}])
def test_values_that_json_has_no_form_for_are_refused(value: Any) -> None:
    with pytest.raises(InvalidInput):
        write({"a": value})
