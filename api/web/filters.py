"""How numbers, sizes and times are written for people. Times are shown in the account's zone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import groupby
from typing import Any, Final
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from jinja2 import pass_context
from jinja2.runtime import Context

from backread.store.models import Conversation
from ingest.news import news_in_words

PLATFORM_NAMES: Final = {
    "chatgpt": "ChatGPT",
    "claude_ai": "Claude",
    "claude_code": "Claude Code",
    "codex": "Codex",
    "deepseek": "DeepSeek",
    "grok": "Grok",
    "gemini_takeout": "Gemini",
    "lechat": "Le Chat",
    "openwebui": "Open WebUI",
    "librechat": "LibreChat",
    "typingmind": "TypingMind",
    "chatbotui": "Chatbot UI",
    "chatgpt_exporter": "ChatGPT (saved pages)",
    "gemini_cli": "Gemini CLI",
    "gemini_aistudio": "AI Studio",
    "perplexity": "Perplexity",
    "ms_copilot": "Copilot",
    "character_ai": "Character.AI",
    "sillytavern": "SillyTavern",
    "poe": "Poe",
    "vscode_copilot": "Copilot in VS Code",
    "copilot_cli": "Copilot CLI",
    "cursor": "Cursor",
    "transcript": "Transcript",
}
_KIND_WORDS: Final = {
    "hidden": "hidden notes",
    "system": "system text",
    "tool": "tool calls",
    "reasoning": "reasoning",
}
# The first mark found wins: browsers name each other in their user agents.
_BROWSERS: Final = (
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS: Final = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)
_BYTE_UNITS: Final = ("bytes", "kB", "MB", "GB", "TB")


def zone_of(signed_in: Any) -> ZoneInfo:
    """The time zone to show dates in; UTC when nobody is signed in or the name is unknown."""
    try:
        return ZoneInfo(getattr(signed_in, "timezone", "") or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")


def platform_name(slug: str) -> str:
    """The platform's own spelling; an unknown slug is made readable."""
    return PLATFORM_NAMES.get(slug, slug.replace("_", " ").title())


def number(value: int) -> str:
    """1234567 as "1,234,567"."""
    return f"{value:,}"


def plural(value: int, one: str, many: str = "") -> str:
    """A count with its noun: "1 message", "1,204 messages"."""
    return f"{value:,} {one if value == 1 else many or one + 's'}"


def size(value: int) -> str:
    """Bytes in decimal units, as operating systems show them."""
    amount = float(value)
    for unit in _BYTE_UNITS[:-1]:
        if amount < 1000:
            decimals = 0 if amount >= 10 or unit == "bytes" else 1
            return f"{amount:.{decimals}f} {unit}"
        amount /= 1000
    return f"{amount:.1f} {_BYTE_UNITS[-1]}"


def local(context: Context, value: datetime) -> datetime:
    zone: ZoneInfo = context.get("zone") or ZoneInfo("UTC")
    return value.astimezone(zone)


@pass_context
def day(context: Context, value: datetime | None) -> str:
    """ "14 March 2024"; "undated" when the export had no time."""
    if value is None:
        return "undated"
    shown = local(context, value)
    return f"{shown.day} {shown:%B %Y}"


@pass_context
def short_day(context: Context, value: datetime | None) -> str:
    """ "14 Mar", with the year unless it is this one."""
    if value is None:
        return "undated"
    shown = local(context, value)
    this_year = shown.year == local(context, datetime.now(UTC)).year
    return f"{shown.day} {shown:%b}" if this_year else f"{shown.day} {shown:%b %Y}"


@pass_context
def moment(context: Context, value: datetime | None) -> str:
    """ "14 March 2024, 09:05"."""
    if value is None:
        return "undated"
    shown = local(context, value)
    return f"{shown.day} {shown:%B %Y, %H:%M}"


@pass_context
def clock(context: Context, value: datetime | None) -> str:
    return "" if value is None else f"{local(context, value):%H:%M}"


@pass_context
def local_date(context: Context, value: datetime) -> date:
    return local(context, value).date()


