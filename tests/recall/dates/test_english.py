"""Dates in English questions, asked on Wednesday, 15 May 2024."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.dates.english import find_days

TODAY = date(2024, 5, 15)
DATE_WORDS = [
    *("last", "this", "past", "in", "on", "since", "before", "after", "between", "and", "to"),
    *("ago", "day", "week", "month", "year", "weekend", "quarter", "spring", "winter", "may"),
    *("march", "3", "31", "999", "2023", "0001", "monday", "today", "Q4", "early", "of"),
]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("what did we say today", "2024-05-15", "2024-05-15"),
        ("yesterday's chat", "2024-05-14", "2024-05-14"),
        ("the day before yesterday", "2024-05-13", "2024-05-13"),
        ("what did we discuss last week?", "2024-05-06", "2024-05-12"),
        ("this week", "2024-05-13", "2024-05-19"),
        ("last weekend", "2024-05-11", "2024-05-12"),
        ("last month", "2024-04-01", "2024-04-30"),
        ("last year", "2023-01-01", "2023-12-31"),
        ("last quarter", "2024-01-01", "2024-03-31"),
        ("over the past 3 months", "2024-02-15", "2024-05-15"),
        ("in the last ten days", "2024-05-05", "2024-05-15"),
        ("two weeks ago", "2024-04-29", "2024-05-05"),
        ("a couple of months ago", "2024-03-01", "2024-03-31"),
        ("3 days ago", "2024-05-12", "2024-05-12"),
        ("a year ago", "2023-01-01", "2023-12-31"),
        ("on Monday", "2024-05-13", "2024-05-13"),
        ("last Wednesday", "2024-05-08", "2024-05-08"),
        ("since Monday", "2024-05-13", None),
        ("in March", "2024-03-01", "2024-03-31"),
        ("in November", "2023-11-01", "2023-11-30"),
        ("last May", "2023-05-01", "2023-05-31"),
        ("early January 2022", "2022-01-01", "2022-01-12"),
        ("in Sept. 2021", "2021-09-01", "2021-09-30"),
        ("in spring 2024", "2024-03-01", "2024-05-31"),
        ("last winter", "2023-12-01", "2024-02-29"),
        ("Q1 2023 goals", "2023-01-01", "2023-03-31"),
        ("on 13 October, 2023", "2023-10-13", "2023-10-13"),
        ("on October 13th, 2023", "2023-10-13", "2023-10-13"),
        ("on the 3rd of June", "2023-06-03", "2023-06-03"),
        ("on 2024-02-29", "2024-02-29", "2024-02-29"),
        ("in 2024-02", "2024-02-01", "2024-02-29"),
        ("in 2019", "2019-01-01", "2019-12-31"),
        ("before 2023", None, "2022-12-31"),
        ("until yesterday", None, "2024-05-14"),
        ("after June 5, 2023", "2023-06-06", None),
        ("between May 2023 and June 2023", "2023-05-01", "2023-06-30"),
        ("from 3 May to 5 May 2022", "2022-05-03", "2022-05-05"),
        ("after May and before July 2023", "2023-06-01", "2023-06-30"),
    ],
)
def test_it_is_understood(text: str, first: str | None, last: str | None) -> None:
    found = find_days(text, TODAY)
    assert found is not None
    days, phrase = found
    assert phrase in text
    assert days.first == (date.fromisoformat(first) if first else None)
    assert days.last == (date.fromisoformat(last) if last else None)


@pytest.mark.parametrize(
    "text",
    [
        "may I march with April and June?",
        "what fell from the second floor",
        "my 2019 laptop",
        "on 2024-02-30",
        "version 3.12 of the day planner",
        "the last word in the last line",
        "before I moved",
        "",
    ],
)
def test_what_is_no_date_is_left_alone(text: str) -> None:
    assert find_days(text, TODAY) is None


@given(st.text(), st.dates())
def test_no_text_and_no_day_breaks_it(text: str, today: date) -> None:
    find_days(text, today)


@given(
    st.lists(
        st.sampled_from(DATE_WORDS),
        max_size=9,
    ),
    st.dates(),
)
def test_no_order_of_date_words_breaks_it(words: list[str], today: date) -> None:
    find_days(" ".join(words), today)
