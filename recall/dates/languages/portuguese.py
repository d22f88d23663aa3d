"""Dates as Portuguese questions say them."""

# ruff: noqa: E501, SIM905 - a phrase is a line, and words read best in a row

from recall.dates import grammar as read
from recall.dates.grammar import ISO, Language

_PART = r"(?:n[oa]s?\s+)?(?:(?P<early>início|começo|princípio)|(?P<mid>meados|meio)|(?P<late>fim|final|finais))\s+(?:d[eoa]\s+)?"
_LAST = r"(?:passad[oa]s?|últim[oa]s?|anterior(?:es)?)"

PORTUGUESE = Language(
    months={
        name: number
        for number, names in enumerate(
            "janeiro,fevereiro,março marco,abril,maio,junho,julho,agosto,setembro,outubro,"
            "novembro,dezembro".split(","),
            start=1,
        )
        for name in names.split()
    },
    weekdays={
        name: number
        for number, names in enumerate(
            "segunda segunda-feira,terça terça-feira,quarta quarta-feira,quinta quinta-feira,"
            "sexta sexta-feira,sábado,domingo".split(",")
        )
        for name in names.split()
    },
    seasons={"primavera": 3, "verão": 6, "outono": 9, "inverno": 12},
    numbers={
        "um": 1,
        "uma": 1,
        "dois": 2,
        "duas": 2,
        "três": 3,
        "quatro": 4,
        "cinco": 5,
        "seis": 6,
        "sete": 7,
        "oito": 8,
        "nove": 9,
        "dez": 10,
        "onze": 11,
        "doze": 12,
    },
    units={
        "dia": "day",
        "dias": "day",
        "semana": "week",
        "semanas": "week",
        "fim de semana": "weekend",
        "mês": "month",
        "mes": "month",
        "meses": "month",
        "trimestre": "quarter",
        "trimestres": "quarter",
        "ano": "year",
        "anos": "year",
    },
    rules=(
        ISO,
        (r"(?:dia\s+)?{day}\s+de\s+{month}(?:\s+(?:de\s+)?{year})?", read.on_date),
        (r"(?:dia\s+)?{day}/(?P<mm>[01]?\d)/{year}", read.on_date),
        (rf"(?:{_PART})?{{month}}\s+(?:de\s+)?{{year}}", read.in_month),
        (rf"{{season}}\s+(?P<last>{_LAST})", read.in_season),
        (rf"(?P<last>{_LAST})\s+{{season}}", read.in_season),
        (r"(?P<this>nest[ea]|est[ea])\s+{season}", read.in_season),
        (r"{season}\s+(?:de\s+)?{year}", read.in_season),
        (
            r"(?:n[oa]|desde\s+[oa]|antes\s+d[oa]|depois\s+d[oa]|durante\s+[oa])\s+{season}",
            read.in_season,
        ),
        (
            r"(?:[tq]\s?(?P<quarter>[1-4])|(?P<quarter_>[1-4])[ºo]?\s+trimestre)(?:\s+(?:de\s+)?{year})?",
            read.in_quarter,
        ),
        (
            r"(?:(?P<first>primeir[oa])|(?P<second>segund[oa]))\s+(?:semestre|metade)(?:\s+(?:de\s+)?{year})?",
            read.in_half,
        ),
        (r"anteontem", read.day_back(2)),
        (r"ontem(?:\s+à\s+noite)?", read.day_back(1)),
        (r"hoje", read.day_back(0)),
        (r"há\s+(?P<few>alguns|algumas|uns|umas|poucos|poucas)\s+{unit}(?:\s+atrás)?", read.ago),
        (
            r"há\s+(?P<about>cerca\s+de|aproximadamente|mais\s+ou\s+menos|quase)\s+{count}\s+{unit}",
            read.ago,
        ),
        (r"neste\s+(?:mesmo\s+)?mês\s+há\s+{count}\s+anos?", read.same_time_years_ago("month")),
        (
            r"(?:neste\s+mesmo\s+mês|no\s+mesmo\s+mês|neste\s+mês)\s+(?:d?o\s+)ano\s+passado",
            read.same_time_years_ago("month"),
        ),
        (r"(?:há\s+{count}\s+{unit}(?:\s+atrás)?)", read.ago),
        (r"{count}\s+{unit}\s+atrás", read.ago),
        (rf"{_LAST}\s+{{count}}\s+{{unit}}", read.rolling),
        (r"(?:nos\s+|nas\s+|os\s+|as\s+)(?:últimos|últimas)\s+{unit}", read.rolling),
        (r"(?:retrasad[oa]|penúltim[oa])\s+{unit}", read.unit_back(2)),
        (r"{unit}\s+retrasad[oa]", read.unit_back(2)),
        (rf"(?P<unit>fim de semana)\s+{_LAST}", read.unit_back(1)),
        (rf"{_PART}{{unit}}\s+{_LAST}", read.unit_back(1)),
        (rf"{{unit}}\s+{_LAST}", read.unit_back(1)),
        (rf"(?:n?[oa]\s+){_LAST}\s+{{unit}}", read.unit_back(1)),
        (rf"{_PART}(?:dest[ea]|est[ea])\s+{{unit}}", read.unit_back(0)),
        (r"n?est[ea]\s+{unit}", read.unit_back(0)),
        (rf"{{weekday}}\s+(?P<lastweek>da\s+semana\s+{_LAST})", read.on_weekday),
        (rf"{{weekday}}\s+(?P<last>{_LAST})", read.on_weekday),
        (rf"(?P<last>{_LAST})\s+{{weekday}}", read.on_weekday),
        (r"(?:n[oa]|desde|antes\s+de|até)\s+{weekday}", read.on_weekday),
        (rf"(?:em\s+)?{{month}}\s+(?P<last>{_LAST})", read.in_month),
        (
            rf"(?:em|desde|antes\s+de|depois\s+de|até|entre|e|de|a|{_PART})\s*{{month}}",
            read.in_month,
        ),
        (
            rf"(?:{_PART})?(?:no\s+ano\s+de\s+|em\s+|desde\s+|até\s+|antes\s+de\s+|depois\s+de\s+)?{{year}}",
            read.in_year,
        ),
    ),
    since=r"desde(?:\s+[oa])?|a\s+partir\s+d[eo]",
    after=r"depois\s+d[eoa]|após(?:\s+[oa])?",
    before=r"antes\s+d[eoa]",
    until=r"até(?:\s+[oa])?",
    between=r"e|a|ao|até",
    chats=r"\b(?:fal(?:a|ou|ei|ámos)|convers|discut|diss|dito|comen|pergunt|recomend|suger|expli|mencion|decid|"
    r"combin|escrev|cont(?:ei|ou|ámos|amos)|planej|mensagem|chat)",
    question_words=frozenset(
        """o a os as um uma uns umas de do da dos das no na nos nas em por pelo pela para com sobre e ou mas que
        quê quem qual quais quando quanto quanta quantos quantas onde como é são era eram foi foram ser está estão
        estava tem têm tinha há eu tu você ele ela nós eles elas me te se meu minha meus minhas teu tua seu sua
        seus suas nosso nossa isso este esta esse essa não mais muito já falamos dissemos disse respeito""".split()
    ),
    marks=frozenset(
        "onde esteve o que sobre "
        "o os as do da no na em que quando onde como é foi falamos para com uma não nós dos sobre quem qual e de há dissemos".split()
    ),
    lead=r"(?:em|n[oa]s?|durante|d[eoa]s?|entre|pel[oa]s?)(?:\s+[oa]s?)?",
)
