"""Dates as Arabic questions say them."""

# ruff: noqa: E501, SIM905 - a phrase is a line, and words read best in a row

from recall.dates import calendar_days as calendar
from recall.dates import grammar as read
from recall.dates.grammar import ISO, Language

_PART = r"(?:(?P<early>أوائل|بداية|مطلع)|(?P<mid>منتصف)|(?P<late>أواخر|نهاية))\s+"
_LAST = r"(?:الماضي|الماضية|الفائت|الفائتة|المنصرم|السابق|السابقة|الأخيرة|الأخير)"

ARABIC = Language(
    months={
        name: number
        for number, names in enumerate(
            "يناير,فبراير,مارس,أبريل ابريل,مايو,يونيو,يوليو,أغسطس اغسطس,سبتمبر,أكتوبر اكتوبر,"
            "نوفمبر,ديسمبر".split(","),
            start=1,
        )
        for name in names.split()
    },
    weekdays={
        name: number
        for number, names in enumerate(
            "الاثنين الإثنين,الثلاثاء,الأربعاء الاربعاء,الخميس,الجمعة,السبت,الأحد الاحد".split(",")
        )
        for name in names.split()
    },
    seasons={
        "الربيع": 3,
        "ربيع": 3,
        "الصيف": 6,
        "صيف": 6,
        "الخريف": 9,
        "خريف": 9,
        "الشتاء": 12,
        "شتاء": 12,
    },
    numbers={
        "واحد": 1,
        "واحدة": 1,
        "ثلاثة": 3,
        "ثلاث": 3,
        "أربعة": 4,
        "أربع": 4,
        "خمسة": 5,
        "خمس": 5,
        "ستة": 6,
        "ست": 6,
        "سبعة": 7,
        "سبع": 7,
        "ثمانية": 8,
        "ثماني": 8,
        "تسعة": 9,
        "تسع": 9,
        "عشرة": 10,
        "عشر": 10,
    },
    units={
        "يوم": "day",
        "أيام": "day",
        "اليوم": "day",
        "الأيام": "day",
        "أسبوع": "week",
        "أسابيع": "week",
        "الأسبوع": "week",
        "الأسابيع": "week",
        "شهر": "month",
        "أشهر": "month",
        "شهور": "month",
        "الشهر": "month",
        "الأشهر": "month",
        "الربع": "quarter",
        "سنة": "year",
        "سنوات": "year",
        "السنة": "year",
        "السنوات": "year",
        "عام": "year",
        "أعوام": "year",
        "العام": "year",
        "نهاية الأسبوع": "weekend",
    },
    rules=(
        ISO,
        (r"(?:في\s+)?{day}\s+{month}(?:\s+{year})?", read.on_date),
        (r"{day}/(?P<mm>[01]?\d)/{year}", read.on_date),
        (
            rf"(?:في\s+)?(?:{_PART})?(?:شهر\s+)?{{month}}\s+(?:من\s+عام\s+|عام\s+)?{{year}}",
            read.in_month,
        ),
        (rf"(?:في\s+)?{{season}}\s+(?P<last>{_LAST})", read.in_season),
        (r"(?:في\s+)?(?P<this>هذا)\s+{season}", read.in_season),
        (r"(?:في\s+)?{season}\s+(?:عام\s+|سنة\s+)?{year}", read.in_season),
        (r"(?:في|منذ|قبل|بعد)\s+{season}", read.in_season),
        (r"(?:أول\s+أمس|أول\s+من\s+أمس)", read.day_back(2)),
        (r"(?:أمس|البارحة|بالأمس)", read.day_back(1)),
        (r"(?:هذا\s+الصباح|اليوم(?!\s+\w*(?:الماضي)))", read.day_back(0)),
        (r"(?:قبل|منذ)\s+(?P<few>بضعة|بضع|عدة)\s+{unit}", read.ago),
        (r"(?:قبل|منذ)\s+(?P<about>حوالي|نحو|تقريبا)\s+{count}\s+{unit}", read.ago),
        (
            r"(?:في\s+)?هذا\s+الشهر\s+(?:قبل|منذ)\s+(?:سنتين|عامين)",
            lambda match, today, _: calendar.years_ago_this(today, 2, "month"),
        ),
        (
            r"(?:في\s+)?(?:هذا\s+الشهر|نفس\s+الشهر)\s+من\s+(?:العام|السنة)\s+الماضية?",
            read.same_time_years_ago("month"),
        ),
        (r"(?:قبل|منذ)\s+(?:يومين)", read.day_back(2)),
        (
            r"(?:قبل|منذ)\s+(?:أسبوعين)",
            lambda _match, today, _: calendar.ago(today, 2, "week"),
        ),
        (r"(?:قبل|منذ)\s+(?:شهرين)", lambda _match, today, _: calendar.ago(today, 2, "month")),
        (
            r"(?:قبل|منذ)\s+(?:سنتين|عامين)",
            lambda _match, today, _: calendar.ago(today, 2, "year"),
        ),
        (r"(?:قبل|منذ)\s+{count}\s+{unit}", read.ago),
        (r"(?:قبل|منذ)\s+(?P<unit>يوم|أسبوع|شهر|سنة|عام)", read.ago),
        (
            r"(?:في\s+|خلال\s+)?آخر\s+يومين",
            lambda _match, today, _: calendar.rolling(today, 2, "day"),
        ),
        (
            r"(?:في\s+|خلال\s+)?آخر\s+أسبوعين",
            lambda _match, today, _: calendar.rolling(today, 2, "week"),
        ),
        (
            r"(?:في\s+|خلال\s+)?آخر\s+شهرين",
            lambda _match, today, _: calendar.rolling(today, 2, "month"),
        ),
        (r"(?:في\s+|خلال\s+)?(?:آخر|أخر)\s+{count}\s+{unit}", read.rolling),
        (rf"(?:في\s+|خلال\s+)?{{unit}}\s+{{count}}\s+{_LAST}", read.rolling),
        (rf"(?:في\s+|خلال\s+)?(?P<unit>الأيام|الأسابيع|الأشهر|السنوات)\s+{_LAST}", read.rolling),
        (r"(?:في\s+)?{unit}\s+(?:قبل\s+الماضي|قبل\s+الماضية)", read.unit_back(2)),
        (rf"(?:في\s+)?{{weekday}}\s+(?P<lastweek>من\s+الأسبوع\s+{_LAST})", read.on_weekday),
        (rf"(?:في\s+)?(?P<unit>نهاية الأسبوع)\s+{_LAST}", read.unit_back(1)),
        (rf"(?:في\s+)?(?:{_PART})?{{unit}}\s+{_LAST}", read.unit_back(1)),
        (rf"(?:في\s+)?(?:{_PART})?(?:هذا|هذه)\s+{{unit}}", read.unit_back(0)),
        (rf"(?:في\s+)?(?:يوم\s+)?{{weekday}}\s+(?P<last>{_LAST})", read.on_weekday),
        (r"(?:يوم|منذ|قبل|بعد)\s+{weekday}", read.on_weekday),
        (rf"(?:في\s+)?(?:شهر\s+)?{{month}}\s+(?P<last>{_LAST})", read.in_month),
        (rf"(?:في\s+)?(?:{_PART})?(?:شهر\s+)?{{month}}", read.in_month),
        (rf"(?:في\s+)?(?:{_PART})?(?:عام\s+|سنة\s+)?{{year}}", read.in_year),
    ),
    since=r"منذ|ابتداء\s+من",
    after=r"بعد",
    before=r"قبل",
    until=r"حتى|إلى\s+غاية",
    between=r"و|إلى|حتى",
    chats=r"تحدث|ناقش|قلت|قلنا|قال|سأل|ذكر|نصح|اقترح|شرح|قرر|كتب|خطط|محادث|دردش|رسال|تكلم",
    question_words=frozenset(
        """في من على إلى عن مع ما ماذا متى أين كيف لماذا هل كم أي أية التي الذي الذين هو هي هم نحن أنا أنت كان
        كانت كانوا هذا هذه ذلك تلك و أو ثم قد لقد لم لن لا إن أن بين بعد قبل تحدثنا قلنا عند كل بها به له لها""".split()
    ),
    prefix="و?",
    lead=r"في|خلال|من|بين",
)
