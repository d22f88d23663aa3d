"""Dates as Chinese questions say them."""

from recall.dates import calendar_days as calendar
from recall.dates import grammar as read
from recall.dates.grammar import ISO, Language

_NUMBERS = {
    "一": 1,
    "二": 2,
    "两": 2,
    "兩": 2,
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
_PART = r"(?:(?P<early>初|上旬)|(?P<mid>中旬|中)|(?P<late>底|末|下旬))"

CHINESE = Language(
    months={f"{name}月": number for name, number in _NUMBERS.items()},
    weekdays={
        f"{week}{name}": number
        for number, names in enumerate(("一", "二", "三", "四", "五", "六", "日天"))
        for name in names
        for week in ("星期", "周", "週", "礼拜")
    },
    seasons={
        "春天": 3,
        "春季": 3,
        "夏天": 6,
        "夏季": 6,
        "秋天": 9,
        "秋季": 9,
        "冬天": 12,
        "冬季": 12,
    },
    numbers=_NUMBERS,
    units={
        "天": "day",
        "日": "day",
        "周": "week",
        "週": "week",
        "星期": "week",
        "礼拜": "week",
        "个星期": "week",
        "周末": "weekend",
        "週末": "weekend",
        "个月": "month",
        "個月": "month",
        "月": "month",
        "季度": "quarter",
        "个季度": "quarter",
        "年": "year",
    },
    rules=(
        ISO,
        (rf"{{year}}年{_MONTH_NUMBER}月{{day}}[日号號]", read.on_date),
        (rf"{_MONTH_NUMBER}月{{day}}[日号號]", read.on_date),
        (rf"{{year}}年{_MONTH_NUMBER}月{_PART}?", read.in_month),
        (rf"{{year}}年{{month}}{_PART}?", read.in_month),
        (r"{year}年?的?{season}", read.in_season),
        (r"(?P<last>去年|上个?)的?{season}", read.in_season),
        (r"(?P<this>今年|这个?)的?{season}", read.in_season),
        (r"{year}年?第?(?P<quarter>[一二三四1-4])季度", read.in_quarter),
        (r"第(?P<quarter>[一二三四1-4])季度", read.in_quarter),
        (r"{year}年(?:(?P<first>上)|(?P<second>下))半年", read.in_half),
        (r"前天", read.day_back(2)),
        (r"昨天|昨日|昨晚", read.day_back(1)),
        (r"今天|今日|今早", read.day_back(0)),
        (r"(?P<few>几)(?:个)?(?P<unit>天|周|星期|月|年)(?:以)?前", read.ago),
        (r"(?P<about>大约|大概|差不多){count}{unit}(?:以)?前", read.ago),
        (r"{count}年前的?(?:这个月|本月|同月)", read.same_time_years_ago("month")),
        (r"去年(?:的)?(?:这个月|同月|本月)", read.same_time_years_ago("month")),
        (r"{count}{unit}(?:多)?(?:以|之)?前", read.ago),
        (r"(?:最近|过去|過去|近)(?:的)?{count}{unit}", read.rolling),
        (r"上上(?:个|個)?{unit}", read.unit_back(2)),
        (rf"上(?:个|個)?(?P<unit>月){_PART}", read.unit_back(1)),
        (r"(?P<lastweek>上)(?:个|個)?{weekday}", read.on_weekday),
        (r"上(?:个|個)?{unit}", read.unit_back(1)),
        (rf"去(?P<unit>年){_PART}", read.unit_back(1)),
        (r"前(?P<unit>年)", read.unit_back(2)),
        (
            rf"去年{_MONTH_NUMBER}月",
            lambda match, today, _: calendar.named_month(today, int(match["mm"]), today.year - 1),
        ),
        (
            r"去年{month}",
            lambda match, today, language: calendar.named_month(
                today, language.months[match["month"]], today.year - 1
            ),
        ),
        (r"去(?P<unit>年)", read.unit_back(1)),
        (rf"今(?P<unit>年){_PART}", read.unit_back(0)),
        (r"今(?P<unit>年)", read.unit_back(0)),
        (r"(?:这|這|本)(?:个|個)?{unit}", read.unit_back(0)),
        (r"{weekday}", read.on_weekday),
        (rf"{_MONTH_NUMBER}月份?{_PART}?", read.in_month),
        (rf"{{month}}份?{_PART}?", read.in_month),
        (rf"{{year}}年?{_PART}?", read.in_year),
    ),
    since=r"以来|以來|起|开始|至今",
    after=r"之后|以后|之後|以後|后(?!来)",
    before=r"之前|以前|前(?!端|面|后)",
    until=r"为止|為止|止",
    between=r"和|到|至|与|與",
    chats=r"聊|讨论|討論|谈|談|说|說|提到|提过|问过|問|建议|建議|决定|決定|告诉|告訴|解释|推荐|推薦|对话|對話|消息|写",
    marks=frozenset(),
    is_behind=True,
    has_spaces=False,
    lead=r"",
)
