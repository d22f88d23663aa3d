"""What phrases of time mean on the calendar, whatever the language.

Weeks begin on Monday (ISO 8601). Seasons are the northern hemisphere's; winter 2023 runs from
December 2023 to February 2024. A month or a day without a year is the last one that has begun.
"""

from datetime import date, timedelta

from recall.dates.window import (
    Days,
    days_before,
    month_days,
    months_before,
    week_days,
    year_days,
)

__all__ = [
    "ago",
    "day_of_month",
    "half",
    "named_month",
    "one_day",
    "part_of",
    "quarter",
    "rolling",
    "season",
    "units_back",
    "weekday",
    "weekday_of_week",
    "year_days",
    "years_ago_this",
]


def one_day(today: date, back: int) -> Days:
    day = days_before(today, back)
    return Days(day, day)


def day_of_month(today: date, month: int, day: int, year: int | None) -> Days | None:
    """None for a day that no calendar has."""
    try:
        found = date(year or today.year, month, day)
        if year is None and found > today:
            found = date(today.year - 1, month, day)
    except ValueError:
        return None
    return Days(found, found)


def named_month(today: date, month: int, year: int | None, *, is_last: bool = False) -> Days:
    if year is None:
        year = today.year if month <= today.month else today.year - 1
        if is_last and month == today.month:
            year -= 1
    return month_days(year, month)


def season(
    today: date, start: int, year: int | None, *, is_last: bool = False, is_this: bool = False
) -> Days:
    """`start` is the season's first month."""
    begins = year or today.year
    if year is None and not is_this and date(begins, start, 1) > today:
        begins -= 1
    days = _three_months(begins, start)
    if is_last and year is None and days.last and days.last >= today:
        return _three_months(begins - 1, start)  # said inside that very season
    return days


def _three_months(year: int, start: int) -> Days:
    end_year, end = (year, start + 2) if start <= 10 else (year + 1, start - 10)
    return month_days(year, start).hull(month_days(end_year, end))


def quarter(today: date, number: int, year: int | None) -> Days:
    first = number * 3 - 2
    if year is None:
        year = today.year if first <= today.month else today.year - 1
    return month_days(year, first).hull(month_days(year, first + 2))


def half(year: int, *, is_second: bool) -> Days:
    first = 7 if is_second else 1
    return month_days(year, first).hull(month_days(year, first + 5))


def ago(today: date, count: int, unit: str, *, is_vague: bool = False) -> Days:
    """The day, week, month or year so many units back; one more on both sides when it is only
    about then."""
    if is_vague:
        sides = ago(today, count + 1, unit), ago(today, max(1, count - 1), unit)
        return sides[0].hull(sides[1])
    if unit == "day":
        return one_day(today, count)
    return units_back(today, count, unit)


def rolling(today: date, count: int, unit: str) -> Days:
    if unit in {"day", "week", "weekend"}:
        return Days(days_before(today, count * (1 if unit == "day" else 7)), today)
    months = {"month": 1, "quarter": 3, "year": 12}[unit]
    return Days(months_before(today, count * months), today)


def units_back(today: date, count: int, unit: str) -> Days:
    """The calendar unit that is `count` before the present one."""
    if unit == "day":
        return one_day(today, count)
    if unit == "week":
        return week_days(days_before(today, 7 * count))
    if unit == "weekend":
        saturday = today + timedelta(days=5 - today.weekday())
        saturday = days_before(saturday, 7 * count)
        return Days(saturday, saturday + timedelta(days=1))
    if unit == "month":
        day = months_before(today, count)
        return month_days(day.year, day.month)
    if unit == "quarter":
        day = months_before(today, 3 * count)
        return quarter(day, (day.month + 2) // 3, day.year)
    return year_days(months_before(today, 12 * count).year)


def weekday(today: date, number: int, *, is_last: bool = False) -> Days:
    back = (today.weekday() - number) % 7
    return one_day(today, 7 if back == 0 and is_last else back)


def weekday_of_week(today: date, number: int, weeks_back: int) -> Days:
    monday = days_before(today, today.weekday() + 7 * weeks_back)
    day = monday + timedelta(days=number)
    return Days(day, day)


def years_ago_this(today: date, count: int, unit: str) -> Days:
    then = months_before(today, 12 * count)
    return units_back(then, 0, unit)


def part_of(days: Days, part: str) -> Days:
    """The first, middle or last part ("early", "mid", "late"; "" for all). Parts overlap: nobody
    counts the days."""
    if not part or days.first is None or days.last is None:
        return days
    length = (days.last - days.first).days + 1
    if part == "early":
        return Days(days.first, days.first + timedelta(days=round(length * 0.4) - 1))
    if part == "mid":
        inset = timedelta(days=round(length * 0.27))
        return Days(days.first + inset, days.last - inset)
    return Days(days.last - timedelta(days=round(length * 0.4) - 1), days.last)
