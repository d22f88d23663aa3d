"""Dates as French questions say them."""

# ruff: noqa: E501, SIM905 - a phrase is a line, and words read best in a row

from recall.dates import grammar as read
from recall.dates.grammar import ISO, Language

_PART = r"(?:(?P<early>début|au début|en début)|(?P<mid>mi-?|milieu|au milieu)|(?P<late>fin|à la fin|en fin))(?:\s*(?:de\s+l['’]|du\s+|de\s+|d['’])|\s+|(?<=-))"
_LAST = r"(?:derni[eè]re?s?|passée?s?|précédente?s?)"

FRENCH = Language(
    months={
        name: number
        for number, names in enumerate(
            "janvier,février fevrier,mars,avril,mai,juin,juillet,août aout,septembre,octobre,"
            "novembre,décembre decembre".split(","),
            start=1,
        )
        for name in names.split()
    },
    weekdays={
        name: number
        for number, name in enumerate(
            "lundi,mardi,mercredi,jeudi,vendredi,samedi,dimanche".split(",")
        )
    },
    seasons={"printemps": 3, "été": 6, "automne": 9, "hiver": 12},
    numbers={
        "un": 1,
        "une": 1,
        "deux": 2,
        "trois": 3,
        "quatre": 4,
        "cinq": 5,
        "six": 6,
        "sept": 7,
        "huit": 8,
        "neuf": 9,
        "dix": 10,
        "onze": 11,
        "douze": 12,
    },
    units={
        "jour": "day",
        "jours": "day",
        "semaine": "week",
        "semaines": "week",
        "week-end": "weekend",
        "weekend": "weekend",
        "mois": "month",
        "trimestre": "quarter",
        "trimestres": "quarter",
        "an": "year",
        "ans": "year",
        "année": "year",
        "années": "year",
    },
    rules=(
        ISO,
        (r"(?:le\s+)?{day}(?:er)?\s+{month}(?:\s+{year})?", read.on_date),
        (r"(?:le\s+)?{day}/(?P<mm>[01]?\d)/{year}", read.on_date),
        (rf"(?:{_PART})?{{month}}\s+{{year}}", read.in_month),
        (rf"(?:l['’]|le\s+){{season}}\s+(?P<last>{_LAST})", read.in_season),
        (r"(?P<this>cet|ce)\s+{season}", read.in_season),
        (r"{season}\s+(?:de\s+)?{year}", read.in_season),
        (
            r"(?:au|en|depuis\s+l['’]|depuis\s+le|pendant\s+l['’]|avant\s+l['’]|après\s+l['’])\s*{season}",
            read.in_season,
        ),
        (
            r"(?:t\s?(?P<quarter>[1-4])|(?P<quarter_>[1-4])(?:er|e|ème)\s+trimestre)(?:\s+(?:de\s+)?{year})?",
            read.in_quarter,
        ),
        (
            r"(?:(?P<first>premier|première)|(?P<second>second|seconde|deuxième))\s+(?:semestre|moitié)(?:\s+(?:de\s+)?{year})?",
            read.in_half,
        ),
        (r"avant[- ]hier", read.day_back(2)),
        (r"hier(?:\s+soir)?", read.day_back(1)),
        (r"aujourd['’]hui|ce\s+matin", read.day_back(0)),
        (r"il\s+y\s+a\s+(?P<few>quelques)\s+{unit}", read.ago),
        (r"il\s+y\s+a\s+(?P<about>environ|à\s+peu\s+près)\s+{count}\s+{unit}", read.ago),
        (r"ce\s+mois-ci\s+il\s+y\s+a\s+{count}\s+ans?", read.same_time_years_ago("month")),
        (
            r"(?:le\s+même\s+mois|ce\s+mois-ci)\s+l['’]année\s+dernière",
            read.same_time_years_ago("month"),
        ),
        (r"il\s+y\s+a\s+{count}\s+{unit}", read.ago),
        (rf"(?:ces\s+|les\s+|des\s+)?{{count}}\s+{_LAST}\s+{{unit}}", read.rolling),
        (rf"(?:ces|les|des)\s+{_LAST}\s+{{unit}}", read.rolling),
        (r"(?:l['’]|la\s+|le\s+)?avant[- ]derni[eè]re?\s+{unit}", read.unit_back(2)),
        (rf"{_PART}(?:l['’]|la\s+|le\s+)?{{unit}}\s+{_LAST}", read.unit_back(1)),
        (r"{unit}\s+d['’]avant", read.unit_back(2)),
        (rf"(?:l['’]|la\s+|le\s+)?{{unit}}\s+{_LAST}", read.unit_back(1)),
        (rf"{_PART}(?:ce|cet|cette)\s+{{unit}}(?:-ci)?", read.unit_back(0)),
        (r"(?:ce|cet|cette)\s+{unit}(?:-ci)?", read.unit_back(0)),
        (rf"(?:le\s+)?{{weekday}}\s+(?P<lastweek>de\s+la\s+semaine\s+{_LAST})", read.on_weekday),
        (rf"(?:le\s+)?{{weekday}}\s+(?P<last>{_LAST})", read.on_weekday),
        (r"(?:ce|depuis|avant|après|jusqu['’]à)\s+{weekday}", read.on_weekday),
        (rf"(?:en\s+)?{{month}}\s+(?P<last>{_LAST})", read.in_month),
        (
            rf"(?:en|depuis|avant|après|jusqu['’]en|entre|et|de|du mois de|au mois de|à|{_PART})\s*{{month}}",
            read.in_month,
        ),
        (
            rf"(?:{_PART})?(?:l['’]année\s+|en\s+|depuis\s+|avant\s+|après\s+|jusqu['’]en\s+)?{{year}}",
            read.in_year,
        ),
    ),
    since=r"depuis(?:\s+l[ea]|\s+l['’])?|à\s+partir\s+d[eu]",
    after=r"après(?:\s+le)?",
    before=r"avant(?:\s+le)?",
    until=r"jusqu['’](?:à|au|en)",
    between=r"et|à|au|jusqu['’](?:à|au|en)",
    chats=r"\b(?:parl|discut|dit|dis\b|disait|demand|conseil|recommand|propos|expliqu|mentionn|décid|évoqu|écri|"
    r"racont|prévu|planifi|conversation|discussion|message|échang)",
    question_words=frozenset(
        """le la les l un une des de du d et ou mais dans en au aux à sur pour par avec sans chez est sont était
        étaient être été a ai as avons avez ont avait avaient fait faire je tu il elle on nous vous ils elles me
        te se mon ma mes ton ta tes son sa ses notre nos votre vos leur leurs ce cet cette ces ça que qui quoi
        quel quelle quels quelles quand où pourquoi comment combien ne pas plus y j m t s c n qu ai-je avons-nous
        parlé discuté dit demandé est-ce propos""".split()
    ),
    marks=frozenset(
        "est où en avons-nous parlé quoi dit à "
        "le la les des est que qui nous avons pour dans avec quand quel quelle sur une du au et je il où a-t-il comment combien quels de qu'avons-nous qu'est-ce".split()
    ),
    lead=r"(?:en|dans|pendant|durant|au\s+cours\s+d[eu]|au|à|lors\s+d[eu]|de|du|entre)(?:\s+(?:le|la|les))?",
)
