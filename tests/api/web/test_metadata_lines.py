from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.web.metadata_lines import from_lines, to_lines
from backread.errors import InvalidInput

# As browsers send and agents write them: names are never blank.
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)
VALUES = st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=40)


@given(st.dictionaries(NAMES, VALUES, max_size=5))
def test_the_lines_of_a_form_are_read_as_the_fields_they_were_written_from(
    fields: dict[str, Any],
) -> None:
    lines = to_lines(fields)
    assert from_lines(lines) == fields
    assert from_lines(lines.replace("\n", "\r\n")) == fields


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("status = active", {"status": "active"}),
        ('"a = b" = 3', {"a = b": 3}),
        ('"open = 3', {'"open': 3}),
        ("formula = a = b", {"formula": "a = b"}),
        ("list = [1]", {"list": "[1]"}),
        ("deep = " + "[" * 20_000, {"deep": "[" * 20_000}),
    ],
)
def test_a_line_is_read_as_people_mean_it(line: str, fields: dict[str, Any]) -> None:
    assert from_lines(line) == fields


@pytest.mark.parametrize("lines", ["no sign", "= no name", "a = 1\na = 2", '"" = 1'])
def test_lines_that_name_nothing_or_one_name_twice_are_refused(lines: str) -> None:
    with pytest.raises(InvalidInput):
        from_lines(lines)