@pass_context
def month(context: Context, value: datetime | None) -> str:
    return "Undated" if value is None else f"{local(context, value):%B %Y}"


@pass_context
def span(context: Context, earliest: datetime | None, latest: datetime | None) -> str:
    """ "Mar 2023 – Nov 2026", or one month when both fall into it."""
    if earliest is None or latest is None:
        return "undated"
    first, last = f"{local(context, earliest):%b %Y}", f"{local(context, latest):%b %Y}"
    return first if first == last else f"{first} – {last}"


def ago(value: datetime | None) -> str:
    """ "just now", "5 minutes ago", "3 days ago"; "never" for None."""
    if value is None:
        return "never"
    seconds = max(0, int((datetime.now(UTC) - value).total_seconds()))
    if seconds < 60:
        return "just now"
    for limit, unit, word in (
        (3600, 60, "minute"),
        (86_400, 3600, "hour"),
        (86_400 * 30, 86_400, "day"),
        (86_400 * 365, 86_400 * 30, "month"),
    ):
        if seconds < limit:
            return plural(seconds // unit, word) + " ago"
    return plural(seconds // (86_400 * 365), "year") + " ago"


def noun(one: str, value: int) -> str:
    """The noun alone, in the number of the count before it."""
    many = f"{one[:-1]}ies" if one.endswith("y") else f"{one}s"
    return one if value == 1 else many


def duration(seconds: float) -> str:
    """ "under a second", "42 seconds", "5 minutes", "3 hours 20 minutes"."""
    if seconds < 1:
        return "under a second"
    if seconds < 90:
        return plural(round(seconds), "second")
    minutes = round(seconds / 60)
    if minutes < 90:
        return plural(minutes, "minute")
    hours, rest = divmod(minutes, 60)
    return (
        f"{plural(hours, 'hour')} {plural(rest, 'minute')}"
        if rest and hours < 10
        else (plural(hours, "hour") if hours < 72 else plural(round(hours / 24), "day"))
    )


def time_left(seconds: int) -> str:
    """ "about 5 minutes left": an estimate, so it is not more exact than that."""
    return "a few seconds left" if seconds < 10 else f"about {duration(seconds)} left"


@dataclass(frozen=True, slots=True)
class MonthGroup:
    """Conversations of one month; the label is empty when the list is not sorted by date."""

    label: str
    rows: Sequence[Conversation]


@pass_context
def groupby_month(
    context: Context, conversations: Sequence[Conversation], is_dated: bool
) -> list[MonthGroup]:
    """The conversations under the months of their last messages, in the order they come in."""
    if not is_dated:
        return [MonthGroup("", conversations)]
    return [
        MonthGroup(label, list(rows))
        for label, rows in groupby(conversations, lambda row: month(context, row.last_message_at))
    ]


def kind_word(kind: str) -> str:
    """A message kind in a sentence: "tool calls, hidden notes"."""
    return _KIND_WORDS.get(kind, "other content")


def browser_name(user_agent: str) -> str:
    """ "Firefox on macOS", as far as a user agent tells."""
    browser = next((name for mark, name in _BROWSERS if mark in user_agent), "A browser")
    system = next((name for mark, name in _SYSTEMS if mark in user_agent), "")
    return f"{browser} on {system}" if system else browser


def web_link(address: str) -> str:
    """`address` if it is a plain web address, else "": nothing else may become a link."""
    try:
        parts = urlsplit(address.strip())
    except ValueError:
        return ""
    return address.strip() if parts.scheme in {"http", "https"} and parts.hostname else ""


FILTERS: Final[dict[str, Callable[..., Any]]] = {
    "platform_name": platform_name,
    "number": number,
    "plural": plural,
    "size": size,
    "day": day,
    "short_day": short_day,
    "moment": moment,
    "clock": clock,
    "local_date": local_date,
    "month": month,
    "span": span,
    "ago": ago,
    "noun": noun,
    "duration": duration,
    "time_left": time_left,
    "groupby_month": groupby_month,
    "kind_word": kind_word,
    "browser_name": browser_name,
    "web_link": web_link,
    "news_in_words": news_in_words,
}
