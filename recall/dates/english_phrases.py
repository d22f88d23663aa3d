"""Longer English phrases of time: "the week before last", "this month two years ago", feasts,
parts of a year, and a unit beside another date: "in the week before 3 May"."""

import re
from collections.abc import Callable
from datetime import date, timedelta

from recall.dates import calendar_days as calendar
from recall.dates.english_words import COUNT, DAY, MONTH, MONTHS, NUMBERS, SEASON, SEASONS, YEAR
from recall.dates.window import Days, days_before

_Reader = Callable[[re.Match[str], date], Days | None]

_UNITS = r"(?P<unit>day|weekend|week|month|quarter|year)s?\b"
_ORDINALS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4}
_ORDINALS |= {"4th": 4}
_ORDINAL = "(?P<ordinal>" + "|".join(_ORDINALS) + r")\b"
_PART = (
    r"(?:(?P<early>early|beginning of|start of)|(?P<mid>mid|middle of)|(?P<late>late|end of))[\s-]+"
)
_FEASTS = {"christmas": (12, 24, 12, 26), "new year": (12, 31, 1, 1), "halloween": (10, 31, 10, 31)}
_FEAST = r"(?P<feast>christmas|new year(?:['’]?s(?:\s+(?:eve|day))?)?|halloween)\b"


def _number(word: str) -> int:
    return int(word) if word.isdigit() else NUMBERS[word.lower()]


def _part(match: re.Match[str]) -> str:
    groups = match.groupdict()
    return next((name for name in ("early", "mid", "late") if groups.get(name)), "")


def _before_last(match: re.Match[str], today: date) -> Days:
    return calendar.units_back(today, 2, match["unit"].lower())


def _season_before_last(match: re.Match[str], today: date) -> Days:
    last = calendar.season(today, SEASONS[match["season"].lower()], None, is_last=True)
    assert last.first is not None
    return calendar.season(today, last.first.month, last.first.year - 1)


def _vaguely_ago(match: re.Match[str], today: date) -> Days:
    count = 3 if match.groupdict().get("few") else _number(match["count"])
    return calendar.ago(today, count, match["unit"].lower(), is_vague=True)


def _same_time(match: re.Match[str], today: date) -> Days:
    groups = match.groupdict()
    count = _number(match["count"]) if groups.get("count") else 1
    return calendar.years_ago_this(today, count, (groups.get("unit") or "month").lower())


def _around_now(_match: re.Match[str], today: date) -> Days:
    then = calendar.years_ago_this(today, 1, "day").first
    assert then is not None
    return Days(days_before(then, 21), then + timedelta(days=21))


def _earlier(match: re.Match[str], today: date) -> Days:
    return Days(calendar.units_back(today, 0, match["unit"].lower()).first, today)


def _part_of_unit(match: re.Match[str], today: date) -> Days:
    back = 1 if match["which"].lower() in {"last", "past", "previous"} else 0
    return calendar.part_of(calendar.units_back(today, back, match["unit"].lower()), _part(match))


def _part_of_year(match: re.Match[str], _today: date) -> Days:
    return calendar.part_of(calendar.year_days(int(match["year"])), _part(match))


def _year_of(match: re.Match[str], today: date) -> int | None:
    groups = match.groupdict()
    if groups.get("year"):
        return int(match["year"])
    which = (groups.get("which") or "").lower()
    return {"last": today.year - 1, "this": today.year}.get(which)


def _quarter(match: re.Match[str], today: date) -> Days:
    return calendar.quarter(today, _ORDINALS[match["ordinal"].lower()], _year_of(match, today))


def _half(match: re.Match[str], today: date) -> Days | None:
    half = _ORDINALS.get(match["ordinal"].lower(), 0)
    if half > 2:
        return None
    return calendar.half(_year_of(match, today) or today.year, is_second=half == 2)


def _week_of_month(match: re.Match[str], today: date) -> Days | None:
    name, year = match["month"].lower(), match["year"]
    month = calendar.named_month(today, MONTHS[name], int(year) if year else None)
    assert month.first is not None
    assert month.last is not None
    if match["ordinal"].lower() == "last":
        return Days(days_before(month.last, 6), month.last)
    first = month.first + timedelta(days=7 * (_ORDINALS[match["ordinal"].lower()] - 1))
    return Days(first, first + timedelta(days=6))


