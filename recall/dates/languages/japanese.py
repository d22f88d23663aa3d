"""Dates as Japanese questions say them."""

from recall.dates import calendar_days as calendar
from recall.dates import grammar as read
from recall.dates.grammar import ISO, Language

_NUMBERS = {
    "一": 1,
    "二": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
    "十": 10,
    "十一": 11,
    "十二": 12,
}
_MONTH_NUMBER = r"(?P<mm>1[0-2]|0?[1-9])"
_PART = (
    r"の?(?:(?P<early>初め|はじめ|初旬|上旬|頭)|(?P<mid>半ば|中旬|中頃)|(?P<late>終わり|末|下旬))"
)

JAPANESE = Language(
    months={f"{name}月": number for name, number in _NUMBERS.items()},
    weekdays={
        f"{name}曜{day}": number
        for number, name in enumerate(("月", "火", "水", "木", "金", "土", "日"))
        for day in ("日", "")
    },
    seasons={"春": 3, "夏": 6, "秋": 9, "冬": 12},
    numbers=_NUMBERS,
    units={
        "日": "day",
        "日間": "day",
        "週間": "week",
        "週": "week",
        "週末": "weekend",
        "か月": "month",
        "ヶ月": "month",
        "カ月": "month",
        "ヵ月": "month",
        "ヶ月間": "month",
        "か月間": "month",
        "月": "month",
        "四半期": "quarter",
        "年": "year",
        "年間": "year",
    },
    rules=(
        ISO,
        (rf"{{year}}年{_MONTH_NUMBER}月{{day}}日", read.on_date),
        (rf"{_MONTH_NUMBER}月{{day}}日", read.on_date),
        (rf"{{year}}年の?{_MONTH_NUMBER}月(?:{_PART})?", read.in_month),
        (r"{year}年の?{season}", read.in_season),
        (r"(?P<last>去年|昨年|この前)の{season}", read.in_season),
        (r"(?P<this>今年の|この){season}", read.in_season),
        (r"{year}年の?第?(?P<quarter>[一二三四1-4])四半期", read.in_quarter),
        (r"第(?P<quarter>[一二三四1-4])四半期", read.in_quarter),
        (r"{year}年の?(?:(?P<first>上)|(?P<second>下))半期", read.in_half),
        (r"一昨日|おととい", read.day_back(2)),
        (r"昨日|きのう|昨夜|昨晩", read.day_back(1)),
        (r"今日|きょう|本日|今朝", read.day_back(0)),
        (r"(?P<few>数)(?P<unit>日|週間|か月|ヶ月|年)前", read.ago),
        (r"(?P<about>約|およそ|だいたい){count}{unit}(?:ほど)?前", read.ago),
        (r"{count}{unit}(?P<about>ほど|くらい|ぐらい)前", read.ago),
        (r"{count}年前の(?:今月|同じ月)", read.same_time_years_ago("month")),
        (r"(?:去年|昨年)の(?:今月|同じ月)", read.same_time_years_ago("month")),
        (r"{count}{unit}前", read.ago),
        (r"(?:この|過去|ここ|直近){count}{unit}(?:間)?", read.rolling),
        (r"先々(?P<unit>週|月)", read.unit_back(2)),
        (r"(?P<lastweek>先週)の?{weekday}", read.on_weekday),
        (r"先週の?(?P<unit>週末)|先(?P<unit_>週末)", read.unit_back(1)),
        (rf"先(?P<unit>週|月)(?:{_PART})?", read.unit_back(1)),
        (r"前(?P<unit>四半期)", read.unit_back(1)),
        (r"一昨(?P<unit>年)|おととし", read.unit_back(2)),
        (
            rf"(?:去年|昨年)の{_MONTH_NUMBER}月",
            lambda match, today, _: calendar.named_month(today, int(match["mm"]), today.year - 1),
        ),
        (rf"[去昨](?P<unit>年)(?:{_PART})?", read.unit_back(1)),
        (rf"今(?P<unit>年|月|週)(?:{_PART})?", read.unit_back(0)),
        (r"今(?P<unit>四半期|週末)|この(?P<unit_>週末)", read.unit_back(0)),
        (r"(?P<last>先日の|この前の|前の){weekday}", read.on_weekday),
        (r"{weekday}", read.on_weekday),
        (rf"{_MONTH_NUMBER}月(?:{_PART})?", read.in_month),
        (rf"{{month}}(?:{_PART})?", read.in_month),
        (rf"{{year}}年?(?:{_PART})?", read.in_year),
    ),
    since=r"以来|以降|から(?!.{0,12}まで)",
    after=r"より後|の?後",
    before=r"より前|以前|の?前",
    until=r"まで",
    between=r"から|と",
    chats=r"話|議論|相談|言|聞|尋|勧め|提案|説明|決め|書|チャット|会話|メッセージ",
    marks=frozenset(),
    is_behind=True,
    has_spaces=False,
    lead=r"",
)
