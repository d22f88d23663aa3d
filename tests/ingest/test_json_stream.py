import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.json_stream import MAX_DEPTH, Element, load, split

_MANY = 1 << 20


def _split(text: bytes, *, chunk: int = 1 << 16, most: int = _MANY) -> list[Element]:
    def chunks() -> Iterator[bytes]:
        for start in range(0, len(text), chunk):
            yield text[start : start + chunk]

    return list(split(chunks(), most))


def _values(text: bytes, **options: int) -> list[Any]:
    elements = _split(text, **options)
    assert [element.problem for element in elements] == [""] * len(elements)
    return [load(element.body) for element in elements]


_TRICKY = [
    {"a": 'quote " and \\ and \\" and [ { ] }', "b": ["\\\\", '\\"', '\\\\"']},
    {"c": {"d": [1, [2, [3]]]}, "e": "日本語 \u2028 \ue200cite\ue201"},
    {"f": "\\" * 7, "g": "", "": None},
]


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 64, 100_000])
def test_a_list_comes_apart_the_same_wherever_chunks_end(chunk: int) -> None:
    assert _values(json.dumps(_TRICKY).encode(), chunk=chunk) == _TRICKY
    assert _values(json.dumps(_TRICKY, ensure_ascii=False).encode(), chunk=chunk) == _TRICKY


_json = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=20,
)
_objects = st.lists(st.dictionaries(st.text(max_size=6), _json, max_size=4), max_size=5)


@settings(max_examples=60, deadline=None)
@given(objects=_objects, chunk=st.integers(1, 50), escape=st.booleans())
def test_any_list_of_objects_comes_out_as_it_went_in(
    objects: list[Any], chunk: int, escape: bool
) -> None:
    text = json.dumps(objects, ensure_ascii=escape).encode("utf-8", "surrogatepass")
    assert _values(text, chunk=chunk) == objects


def test_one_object_is_one_element() -> None:
    assert _values(b'{"a": [1, {"b": 2}]}') == [{"a": [1, {"b": 2}]}]


def test_objects_on_lines_are_elements_each() -> None:
    assert _values(b'{"a": 1}\n{"a": 2}\r\n{"a": 3}') == [{"a": 1}, {"a": 2}, {"a": 3}]


def test_lists_one_after_the_other_are_read_on() -> None:
    assert _values(b'[{"a": 1}]\n[{"a": 2}]') == [{"a": 1}, {"a": 2}]


def test_a_byte_order_mark_and_blanks_around_are_no_elements() -> None:
    assert _values(b'\xef\xbb\xbf \n[ {"a": 1} ,\n {"a": 2} ]\n\x00') == [{"a": 1}, {"a": 2}]


def test_an_empty_list_has_no_elements() -> None:
    assert _split(b"[]") == []


def test_offsets_say_how_far_the_stream_was_read() -> None:
    elements = _split(b'[{"a": 1}, {"b": 2}]', chunk=4)
    assert [element.end_offset for element in elements] == [9, 19]


def test_a_stream_that_is_cut_off_keeps_what_came_before() -> None:
    whole, cut = _split(b'[{"a": 1}, {"b": "never fini')
    assert whole.body == b'{"a": 1}'
    assert "ends in the middle" in cut.problem


def test_an_element_over_the_limit_is_left_out_and_the_next_one_is_read() -> None:
    text = json.dumps([{"a": "x" * 5000}, {"b": 1}]).encode()
    large, small = _split(text, chunk=512, most=1000)
    assert "larger than" in large.problem
    assert large.body == b""
    assert load(small.body) == {"b": 1}


def test_an_element_nested_too_deep_is_left_out_before_anything_parses_it() -> None:
    deep = b'{"a": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    first, second = _split(b"[" + deep + b', {"b": 1}]')
    assert f"more than {MAX_DEPTH} levels" in first.problem
    assert load(second.body) == {"b": 1}


def test_depth_up_to_the_limit_is_read() -> None:
    nested = b"[" * (MAX_DEPTH - 1) + b"]" * (MAX_DEPTH - 1)
    (element,) = _split(b'[{"a": ' + nested + b"}]")
    assert element.problem == ""


def test_values_that_are_no_objects_are_told_as_such() -> None:
    elements = _split(b'[1, "x", {"a": 1}, null]')
    problems = [element.problem for element in elements if element.problem]
    assert len(problems) == 2
    assert all(problem.startswith("Not a conversation") for problem in problems)
    assert [load(element.body) for element in elements if not element.problem] == [{"a": 1}]


def test_a_bracket_too_many_ends_the_reading_with_its_place() -> None:
    elements = _split(b'[{"a": 1}]]]]{"b": 2}')
    assert load(elements[0].body) == {"a": 1}
    assert "damaged at byte 10" in elements[1].problem
    assert len(elements) == 2


def test_what_strict_parsers_refuse_and_exports_hold_is_read() -> None:
    value = load(b'{"lone": "\\ud83d", "nan": NaN, "big": 123456789012345678901234567890}')
    assert value["lone"] == "\ud83d"
    assert value["nan"] != value["nan"]
    assert value["big"] == 123456789012345678901234567890


def test_a_number_of_any_length_costs_nothing_but_itself() -> None:
    value = load(b'{"a": ' + b"9" * 5_000 + b', "b": "kept"}')
    assert value["a"] > 10**300
    assert value["b"] == "kept"


def test_bytes_that_are_no_utf8_cost_only_themselves() -> None:
    assert load(b'{"a": "caf\xe9"}') == {"a": "caf\ufffd"}


def test_broken_json_is_told_in_words() -> None:
    with pytest.raises(ValueError, match="not valid JSON"):
        load(b'{"a": }')