def _day_range(match: re.Match[str], today: date) -> Days | None:
    month, year = MONTHS[match["month"].lower()], match["year"]
    ends = [
        calendar.day_of_month(today, month, int(match[name]), int(year) if year else None)
        for name in ("from", "day")
    ]
    return ends[0].hull(ends[1]) if ends[0] and ends[1] else None


def _feast(match: re.Match[str], today: date) -> Days:
    name = match["feast"].lower()
    feast = next(key for key in _FEASTS if name.startswith(key))
    month, day, end_month, end_day = _FEASTS[feast]
    year = _year_of(match, today)
    if year is None:
        year = today.year if date(today.year, month, day) <= today else today.year - 1
    first, last = date(year, month, day), date(year + (end_month < month), end_month, end_day)
    is_loose = "around" in match.group().lower() or "over" in match.group().lower()
    slack = timedelta(days=7 if is_loose else 0)
    return Days(first - slack, last + slack)


def _between_the_years(match: re.Match[str], today: date) -> Days:
    year = today.year if today >= date(today.year, 12, 26) else today.year - 1
    return Days(date(year, 12, 25), date(year + 1, 1, 1))


_OF_YEAR = rf"(?:\s+(?:of\s+)?(?:{YEAR}|(?P<which>last|this)\s+year\b))?"
# Before the shorter phrases that are parts of these.
PHRASES: tuple[tuple[str, _Reader], ...] = (
    (rf"\bthe\s+{_UNITS}\s+before\s+last\b", _before_last),
    (rf"\bthe\s+{SEASON}\s+before\s+last\b", _season_before_last),
    (rf"\b(?:a\s+)?(?P<few>few|several)\s+{_UNITS}\s+ago\b", _vaguely_ago),
    (
        rf"\b(?:about|around|roughly|some|approximately|nearly|almost)\s+{COUNT}\s+{_UNITS}"
        r"\s+(?:or\s+so\s+)?ago\b",
        _vaguely_ago,
    ),
    (rf"\bthis\s+(?P<unit>day|week|month)\s+{COUNT}\s+years?\s+ago\b", _same_time),
    (rf"\b{COUNT}\s+years?\s+ago\s+this\s+(?P<unit>day|week|month)\b", _same_time),
    (r"\b(?:this|the\s+same)\s+(?P<unit>day|week|month)\s+last\s+year\b", _same_time),
    (r"\b(?:around\s+)?(?:this|the\s+same)\s+time\s+last\s+year\b", _around_now),
    (rf"\bearlier\s+this\s+{_UNITS}", _earlier),
    (rf"\b{_PART}(?:the\s+)?(?P<which>last|past|previous|this)\s+{_UNITS}", _part_of_unit),
    (rf"\b{_PART}{YEAR}", _part_of_year),
    (r"\bbetween\s+christmas\s+and\s+new\s+year(?:['’]?s)?\b", _between_the_years),
    (rf"\b(?:the\s+)?{_ORDINAL}\s+quarter{_OF_YEAR}", _quarter),
    (rf"\b(?:the\s+)?{_ORDINAL}\s+half{_OF_YEAR}", _half),
    (
        r"\b(?:the\s+)?(?P<ordinal>first|second|third|fourth|last)\s+week\s+(?:of|in)\s+"
        rf"{MONTH}(?:\s+{YEAR})?",
        _week_of_month,
    ),
    (
        rf"\b(?P<from>[0-3]?\d)(?:st|nd|rd|th)?\s*(?:-|–|to|until)\s*{DAY}\s+(?:of\s+)?{MONTH}"
        rf"(?:\s+{YEAR})?",
        _day_range,
    ),
    (rf"\b(?:around\s+|over\s+)?{_FEAST}{_OF_YEAR}", _feast),
)

_BESIDE = re.compile(
    rf"\b(?:the\s+)?(?:{COUNT}\s+)?(?P<unit>day|week|month|year)s?\s+(?P<side>before|after)\s+"
    r"(?:the\s+)?$",
    re.IGNORECASE,
)
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}


def beside(text: str, start: int, days: Days) -> tuple[Days, int] | None:
    """The days that a unit in front of a date stands for, and where the phrase begins: "the week
    before 3 May" is the seven days that end with 2 May."""
    match = _BESIDE.search(text, 0, start)
    if match is None or days.first is None or days.last is None:
        return None
    count = _number(match["count"]) if match["count"] else 1
    length = timedelta(days=count * _DAYS[match["unit"].lower()])
    if match["side"].lower() == "before":
        return Days(days.first - length, days.first - timedelta(days=1)), match.start()
    return Days(days.last + timedelta(days=1), days.last + length), match.start()
