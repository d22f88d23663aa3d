"""Which days each phrase means, counted by hand and not by the parser that is measured.

All are asked on Wednesday, 15 May 2024, in the asker's zone.
"""

from dataclasses import dataclass
from datetime import date

ASKED = date(2024, 5, 15)


@dataclass(frozen=True, slots=True)
class Meaning:
    """The days meant. Where people differ, `first` to `last` is the core that must be inside, and
    `from_` to `to` what must not be left. None is open."""

    first: date | None
    last: date | None
    from_: date | None = None
    to: date | None = None
    is_vague: bool = False

    def fits(self, first: date | None, last: date | None) -> bool:
        if not self.is_vague:
            return (first, last) == (self.first, self.last)
        if first is None or last is None or self.first is None or self.last is None:
            return False
        assert self.from_ is not None
        assert self.to is not None
        return self.from_ <= first <= self.first and self.last <= last <= self.to


def _days(first: str | None, last: str | None) -> Meaning:
    return Meaning(
        date.fromisoformat(first) if first else None, date.fromisoformat(last) if last else None
    )


def _about(first: str, last: str, from_: str, to: str) -> Meaning:
    read = date.fromisoformat
    return Meaning(read(first), read(last), read(from_), read(to), is_vague=True)


MEANINGS = {
    "yesterday": _days("2024-05-14", "2024-05-14"),
    "day_before_yesterday": _days("2024-05-13", "2024-05-13"),
    "last_week": _days("2024-05-06", "2024-05-12"),
    "this_month": _days("2024-05-01", "2024-05-31"),
    "last_month": _days("2024-04-01", "2024-04-30"),
    "last_year": _days("2023-01-01", "2023-12-31"),
    "week_before_last": _days("2024-04-29", "2024-05-05"),
    "last_weekend": _days("2024-05-11", "2024-05-12"),
    "three_days_ago": _days("2024-05-12", "2024-05-12"),
    "two_weeks_ago": _days("2024-04-29", "2024-05-05"),
    "three_months_ago": _days("2024-02-01", "2024-02-29"),
    "two_years_ago": _days("2022-01-01", "2022-12-31"),
    "few_months_ago": _about("2024-02-01", "2024-03-31", "2023-11-01", "2024-04-30"),
    "about_3_weeks_ago": _about("2024-04-22", "2024-04-28", "2024-04-08", "2024-05-12"),
    "past_3_months": _days("2024-02-15", "2024-05-15"),
    "past_10_days": _days("2024-05-05", "2024-05-15"),
    "in_march": _days("2024-03-01", "2024-03-31"),
    "march_2023": _days("2023-03-01", "2023-03-31"),
    "early_june_2023": _about("2023-06-01", "2023-06-10", "2023-06-01", "2023-06-15"),
    "spring_2023": _days("2023-03-01", "2023-05-31"),
    "last_winter": _days("2023-12-01", "2024-02-29"),
    "q1_2024": _days("2024-01-01", "2024-03-31"),
    "second_half_2023": _days("2023-07-01", "2023-12-31"),
    "full_date": _days("2023-05-14", "2023-05-14"),
    "day_and_month": _days("2024-02-09", "2024-02-09"),
    "iso_date": _days("2023-11-05", "2023-11-05"),
    "last_friday": _days("2024-05-10", "2024-05-10"),
    "since_february": _days("2024-02-01", None),
    "before_2024": _days(None, "2023-12-31"),
    "until_june_2023": _days(None, "2023-06-30"),
    "after_april_2024": _days("2024-05-01", None),
    "may_to_july_2023": _days("2023-05-01", "2023-07-31"),
    "year_2022": _days("2022-01-01", "2022-12-31"),
    "this_month_2y": _days("2022-05-01", "2022-05-31"),
    "end_of_last_year": _about("2023-12-01", "2023-12-31", "2023-08-01", "2023-12-31"),
    "week_before_14_may_2023": _about("2023-05-07", "2023-05-13", "2023-05-01", "2023-05-13"),
    "two_years_ago_this_month": _days("2022-05-01", "2022-05-31"),
    "this_time_last_year": _about("2023-05-08", "2023-05-22", "2023-04-01", "2023-06-30"),
    "earlier_this_year": _about("2024-01-01", "2024-04-30", "2024-01-01", "2024-05-15"),
    "around_christmas": _about("2023-12-24", "2023-12-26", "2023-12-10", "2024-01-06"),
    "day_after_5_june_2023": _days("2023-06-06", "2023-06-06"),
    "month_before_march_2023": _about("2023-02-01", "2023-02-28", "2023-01-29", "2023-02-28"),
    "from_3_to_9_may_2023": _days("2023-05-03", "2023-05-09"),
    "late_2023": _about("2023-11-01", "2023-12-31", "2023-08-01", "2023-12-31"),
    "summer_before_last": _days("2022-06-01", "2022-08-31"),
    "between_christmas_and_new_year": _about(
        "2023-12-26", "2023-12-31", "2023-12-25", "2024-01-01"
    ),
    "first_week_of_march_2023": _about("2023-03-01", "2023-03-05", "2023-02-27", "2023-03-07"),
}
# "في 2024-02-10" and "في 2023-08-20" stand where Arabic has no common word for the phrase.
ARABIC_INSTEAD = {
    "q1_2024": _days("2024-02-10", "2024-02-10"),
    "second_half_2023": _days("2023-08-20", "2023-08-20"),
}
