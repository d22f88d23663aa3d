"""Dates as German questions say them."""

# ruff: noqa: E501, SIM905 - a phrase is a line, and words read best in a row

from recall.dates import grammar as read
from recall.dates.grammar import ISO, Language

_PART = r"(?:(?P<early>anfang|beginn|früher?)|(?P<mid>mitte)|(?P<late>ende|später?))"
_LAST = r"(?:letzte[nmrs]?|vergangene[nmrs]?|vorige[nmrs]?)"
_THIS = r"diese[nmrs]?"

GERMAN = Language(
    months={
        name: number
        for number, names in enumerate(
            "januar jänner,februar feber,märz maerz,april,mai,juni,juli,august,september,oktober,"
            "november,dezember".split(","),
            start=1,
        )
        for name in names.split()
    },
    weekdays={
        name: number
        for number, names in enumerate(
            "montag,dienstag,mittwoch,donnerstag,freitag,samstag sonnabend,sonntag".split(",")
        )
        for name in names.split()
    },
    seasons={
        "frühling": 3,
        "frühjahr": 3,
        "sommer": 6,
        "herbst": 9,
        "winter": 12,
    },
    numbers={
        "ein": 1,
        "eine": 1,
        "einem": 1,
        "einer": 1,
        "zwei": 2,
        "drei": 3,
        "vier": 4,
        "fünf": 5,
        "sechs": 6,
        "sieben": 7,
        "acht": 8,
        "neun": 9,
        "zehn": 10,
        "elf": 11,
        "zwölf": 12,
    },
    units={
        "tag": "day",
        "tage": "day",
        "tagen": "day",
        "tages": "day",
        "woche": "week",
        "wochen": "week",
        "wochenende": "weekend",
        "wochenenden": "weekend",
        "monat": "month",
        "monate": "month",
        "monaten": "month",
        "monats": "month",
        "quartal": "quarter",
        "quartals": "quarter",
        "quartalen": "quarter",
        "jahr": "year",
        "jahre": "year",
        "jahren": "year",
        "jahres": "year",
    },
    rules=(
        ISO,
        (r"{day}\.\s*{month}(?:\s+{year})?", read.on_date),
        (r"{day}\.\s*(?P<mm>[01]?\d)\.\s*{year}", read.on_date),
        (rf"(?:{_PART}\s+)?{{month}}\s+{{year}}", read.in_month),
        (rf"(?P<last>{_LAST})\s+{{season}}", read.in_season),
        (rf"(?P<this>{_THIS})\s+{{season}}", read.in_season),
        (r"{season}\s+{year}", read.in_season),
        (r"(?:im|in diesem|seit|vor|nach|bis)\s+(?:dem\s+)?{season}", read.in_season),
        (
            r"(?:q\s?(?P<quarter>[1-4])|(?P<quarter_>[1-4])\.\s*quartal)(?:\s+{year})?",
            read.in_quarter,
        ),
        (
            r"(?:(?P<first>erste[nr]?)|(?P<second>zweite[nr]?))\s+(?:hälfte|halbjahr)(?:\s+(?:von\s+)?{year})?",
            read.in_half,
        ),
        (r"vorgestern", read.day_back(2)),
        (r"gestern", read.day_back(1)),
        (r"heute", read.day_back(0)),
        (r"vor\s+(?P<few>ein paar|einigen|wenigen)\s+{unit}", read.ago),
        (
            r"(?:vor\s+(?P<about>etwa|ungefähr|rund|circa|ca\.?)|(?P<about_>etwa|ungefähr|rund)\s+vor)\s+{count}\s+{unit}",
            read.ago,
        ),
        (
            r"(?:diesen|im selben|im gleichen)\s+monat\s+vor\s+{count}\s+jahr(?:en)?",
            read.same_time_years_ago("month"),
        ),
        (
            r"(?:diesen|im selben|im gleichen)\s+monat\s+letztes\s+jahr",
            read.same_time_years_ago("month"),
        ),
        (r"vor\s+{count}\s+{unit}", read.ago),
        (rf"(?:in\s+den\s+|die\s+)?{_LAST}\s+{{count}}\s+{{unit}}", read.rolling),
        (
            rf"(?:in\s+den\s+)?{_LAST}\s+(?:paar\s+)?(?P<unit>tage|tagen|wochen|monaten?|jahren?)(?<=n)",
            read.rolling,
        ),
        (r"(?:vorletzte[nmrs]?)\s+{unit}", read.unit_back(2)),
        (rf"{_PART}\s+{_LAST}\s+{{unit}}", read.unit_back(1)),
        (rf"{_PART}\s+{_THIS}\s+{{unit}}", read.unit_back(0)),
        (rf"{_LAST}\s+{{unit}}", read.unit_back(1)),
        (rf"(?:{_THIS}|laufende[nmrs]?)\s+{{unit}}", read.unit_back(0)),
        (rf"(?P<lastweek>{_LAST}\s+woche)\s+(?:am\s+)?{{weekday}}", read.on_weekday),
        (rf"(?P<last>{_LAST})\s+{{weekday}}", read.on_weekday),
        (r"(?:am|seit|bis|vor|nach)\s+(?:dem\s+)?{weekday}", read.on_weekday),
        (rf"(?P<last>{_LAST})\s+{{month}}", read.in_month),
        (rf"(?:im|seit|vor|nach|bis|zwischen|und|von|ab|{_PART})\s+{{month}}", read.in_month),
        (
            rf"(?:{_PART}\s+)?(?:im\s+jahr\s+|in\s+|jahr\s+|seit\s+|vor\s+|nach\s+|bis\s+|ab\s+)?(?:des\s+jahres\s+)?{{year}}",
            read.in_year,
        ),
    ),
    since=r"seit|ab",
    after=r"nach(?:\s+dem)?",
    before=r"vor(?:\s+dem)?",
    until=r"bis(?:\s+(?:zum|ende))?",
    between=r"und|bis(?:\s+zum)?",
    chats=r"\b(?:besproch|besprech|gesproch|geredet|red(?:en|eten)|gesagt|sagte|erwähn|diskutier|gefragt|fragte|"
    r"empfohl|empfiehl|vorgeschlagen|entschied|beschloss|geschrieben|erzähl|erklär|geplant|unterhielt|unterhalten|"
    r"gespräch|chat|unterhaltung|nachricht)",
    question_words=frozenset(
        """der die das den dem des ein eine einen einem einer eines und oder aber in im an am auf zu zum zur von
        vom mit bei für über aus nach ist sind war waren wird werden wurde wurden hat haben hatte hatten habe hast
        kann können konnte soll sollte muss ich du er sie es wir ihr mich mir mein meine meinen meiner dein deine
        uns unser unsere sich was welche welcher welches welchen wer wen wem wessen wann wo warum wieso wie
        wieviel viele nicht kein keine auch nur noch schon so dass ob denn dann da hier dies diese dieser dieses
        diesem gesagt gefragt besprochen gesprochen geredet erwähnt worüber darüber als sich um""".split()
    ),
    marks=frozenset(
        "der die das und ist was wir ich haben über wann wie nicht von mit wurde hat zum im welche wer wo war waren worüber bei letzte letzten letztes vor seit".split()
    ),
    lead=r"(?:im|in|in\s+der|in\s+den|in\s+diesem|am|an|während|vom|von|zwischen|aus)(?:\s+(?:dem|der|den))?",
)
