"""The overview: what the whole history is about, and how much there is of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from fastapi import APIRouter, Request, Response

from api.deps import KernelDep, SignedInDep
from api.web.templating import render
from recall.overview.inventory import MonthCount
from recall.overview.reading import chat_history_overview
from recall.overview.results import MonthlyConversations

_MOST_BARS = 48  # of more months each bar is several
_SPARKS = 24

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of the chart, in units of its 100 × 100 view. `label` says what it shows."""

    x: float
    width: float
    height: float
    label: str


@dataclass(frozen=True, slots=True)
class Chart:
    bars: Sequence[Bar]
    first: str
    last: str
    most: int


@router.get("/overview")
def overview_page(request: Request, kernel: KernelDep, signed_in: SignedInDep) -> Response:
    found = chat_history_overview(kernel, signed_in.principal)
    months = [each.month for each in found.inventory.months]
    context = {
        "signed_in": signed_in,
        "overview": found,
        "portrait": found.portrait,
        "inventory": found.inventory,
        "chart": chart_of(found.inventory.months),
        "sparks": {topic.name: sparks(topic.months, months) for topic in found.portrait.topics},
        "languages": {
            each.language: _LANGUAGES.get(each.language, each.language)
            for each in found.inventory.languages
        },
    }
    return render(request, "overview.html", context)


_LANGUAGES = {
    "ar": "Arabic",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "fr": "French",
    "he": "Hebrew",
    "hi": "Hindi",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "nl": "Dutch",
    "pl": "Polish",
    "pt": "Portuguese",
    "ru": "Russian",
    "sv": "Swedish",
    "th": "Thai",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "zh": "Chinese",
}


def chart_of(months: Sequence[MonthCount]) -> Chart | None:
    """Messages over time, months without any included; None when nothing is dated."""
    if not months:
        return None
    counted = {each.month: each.messages for each in months}
    every = list(_months(months[0].month, months[-1].month))
    size = -(-len(every) // _MOST_BARS)
    runs = [every[start : start + size] for start in range(0, len(every), size)]
    totals = [sum(counted.get(month, 0) for month in run) for run in runs]
    most = max(totals) or 1
    width = 100 / len(runs)
    bars = [
        Bar(
            x=round(width * place, 3),
            width=round(width * 0.76, 3),
            # A little is to be told from nothing.
            height=round(max(1.5, 100 * total / most), 2) if total else 0.0,
            label=f"{_span(run)}: {total:,} {'message' if total == 1 else 'messages'}",
        )
        for place, (run, total) in enumerate(zip(runs, totals, strict=True))
    ]
    return Chart(bars, _name(every[0]), _name(every[-1]), most)


def sparks(months: Sequence[MonthlyConversations], every: Sequence[str]) -> list[Bar]:
    """A topic's conversations over the whole time, in at most 24 bars."""
    if not months or not every:
        return []
    first, last = min(every[0], months[0].month), max(every[-1], months[-1].month)
    all_months = list(_months(first, last))
    size = -(-len(all_months) // _SPARKS)
    counted = {each.month: each.conversations for each in months}
    runs = [all_months[start : start + size] for start in range(0, len(all_months), size)]
    totals = [sum(counted.get(month, 0) for month in run) for run in runs]
    most, width = max(totals) or 1, 100 / len(runs)
    return [
        Bar(round(width * place, 3), round(width * 0.7, 3), round(100 * total / most, 2), "")
        for place, total in enumerate(totals)
    ]


def _months(first: str, last: str) -> list[str]:
    year, month = map(int, first.split("-"))
    found = []
    while (name := f"{year:04}-{month:02}") <= last:
        found.append(name)
        year, month = (year + 1, 1) if month == 12 else (year, month + 1)
    return found


def _name(month: str) -> str:
    year, number = map(int, month.split("-"))
    return f"{date(year, number, 1):%b %Y}"


def _span(run: Sequence[str]) -> str:
    return _name(run[0]) if len(run) == 1 else f"{_name(run[0])} – {_name(run[-1])}"
