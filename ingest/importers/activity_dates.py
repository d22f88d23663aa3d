"""Dates as Google's pages write them: in the person's language, with the zone's name."""

import re
from datetime import UTC, datetime, timedelta, timezone

_MONTHS = (
    "jan gen ene led sty leden ledna stycznia janv januari januar ιαν янв янв. tammi",
    "feb febbr fév févr fev únor února úno lut lutego φεβ фев helmi",
    "mar mär märz mars maart març bře března mrt mar. μαρ мар maalis",
    "apr abr avr avril dub dubna kwi kwietnia απρ απρ. апр huhti",
    "may mai maj mag mayo maio mei květen května kvě μαΐ мая май touko",
    "jun juin giu juni junio junho červen června čvn cze czerwca ιουν июн kesä",
    "jul juil lug juli julio julho červenec července čvc lip lipca ιουλ июл heinä",
    "aug août aoû ago srp srpna sie sierpnia αυγ авг elo",
    "sep sept set septembre září zář wrz września σεπ сен сент syys",
    "oct okt ott out octobre říj října paź października οκτ окт loka",
    "nov nov. lis novembre listopad listopadu νοε ноя нояб marras",
    "dec dez déc dic décembre pro prosinec prosince gru grudnia δεκ дек joulu",
)
_MONTH_OF = {word.rstrip("."): n for n, words in enumerate(_MONTHS, 1) for word in words.split()}
_ZONES = {
    **dict.fromkeys(("UTC", "GMT", "Z", "WET"), 0),
    **dict.fromkeys(("CET", "MEZ", "SEČ", "BST", "WEST", "HNEC", "WAT"), 60),
    **dict.fromkeys(("CEST", "MESZ", "SELČ", "EET", "SAST", "CAT", "HEEC"), 120),
    **dict.fromkeys(("EEST", "MSK", "EAT", "TRT", "МСК"), 180),
    "IST": 330,
    "WIB": 420,
    **dict.fromkeys(("SGT", "HKT", "AWST", "PHT"), 480),
    **dict.fromkeys(("JST", "KST"), 540),
    "AEST": 600,
    "AEDT": 660,
    "NZST": 720,
    "NZDT": 780,
    "NST": -210,
    "NDT": -150,
    **dict.fromkeys(("BRT", "ART", "ADT"), -180),
    **dict.fromkeys(("AST", "EDT", "HAE"), -240),
    **dict.fromkeys(("EST", "CDT", "COT", "PET", "HNE"), -300),
    **dict.fromkeys(("CST", "MDT"), -360),
    **dict.fromkeys(("MST", "PDT"), -420),
    **dict.fromkeys(("PST", "AKDT"), -480),
    "AKST": -540,
    "HST": -600,
}
_CLOCK = re.compile(
    r"(?P<before>午前|午後|오전|오후|上午|下午)?\s*"
    r"(?P<hour>\d{1,2})[:.](?P<minute>\d{2})[:.](?P<second>\d{2})\s*"
    r"(?P<half>[ap]\.?\s?m\.?|π\.μ\.|μ\.μ\.)?\s*(?P<zone>[^\d\s,][^\s,]*)?\s*$",
    re.IGNORECASE,
)
_OFFSET = re.compile(r"(?:GMT|UTC)?\s*([+-−])(\d{1,2})(?::?(\d{2}))?$")
_YEAR_FIRST = re.compile(r"(\d{4})\D{1,3}(\d{1,2})\D{1,3}(\d{1,2})(?!\d)")
_DAY_FIRST = re.compile(r"\b(\d{1,2})[./-]\s*(\d{1,2})[./-]\s*(\d{4})\b")
_WORDS = re.compile(r"[^\W\d_]+", re.UNICODE)
_LONGEST = 80


def looks_like_date(text: str) -> bool:
    """Whether a line is nothing but a date with a time of day, in any language."""
    line = _plain(text)
    if len(line) > _LONGEST or "\n" in line:
        return False
    return _CLOCK.search(line) is not None and re.search(r"\b\d{4}\b|\d{4}年", line) is not None


def read_date(text: str) -> datetime | None:
    """The moment in UTC, or None when month, order or zone cannot be told for certain."""
    line = _plain(text)
    clock = _CLOCK.search(line)
    if clock is None:
        return None
    day = _day(line[: clock.start()])
    zone = _zone(clock["zone"] or "")
    if day is None or zone is None:
        return None
    hour = int(clock["hour"])
    mark = (clock["before"] or clock["half"] or "").lower().replace(" ", "")
    if mark:
        is_late = mark in ("午後", "오후", "下午", "μ.μ.") or mark.startswith("p")
        hour = hour % 12 + (12 if is_late else 0)
    try:
        moment = datetime(*day, hour, int(clock["minute"]), int(clock["second"]), tzinfo=zone)
        return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _plain(text: str) -> str:
    return re.sub(r"[\u00a0\u202f\u2009\u200e\u200f]", " ", text).strip()


def _day(text: str) -> tuple[int, int, int] | None:
    found = _YEAR_FIRST.search(text)
    if found:
        return int(found[1]), int(found[2]), int(found[3])
    found = _DAY_FIRST.search(text)
    if found:
        return int(found[3]), int(found[2]), int(found[1])
    months = [_MONTH_OF[w] for w in _month_words(text) if w in _MONTH_OF]
    numbers = [int(each) for each in re.findall(r"\d+", text)]
    days = [each for each in numbers if each <= 31]
    years = [each for each in numbers if each >= 1000]
    if len(months) == 1 and len(days) == 1 and len(years) == 1:
        return years[0], months[0], days[0]
    return None


def _month_words(text: str) -> list[str]:
    words = [word.lower() for word in _WORDS.findall(text)]
    return [word if word in _MONTH_OF else word[:3] for word in words]


def _zone(name: str) -> timezone | None:
    """A zone that is not named could be any: the moment is then not known."""
    known = _ZONES.get(name.upper().rstrip("."))
    if known is not None:
        return timezone(timedelta(minutes=known))
    found = _OFFSET.match(name)
    if not found or int(found[2]) > 14:
        return None
    minutes = int(found[2]) * 60 + int(found[3] or 0)
    return timezone(timedelta(minutes=minutes if found[1] == "+" else -minutes))
