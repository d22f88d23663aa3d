"""Dates as Spanish questions say them."""

# ruff: noqa: E501, SIM905 - a phrase is a line, and words read best in a row

from recall.dates import grammar as read
from recall.dates.grammar import ISO, Language

_PART = r"(?:a\s+)?(?:(?P<early>principios|inicios|comienzos)|(?P<mid>mediados)|(?P<late>finales|fines))\s+(?:del?\s+)?(?:mes\s+de\s+)?"
_LAST = r"(?:pasad[oa]s?|últim[oa]s?|anterior(?:es)?)"

SPANISH = Language(
    months={
        name: number
        for number, names in enumerate(
            "enero,febrero,marzo,abril,mayo,junio,julio,agosto,septiembre setiembre,octubre,"
            "noviembre,diciembre".split(","),
            start=1,
        )
        for name in names.split()
    },
    weekdays={
        name: number
        for number, names in enumerate(
            "lunes,martes,miércoles miercoles,jueves,viernes,sábado sabado,domingo".split(",")
        )
        for name in names.split()
    },
    seasons={"primavera": 3, "verano": 6, "otoño": 9, "invierno": 12},
    numbers={
        "un": 1,
        "una": 1,
        "uno": 1,
        "dos": 2,
        "tres": 3,
        "cuatro": 4,
        "cinco": 5,
        "seis": 6,
        "siete": 7,
        "ocho": 8,
        "nueve": 9,
        "diez": 10,
        "once": 11,
        "doce": 12,
    },
    units={
        "día": "day",
        "días": "day",
        "dia": "day",
        "dias": "day",
        "semana": "week",
        "semanas": "week",
        "fin de semana": "weekend",
        "mes": "month",
        "meses": "month",
        "trimestre": "quarter",
        "trimestres": "quarter",
        "año": "year",
        "años": "year",
    },
    rules=(
        ISO,
        (r"(?:el\s+)?{day}\s+de\s+{month}(?:\s+(?:de\s+|del\s+)?{year})?", read.on_date),
        (r"(?:el\s+)?{day}/(?P<mm>[01]?\d)/{year}", read.on_date),
        (rf"(?:{_PART})?{{month}}\s+(?:de\s+|del\s+)?{{year}}", read.in_month),
        (rf"(?:el\s+|la\s+)?{{season}}\s+(?P<last>{_LAST})", read.in_season),
        (rf"(?:el\s+|la\s+)?(?P<last>{_LAST})\s+{{season}}", read.in_season),
        (r"(?P<this>est[ea])\s+{season}", read.in_season),
        (r"{season}\s+(?:de\s+|del\s+)?{year}", read.in_season),
        (
            r"(?:en|desde|antes\s+de|después\s+de|durante)\s*(?:el|la|del)?\s*{season}",
            read.in_season,
        ),
        (
            r"(?:[tq]\s?(?P<quarter>[1-4])|(?P<quarter_>[1-4])(?:er|º|o)?\s+trimestre)(?:\s+(?:de\s+|del\s+)?{year})?",
            read.in_quarter,
        ),
        (
            r"(?:(?P<first>primera?)|(?P<second>segund[oa]))\s+(?:semestre|mitad)(?:\s+(?:de\s+|del\s+)?{year})?",
            read.in_half,
        ),
        (r"anteayer|antes\s+de\s+ayer", read.day_back(2)),
        (r"ayer|anoche", read.day_back(1)),
        (r"hoy|esta\s+mañana", read.day_back(0)),
        (
            r"hace\s+(?P<few>unos\s+pocos|unas\s+pocas|unos|unas|algunos|algunas|pocos|pocas)\s+{unit}",
            read.ago,
        ),
        (
            r"hace\s+(?P<about>aproximadamente|más\s+o\s+menos|cerca\s+de|alrededor\s+de|casi)\s+{count}\s+{unit}",
            read.ago,
        ),
        (r"este\s+(?:mismo\s+)?mes\s+hace\s+{count}\s+años?", read.same_time_years_ago("month")),
        (
            r"(?:este\s+(?:mismo\s+)?mes|el\s+mismo\s+mes)\s+(?:del\s+|el\s+)año\s+pasado",
            read.same_time_years_ago("month"),
        ),
        (r"hace\s+{count}\s+{unit}", read.ago),
        (rf"(?:los\s+|las\s+)?{_LAST}\s+{{count}}\s+{{unit}}", read.rolling),
        (rf"(?:los|las)\s+{_LAST}\s+{{unit}}", read.rolling),
        (r"(?:el\s+|la\s+)?(?:antepasad[oa]|penúltim[oa])\s+{unit}", read.unit_back(2)),
        (r"(?:el\s+|la\s+)?{unit}\s+antepasad[oa]", read.unit_back(2)),
        (rf"{_PART}(?:l\s+|el\s+|la\s+)?{{unit}}\s+{_LAST}", read.unit_back(1)),
        (rf"(?:el\s+|la\s+)?{{unit}}\s+{_LAST}", read.unit_back(1)),
        (rf"(?:el\s+|la\s+){_LAST}\s+{{unit}}", read.unit_back(1)),
        (rf"{_PART}est[ea]\s+{{unit}}", read.unit_back(0)),
        (r"est[ea]\s+{unit}", read.unit_back(0)),
        (rf"(?:el\s+)?{{weekday}}\s+(?P<lastweek>de\s+la\s+semana\s+{_LAST})", read.on_weekday),
        (rf"(?:el\s+)?{{weekday}}\s+(?P<last>{_LAST})", read.on_weekday),
        (rf"(?:el\s+)?(?P<last>{_LAST})\s+{{weekday}}", read.on_weekday),
        (r"(?:este|el|desde\s+el|antes\s+del)\s+{weekday}", read.on_weekday),
        (rf"(?:en\s+)?{{month}}\s+(?P<last>{_LAST})", read.in_month),
        (
            rf"(?:en|desde|antes\s+de|después\s+de|hasta|entre|y|de|a|{_PART})\s*{{month}}",
            read.in_month,
        ),
        (
            rf"(?:{_PART})?(?:el\s+año\s+|en\s+|desde\s+|hasta\s+|antes\s+de\s+|después\s+de\s+)?{{year}}",
            read.in_year,
        ),
    ),
    since=r"desde(?:\s+el|\s+la)?|a\s+partir\s+del?",
    after=r"después\s+del?|tras(?:\s+el)?",
    before=r"antes\s+del?",
    until=r"hasta(?:\s+el|\s+la)?",
    between=r"y(?:\s+el)?|a|al|hasta(?:\s+el)?",
    chats=r"\b(?:habl|convers|discut|dij|dicho|coment|pregunt|recomend|suger|explic|mencion|decid|acord|escrib|"
    r"escrit|cont(?:é|aste|amos)|plane|charl|mensaje|chat)",
    question_words=frozenset(
        """el la los las un una unos unas de del al a ante en con por para sobre y o u pero que qué quién quiénes
        cuál cuáles cuándo cuánto cuánta cuántos cuántas dónde cómo es son era eran fue fueron ser está están estaba
        ha han he hemos había habían hay hace yo tú él ella nosotros ellos ellas me te se nos os mi mis tu tus su
        sus nuestro nuestra lo le les este esta estos estas ese esa eso no más muy ya hablamos dijimos dijiste
        dije acerca""".split()
    ),
    marks=frozenset(
        "dónde estuvo qué sobre fue hace "
        "el los las qué que cuándo dónde cómo es fue hablamos del para con una por se quién cuál sobre y en de cuánto cuántos hace dijimos".split()
    ),
    lead=r"(?:en|durante|por|de|del|entre)(?:\s+(?:el|la|los|las))?",
)
