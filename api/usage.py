"""What the language model has taken and may still take, for pages and scripts alike."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from backread.domain import Principal
from backread.llm.language.pricing import price_of, price_table
from backread.metering import MICROS, Limit, Span, budget_spans, server_limits, today_of
from backread.settings import Settings
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import LanguageBudget
from backread.store.repositories.usage import (
    Spent,
    find_budget,
    save_budget,
    spent_by_day,
    spent_by_purpose,
    zone_of_account,
)

# In words, for people; a purpose that is not here is shown as it is.
PURPOSES = {
    "summarise_part": "Summaries: reading",
    "summarise_whole": "Summaries: putting together",
    "answer_question": "Answers to questions",
    "name_category": "Categories: names",
    "portray_person": "Overview: portrait",
}


@dataclass(frozen=True, slots=True)
class UsageReport:
    """`price_date` is set when the price comes from the list that Backread ships."""

    model: str
    currency: str
    price_in: float | None
    price_out: float | None
    price_date: date | None
    day: Span
    month: Span
    by_day: Sequence[tuple[str, Spent]]
    by_purpose: Sequence[tuple[str, Spent]]
    own: LanguageBudget | None
    server_day: Limit
    server_month: Limit


def usage_report(
    session: ReadSession, settings: Settings, principal: Principal, *, days: int
) -> UsageReport:
    """The account's last `days` days, today included, by its own calendar."""
    today = today_of(zone_of_account(session, principal.account_id))
    first = (today - timedelta(days=days - 1)).isoformat()
    day, month = budget_spans(session, settings, principal.account_id)
    price = price_of(settings)
    is_listed = settings.llm_price_in is None and settings.llm_price_out is None
    server_day, server_month = server_limits(settings)
    return UsageReport(
        model=settings.llm_model,
        currency=price.currency if price else settings.llm_currency,
        price_in=price.per_million_in if price else None,
        price_out=price.per_million_out if price else None,
        price_date=price_table().as_of if price and is_listed else None,
        day=day,
        month=month,
        by_day=spent_by_day(session, principal, first),
        by_purpose=spent_by_purpose(session, principal, first),
        own=find_budget(session, principal.account_id),
        server_day=server_day,
        server_month=server_month,
    )


def set_own_budget(
    session: WriteSession,
    principal: Principal,
    *,
    day: float | None,
    month: float | None,
    day_tokens: int | None,
    month_tokens: int | None,
) -> None:
    """What the account's owner allows; None leaves the server's limit. More than the server
    allows has no effect."""
    save_budget(
        session,
        principal,
        day_micros=None if day is None else round(day * MICROS),
        month_micros=None if month is None else round(month * MICROS),
        day_tokens=day_tokens,
        month_tokens=month_tokens,
    )
