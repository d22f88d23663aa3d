"""Stretches of calendar days, and the instants they mean in somebody's time zone."""

import calendar
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_LAST_MOMENT = time(23, 59, 59, 999999)


@dataclass(frozen=True, slots=True)
class Days:
    """From `first` to `last`, both included. None is open-ended."""

    first: date | None
    last: date | None

    def hull(self, other: "Days") -> "Days":
        """The shortest stretch that holds both."""
        first = None if self.first is None or other.first is None else min(self.first, other.first)
        last = None if self.last is None or other.last is None else max(self.last, other.last)
        return Days(first, last)


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """Inclusive instants in UTC, and the words of the question that they were read from."""

    after: datetime | None
    before: datetime | None
    phrase: str = ""

    def holds(self, moment: datetime | None) -> bool:
        """Whether a moment lies inside. One that is not known does, if there are no bounds."""
        if self.after is None and self.before is None:
            return True
        if moment is None:
            return False
        return (self.after is None or moment >= self.after) and (
            self.before is None or moment <= self.before
        )


def to_window(days: Days, zone: ZoneInfo, phrase: str) -> TimeWindow:
    """The first to the last moment of the days, as the zone's clocks show them."""
    after = None if days.first is None else datetime.combine(days.first, time.min, zone)
    before = None if days.last is None else datetime.combine(days.last, _LAST_MOMENT, zone)
    return TimeWindow(after and after.astimezone(UTC), before and before.astimezone(UTC), phrase)


def zone_named(name: str) -> ZoneInfo:
    """The IANA zone, or UTC when the name is not one."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")


def month_days(year: int, month: int) -> Days:
    return Days(date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1]))


def year_days(year: int) -> Days:
    return Days(date(year, 1, 1), date(year, 12, 31))


def week_days(day: date) -> Days:
    """Monday to Sunday, ISO 8601."""
    monday = day - timedelta(days=day.weekday())
    return Days(monday, monday + timedelta(days=6))


def months_before(day: date, count: int) -> date:
    """The same day `count` months earlier, or the last day of that month if it is shorter.
    Stops at year 1."""
    index = max(12, day.year * 12 + day.month - 1 - count)
    year, month = index // 12, index % 12 + 1
    return date(year, month, min(day.day, calendar.monthrange(year, month)[1]))


def days_before(day: date, count: int) -> date:
    """`count` days earlier, at least the first day of year 1."""
    return date.fromordinal(max(1, day.toordinal() - count))
