"""Reads dates by a language's table of words and phrases.

A language is data: its names of months, days, seasons and units, and patterns that say what a
phrase means. The calendar behind them is one for all. What no pattern knows is left alone: a
wrong filter hides what is asked for.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cached_property

from recall.dates import calendar_days as calendar
from recall.dates.window import Days

Reader = Callable[[re.Match[str], date, "Language"], Days | None]

_GAP = re.compile(r"\s+")
_NUMERAL = {"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8}
_NUMERAL |= {"九": 9, "十": 10, "十一": 11, "十二": 12}


@dataclass(frozen=True)
class Language:
    """`rules`: patterns with {month}, {year}, {day}, {count}, {unit}, {weekday}, {season} in them
    and how they are read; earlier ones win. `since`, `after`, `before`, `until`: words that stand
    in front of a date, or behind it where `is_behind`. `chats`: what says that a question is
    about what was said. `has_spaces`: words are set apart."""

    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    seasons: Mapping[str, int]
    numbers: Mapping[str, int]
    units: Mapping[str, str]
    rules: Sequence[tuple[str, Reader]]
    since: str
    after: str
    before: str
    until: str
    between: str
    chats: str
    question_words: frozenset[str] = field(default_factory=frozenset)
    marks: frozenset[str] = field(default_factory=frozenset)
    is_behind: bool = False
    has_spaces: bool = True
    lead: str = ""
    prefix: str = ""  # what is written onto a word: "and" in Arabic

    @cached_property
    def patterns(self) -> list[tuple[re.Pattern[str], Reader]]:
        return [(self._compiled(rule), reader) for rule, reader in self.rules]

    def _compiled(self, rule: str) -> re.Pattern[str]:
        for name, words in (
            ("month", self.months),
            ("weekday", self.weekdays),
            ("season", self.seasons),
            ("unit", self.units),
        ):
            rule = rule.replace(f"{{{name}}}", f"(?P<{name}>{_either(words)})")
        counted = _either([r"(?<!\d)\d{1,3}(?!\d)", *self.numbers], escape=False)
        rule = rule.replace("{count}", f"(?P<count>{counted})")
        rule = rule.replace("{year}", r"(?P<year>(?:19|20)\d\d)")
        rule = rule.replace("{day}", r"(?P<day>[0-3]?\d)")
        if self.has_spaces:
            rule = rf"(?<!\w){self.prefix}(?:{rule})(?!\w)"
        return re.compile(rule, re.IGNORECASE)

    @cached_property
    def bounds(self) -> list[tuple[str, re.Pattern[str]]]:
        """What a word beside a date makes of it."""
        named = ("since", self.since), ("after", self.after), ("before", self.before)
        parts = [*named, ("until", self.until)]
        if self.is_behind:
            return [(name, re.compile(rf"\s*(?:{words})", re.I)) for name, words in parts if words]
        edge = r"(?<!\w)" if self.has_spaces else ""
        gap = r"\s+" if self.has_spaces else r"\s*"
        return [
            (name, re.compile(rf"{edge}(?:{words}){gap}$", re.I)) for name, words in parts if words
        ]

    @cached_property
    def leads(self) -> re.Pattern[str] | None:
        return re.compile(rf"(?<!\w)(?:{self.lead})\s*$", re.I) if self.lead else None

    @cached_property
    def ranges(self) -> re.Pattern[str]:
        return re.compile(rf"\s*(?:-|–|—|~|～|{self.between})\s*", re.IGNORECASE)

    @cached_property
    def about_chats(self) -> re.Pattern[str]:
        return re.compile(self.chats, re.IGNORECASE | re.DOTALL)

    def number(self, word: str) -> int:
        folded = word.lower()
        if folded.isdecimal():
            return int(folded)
        return self.numbers.get(folded) or _NUMERAL[folded]


def _either(words: Sequence[str] | Mapping[str, object], *, escape: bool = True) -> str:
    longest_first = sorted(words, key=len, reverse=True)
    return "|".join(re.escape(word) if escape else word for word in longest_first)


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int
    days: Days
    may_hold_bound: bool  # "seit Februar" is one pattern; in "vor drei Tagen", "vor" is none


def find_days(text: str, today: date, language: Language) -> tuple[Days, str] | None:
    """The days that a question is about and the words that say so; None if it names none."""
    spans = _spans(text, today, language)
    if not spans:
        return None
    if len(spans) == 2 and _shares_year(text, spans, language):
        year = int(re.findall(r"(?:19|20)\d\d", text[spans[0].start : spans[1].end])[0])
        spans = _spans(text, min(today, date(year, 12, 31)), language)
    start, end = spans[0].start, spans[-1].end
    found: Days | None = None
    for span in spans:
        days, from_, to = _bounded(text, span, language)
        start, end = min(start, from_), max(end, to)
        found = days if found is None else _joined(found, days)
    assert found is not None
    return found, text[start:end].strip()


def _shares_year(text: str, spans: Sequence[_Span], language: Language) -> bool:
    """ "from May to July 2023": the year said once is meant for both."""
    years = re.findall(r"(?:19|20)\d\d", text[spans[0].start : spans[1].end])
    between = text[spans[0].end : spans[1].start]
    return len(years) == 1 and language.ranges.fullmatch(between) is not None


def _spans(text: str, today: date, language: Language) -> list[_Span]:
    found: list[_Span] = []
    for pattern, reader in language.patterns:
        for match in pattern.finditer(text):
            start, end = match.span()
            if any(start < other.end and other.start < end for other in found):
                continue
            days = reader(match, today, language)
            if days is not None:
                found.append(_Span(start, end, days, reader in _NAMED))
    return sorted(found, key=lambda span: span.start)


def _bounded(text: str, span: _Span, language: Language) -> tuple[Days, int, int]:
    for name, pattern in language.bounds:
        match = (
            pattern.match(text, span.end)
            if language.is_behind
            else pattern.search(text, 0, span.start)
        )
        if match is None and span.may_hold_bound and not language.is_behind:
            inside = (pattern.search(text, 0, end) for end in _word_ends(text, span))
            match = next((each for each in inside if each and each.start() >= span.start), None)
        if match is not None:
            start = span.start if language.is_behind else match.start()
            end = match.end() if language.is_behind else span.end
            return _open_ended(name, span.days), start, end
    if language.leads is not None and (match := language.leads.search(text, 0, span.start)):
        return span.days, match.start(), span.end
    return span.days, span.start, span.end


def _word_ends(text: str, span: _Span) -> list[int]:
    """Where the second to fourth word of a span begin."""
    return [gap.end() for gap in _GAP.finditer(text, span.start, span.end)][:3]


def _open_ended(name: str, days: Days) -> Days:
    if name == "since":
        return Days(days.first, None)
    if name == "after":
        return Days(days.last and days.last + timedelta(days=1), None)
    if name == "before":
        return Days(None, days.first and days.first - timedelta(days=1))
    return Days(None, days.last)


def _joined(left: Days, right: Days) -> Days:
    if left.last is None and right.first is None:
        return Days(left.first, right.last)
    if left.first is None and right.last is None:
        return Days(right.first, left.last)
    if right.first is None:
        return Days(left.first, right.last)  # "from May" and "until July"
    return left.hull(right)


def _group(match: re.Match[str], name: str) -> str:
    """What a part matched; a pattern may hold a part in two places, `name` and `name_`."""
    groups = match.groupdict()
    return (groups.get(name) or groups.get(f"{name}_") or "").lower()


def _year(match: re.Match[str]) -> int | None:
    year = _group(match, "year")
    return int(year) if year else None


def on_date(match: re.Match[str], today: date, language: Language) -> Days | None:
    """A day and its month by name or number, the year where it stands."""
    name = _group(match, "month")
    month = language.months[name] if name in language.months else int(_group(match, "mm"))
    return calendar.day_of_month(today, month, int(_group(match, "day")), _year(match))


def in_month(match: re.Match[str], today: date, language: Language) -> Days | None:
    name = _group(match, "month")
    month = language.months[name] if name in language.months else int(_group(match, "mm"))
    if not 1 <= month <= 12:
        return None
    is_last = bool(_group(match, "last"))
    days = calendar.named_month(today, month, _year(match), is_last=is_last)
    return calendar.part_of(days, _part(match))


def in_season(match: re.Match[str], today: date, language: Language) -> Days | None:
    start = language.seasons[_group(match, "season")]
    is_last, is_this = bool(_group(match, "last")), bool(_group(match, "this"))
    return calendar.season(today, start, _year(match), is_last=is_last, is_this=is_this)


def in_year(match: re.Match[str], _today: date, _language: Language) -> Days | None:
    year = _year(match)
    assert year is not None
    return calendar.part_of(calendar.year_days(year), _part(match))


def in_quarter(match: re.Match[str], today: date, language: Language) -> Days | None:
    return calendar.quarter(today, language.number(_group(match, "quarter")), _year(match))


def in_half(match: re.Match[str], today: date, _language: Language) -> Days | None:
    year = _year(match) or today.year
    return calendar.half(year, is_second=bool(_group(match, "second")))


def ago(match: re.Match[str], today: date, language: Language) -> Days | None:
    count = language.number(_group(match, "count")) if _group(match, "count") else 1
    unit = language.units[_group(match, "unit")]
    is_vague = bool(_group(match, "about") or _group(match, "few"))
    return calendar.ago(today, 3 if _group(match, "few") else count, unit, is_vague=is_vague)


def rolling(match: re.Match[str], today: date, language: Language) -> Days | None:
    count = language.number(_group(match, "count")) if _group(match, "count") else 3
    return calendar.rolling(today, count, language.units[_group(match, "unit")])


def unit_back(count: int) -> Reader:
    """This (0), last (1) or the one before last (2) of a unit."""

    def read(match: re.Match[str], today: date, language: Language) -> Days | None:
        days = calendar.units_back(today, count, language.units[_group(match, "unit")])
        return calendar.part_of(days, _part(match))

    return read


def day_back(count: int) -> Reader:
    def read(_match: re.Match[str], today: date, _language: Language) -> Days | None:
        return calendar.one_day(today, count)

    return read


def on_weekday(match: re.Match[str], today: date, language: Language) -> Days | None:
    weekday = language.weekdays[_group(match, "weekday")]
    if _group(match, "lastweek"):
        return calendar.weekday_of_week(today, weekday, 1)
    return calendar.weekday(today, weekday, is_last=bool(_group(match, "last")))


def same_time_years_ago(unit: str) -> Reader:
    """ "two years ago this month"; last year where no count stands."""

    def read(match: re.Match[str], today: date, language: Language) -> Days | None:
        count = language.number(_group(match, "count")) if _group(match, "count") else 1
        return calendar.years_ago_this(today, count, unit)

    return read


def _part(match: re.Match[str]) -> str:
    return next((name for name in ("early", "mid", "late") if _group(match, name)), "")


def iso_day(match: re.Match[str], today: date, _language: Language) -> Days | None:
    return calendar.day_of_month(
        today, int(match["isomonth"]), int(match["isoday"]), int(match["isoyear"])
    )


# Their patterns may begin with a word that opens or bounds the time.
_NAMED = frozenset({in_month, in_year, in_season, on_weekday})

ISO = (r"(?P<isoyear>(?:19|20)\d\d)-(?P<isomonth>\d\d)-(?P<isoday>\d\d)", iso_day)
