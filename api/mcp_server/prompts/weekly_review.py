"""weekly_review: a week of conversations in order, to look back on."""

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta

from api.mcp_server.prompt import Prompt, PromptParameter
from backread.domain import Principal, Scope
from backread.errors import InvalidInput
from backread.kernel import Kernel
from backread.store.base import utcnow
from recall.dates.window import zone_named
from recall.history import MAX_TOKENS, RecallRequest, recall_chat_history

_WEEK = re.compile(r"(?P<year>[0-9]{4})-?W(?P<week>[0-9]{2})")
_SUGGESTED_WEEKS = 12


def _run(kernel: Kernel, principal: Principal, arguments: Mapping[str, str]) -> str:
    zone = zone_named(principal.timezone)
    monday = _monday(arguments.get("week", ""), utcnow().astimezone(zone).date())
    first = datetime.combine(monday, time.min, zone)
    last = datetime.combine(monday + timedelta(days=6), time.max, zone)
    recalled = recall_chat_history(
        kernel,
        principal,
        RecallRequest(after=first.isoformat(), before=last.isoformat(), max_tokens=MAX_TOKENS),
    )
    sunday = monday + timedelta(days=6)
    return (
        f"Look back with me on the week from {monday.isoformat()} to {sunday.isoformat()}. Below "
        "is how each of my conversations of that week began, in order. Group them by topic, say "
        "in a line each what they were about, and list what looks decided and what looks open. "
        "Where you need more than the beginning, call get_conversation_summary with the "
        "conversationId first. Cite the conversations; where there is nothing, say so.\n\n"
        f"{recalled.text}"
    )


def _monday(week: str, today: date) -> date:
    """The first day of the ISO week, of the week that a day lies in, or of the last seven days'
    week when nothing is given. Raises InvalidInput."""
    if not week:
        return today - timedelta(days=today.weekday())
    try:
        if match := _WEEK.fullmatch(week.upper()):
            return date.fromisocalendar(int(match["year"]), int(match["week"]), 1)
        day = date.fromisoformat(week)
    except ValueError:
        raise InvalidInput(
            f"“{week[:40]}” is not a week.", hint="Use 2026-W48, or a day such as 2026-11-25."
        ) from None
    return day - timedelta(days=day.weekday())


def _weeks(kernel: Kernel, principal: Principal, typed: str) -> Sequence[str]:
    today = utcnow().astimezone(zone_named(principal.timezone)).date()
    weeks = [_name(today - timedelta(weeks=back)) for back in range(_SUGGESTED_WEEKS)]
    return [week for week in weeks if week.startswith(typed.strip().upper())]


def _name(day: date) -> str:
    year, week, _ = day.isocalendar()
    return f"{year}-W{week:02}"


PROMPT = Prompt(
    name="weekly_review",
    title="Review a week",
    description="Goes through the conversations of one week in order: what they were about, what "
    "was decided, what is open.",
    scope=Scope.CHAT_HISTORY_READ,
    parameters=(
        PromptParameter(
            "week",
            "Such as 2026-W48, or any day of it; this week when left out.",
            suggest=_weeks,
        ),
    ),
    run=_run,
)
