"""Dates as English questions say them: "last week", "in spring 2024", "since 3 May", "Q2 2023".

A pure function of the text and the day it was asked. What it does not understand it leaves alone:
a wrong filter hides what is asked for. Another language is another module with the same function.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

from recall.dates.english_phrases import PHRASES, beside
from recall.dates.english_words import (
    COUNT,
    DAY,
    MONTH,
    MONTHS,
    NUMBERS,
    SEASON,
    SEASONS,
    UNIT,
    WEEKDAYS,
    YEAR,
)
from recall.dates.window import (
    Days,
    days_before,
    month_days,
    months_before,
    week_days,
    year_days,
)

# "may" and "march" are also verbs, and any month can be a name: alone they need one of these.
_LEAD = r"\b(?:in|during|since|of|by|until|till|before|after|from|between|last|this|past)\s+"
_RANGE_END = r"\b(?:from|between|after)\s[^.?!]{2,40}?\b(?:and|to)\s+"

_ANY_YEAR = re.compile(r"\b(?:19|20)\d\d\b")

_RANGE = re.compile(r"\s*(?:-|–|to|and|until|till|or|(?:and )?before)\s*", re.IGNORECASE)

_Reader = Callable[[re.Match[str], date], Days | None]


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int
    days: Days


def find_days(text: str, today: date) -> tuple[Days, str] | None:
    """The days that a question is about and the words that say so; None if it names none.

    `today` is the day it was asked, in the asker's zone.
    """
    spans = _spans(text, today)
    if not spans:
        return None
    years = set(_ANY_YEAR.findall(text))
    if (
        len(spans) == 2
        and len(years) == 1
        and _RANGE.fullmatch(text[spans[0].end : spans[1].start])
    ):
        # "from May to July 2023": the year said once is meant for both.
        spans = _spans(text, min(today, date(int(years.pop()), 12, 31)))
    phrase_start, phrase_end = spans[0].start, spans[-1].end
    found: Days | None = None
    for span in spans:
        days, start = _with_preposition(text, span)
        phrase_start = min(phrase_start, start)
        found = days if found is None else _joined(found, days)
    assert found is not None
    return found, text[phrase_start:phrase_end].strip()


def _joined(left: Days, right: Days) -> Days:
    """ "after May and before July" narrows; "in May and July" and "from May to July" widen."""
    if left.last is None and right.first is None:
        return Days(left.first, right.last)
    if left.first is None and right.last is None:
        return Days(right.first, left.last)
    return left.hull(right)


_PREPOSITION = re.compile(
    r"\b(since|after|before|until|till|up to|prior to|by|from)\s+"
    r"(?:the\s+)?(?:(?:end|start) of\s+)?$",
    re.IGNORECASE,
)


def _with_preposition(text: str, span: _Span) -> tuple[Days, int]:
    if (found := beside(text, span.start, span.days)) is not None:
        return found
    match = _PREPOSITION.search(text, 0, span.start)
    if match is None:
        return span.days, span.start
    first, last = span.days.first, span.days.last
    word = match.group(1).lower()
    if word == "since":
        return Days(first, None), match.start()
    if word == "after":
        return Days(last and last + timedelta(days=1), None), match.start()
    if word in {"before", "prior to"}:
        return Days(None, first and days_before(first, 1)), match.start()
    if word in {"until", "till", "up to", "by"}:
        return Days(None, last), match.start()
    return span.days, match.start()


def _spans(text: str, today: date) -> list[_Span]:
    """Date expressions in the order of the text. Earlier rules win where two overlap."""
    found: list[_Span] = []
    for pattern, reader in _RULES:
        for match in pattern.finditer(text):
            start, end = match.span("span") if "span" in pattern.groupindex else match.span()
            if any(start < other.end and other.start < end for other in found):
                continue
            days = reader(match, today)
            if days is not None:
                found.append(_Span(start, end, days))
    return sorted(found, key=lambda span: span.start)


def _date(year: int, month: int, day: int) -> Days | None:
    try:
        found = date(year, month, day)
    except ValueError:
        return None
    return Days(found, found)


def _iso(match: re.Match[str], _today: date) -> Days | None:
    month = int(match["month"])
    if not 1 <= month <= 12:
        return None
    if match["day"] is None:
        return month_days(int(match["year"]), month)
    return _date(int(match["year"]), month, int(match["day"]))


def _day_of_month(match: re.Match[str], today: date) -> Days | None:
    month, day = MONTHS[match["month"].lower()], int(match["day"])
    if match["year"]:
        return _date(int(match["year"]), month, day)
    this_year = _date(today.year, month, day)
    if this_year and this_year.first and this_year.first > today:
        return _date(today.year - 1, month, day)
    return this_year


def _month(match: re.Match[str], today: date) -> Days:
    month = MONTHS[match["month"].lower()]
    if match["year"]:
        year = int(match["year"])
    else:
        year = today.year if month <= today.month else today.year - 1
        if (match["lead"] or "").lower().startswith("last") and month == today.month:
            year -= 1
    days = month_days(year, month)
    part = (match["part"] or "").lower()
    assert days.first is not None
    if part.startswith(("early", "begin", "start")):
        return Days(days.first, days.first + timedelta(days=11))
    if part.startswith("mid"):
        return Days(days.first + timedelta(days=8), days.first + timedelta(days=21))
    if part.startswith(("late", "end")):
        return Days(days.first + timedelta(days=18), days.last)
    return days


def _season(match: re.Match[str], today: date) -> Days:
    start = SEASONS[match["season"].lower()]
    year = int(match["year"]) if match["year"] else today.year
    is_this = (match["lead"] or "").lower().startswith("this")
    if not match["year"] and not is_this and date(year, start, 1) > today:
        year -= 1
    last_month = months_before(date(year + 1, start, 1), 10)
    days = Days(date(year, start, 1), month_days(last_month.year, last_month.month).last)
    is_last = (match["lead"] or "").lower().startswith("last")
    if is_last and not match["year"] and days.last and days.last >= today:
        # Said inside that very season: the one before.
        earlier = months_before(days.last, 12)
        return Days(date(year - 1, start, 1), month_days(earlier.year, earlier.month).last)
    return days


def _quarter(match: re.Match[str], today: date) -> Days:
    quarter, year = int(match["quarter"]), today.year
    if match["year"]:
        year = int(match["year"])
    elif (quarter - 1) * 3 + 1 > today.month:
        year -= 1
    return _quarter_days(year, quarter)


def _quarter_days(year: int, quarter: int) -> Days:
    return month_days(year, quarter * 3 - 2).hull(month_days(year, quarter * 3))


def _count(match: re.Match[str]) -> int:
    word = match["count"].lower()
    return int(word) if word.isdigit() else NUMBERS[word]


def _ago(match: re.Match[str], today: date) -> Days:
    count, unit = _count(match), match["unit"].lower()
    if unit == "day":
        day = days_before(today, count)
        return Days(day, day)
    if unit == "week":
        return week_days(days_before(today, 7 * count))
    if unit == "month":
        day = months_before(today, count)
        return month_days(day.year, day.month)
    return year_days(months_before(today, 12 * count).year)


def _rolling(match: re.Match[str], today: date) -> Days:
    count, unit = _count(match), match["unit"].lower()
    if unit in {"day", "week"}:
        return Days(days_before(today, count * (7 if unit == "week" else 1)), today)
    return Days(months_before(today, count * (12 if unit == "year" else 1)), today)


def _calendar_unit(match: re.Match[str], today: date) -> Days:
    is_this = match["which"].lower() == "this"
    unit = match["unit"].lower()
    if unit == "week":
        return week_days(today if is_this else days_before(today, 7))
    if unit == "weekend":
        saturday = days_before(today, (today.weekday() - 5) % 7 + (0 if today.weekday() < 5 else 7))
        if is_this:
            saturday = today + timedelta(days=5 - today.weekday())
        return Days(saturday, saturday + timedelta(days=1))
    if unit == "month":
        day = today if is_this else months_before(today, 1)
        return month_days(day.year, day.month)
    if unit == "quarter":
        day = today if is_this else months_before(today, 3)
        return _quarter_days(day.year, (day.month + 2) // 3)
    return year_days(today.year if is_this else today.year - 1)


def _weekday(match: re.Match[str], today: date) -> Days:
    back = (today.weekday() - WEEKDAYS.index(match["weekday"].lower())) % 7
    if back == 0 and match["which"].lower() in {"last", "past"}:
        back = 7
    day = days_before(today, back)
    return Days(day, day)


def _named_day(match: re.Match[str], today: date) -> Days:
    back = {"today": 0, "tonight": 0, "this morning": 0, "yesterday": 1, "last night": 1}
    day = days_before(today, back.get(re.sub(r"\s+", " ", match.group().lower()), 2))
    return Days(day, day)


def _year(match: re.Match[str], _today: date) -> Days:
    return year_days(int(match["year"]))


def _rule(pattern: str, reader: _Reader) -> tuple[re.Pattern[str], _Reader]:
    return re.compile(pattern, re.IGNORECASE), reader


_PART = r"(?P<part>(?:early|mid|late|beginning of|start of|end of)[\s-]+)?"
_RULES: tuple[tuple[re.Pattern[str], _Reader], ...] = (
    *(_rule(pattern, reader) for pattern, reader in PHRASES),
    _rule(r"\b(?P<year>(?:19|20)\d\d)-(?P<month>\d\d)(?:-(?P<day>\d\d))?\b", _iso),
    _rule(rf"\b{DAY}\s+(?:of\s+)?{MONTH},?(?:\s+{YEAR})?", _day_of_month),
    _rule(rf"\b{MONTH}\s+{DAY}(?:,?\s+{YEAR})?(?!\d)", _day_of_month),
    _rule(rf"\b(?P<lead>){_PART}{MONTH},?\s+(?:of\s+)?{YEAR}", _month),
    _rule(rf"(?P<lead>){_PART}\b{SEASON}\s+(?:of\s+)?{YEAR}", _season),
    _rule(rf"\bQ(?P<quarter>[1-4])(?:\s+(?:of\s+)?{YEAR})?", _quarter),
    _rule(r"\b(?:the\s+)?day before yesterday\b|\byesterday\b|\blast\s+night\b", _named_day),
    _rule(r"\btoday\b|\btonight\b|\bthis\s+morning\b", _named_day),
    _rule(rf"\b{COUNT}\s+(?:of\s+)?{UNIT}\s+ago\b", _ago),
    _rule(rf"\b(?:last|past|previous)\s+{COUNT}\s+(?:of\s+)?{UNIT}", _rolling),
    _rule(
        r"\b(?P<which>this|last|past|previous)\s+(?P<unit>weekend|week|month|quarter|year)\b",
        _calendar_unit,
    ),
    _rule(rf"\b(?P<which>last|past|on|this)\s+(?P<weekday>{'|'.join(WEEKDAYS)})\b", _weekday),
    _rule(
        r"\b(?P<which>since|until|before|after)\s+"
        rf"(?P<span>(?P<weekday>{'|'.join(WEEKDAYS)}))\b",
        _weekday,
    ),
    _rule(rf"\b(?P<span>(?P<lead>last|this|past)\s+{SEASON}(?P<year>)?)", _season),
    _rule(
        rf"\b(?:in|during|over|since|before|after)\s+(?:the\s+)?(?P<span>(?P<lead>){SEASON}(?P<year>)?)",
        _season,
    ),
    _rule(rf"\b(?P<span>(?P<lead>last|this|past)\s+(?P<part>)?{MONTH}(?P<year>)?)", _month),
    _rule(rf"{_LEAD}(?P<span>(?P<lead>){_PART}{MONTH}(?P<year>)?)", _month),
    _rule(rf"{_RANGE_END}(?P<span>(?P<lead>){_PART}{MONTH}(?P<year>)?)", _month),
    _rule(rf"\b(?P<span>(?P<lead>)(?P<part>(?:early|mid|late)[\s-]+){MONTH}(?P<year>)?)", _month),
    _rule(
        r"\b(?:in|during|since|of|by|until|till|before|after|from|between|for|year)\s+"
        rf"(?P<span>{YEAR})",
        _year,
    ),
    _rule(rf"{_RANGE_END}(?P<span>{YEAR})", _year),
)
