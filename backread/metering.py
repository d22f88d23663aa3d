"""Budgets of language models, kept in the database so that every process counts alike.

A budget is for a day and for a month, as the calendar of the account's time zone has them, in
money and in tokens. The server's settings are the most; an account's owner may allow less.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from backread.llm.language.ledger import PlannedCall
from backread.llm.language.model import BudgetSpent, Usage
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.engine import ReadSession, Store
from backread.store.models import LanguageBudget
from backread.store.repositories.accounts import lock_account
from backread.store.repositories.usage import (
    Spent,
    delete_call,
    find_budget,
    insert_call,
    settle_call,
    spent_since,
    zone_of_account,
)

MICROS = 1_000_000


@dataclass(frozen=True, slots=True)
class Limit:
    """The most for a span of time; None = no limit."""

    micros: int | None
    tokens: int | None

    def allows(self, spent: Spent, tokens: int, micros: int | None) -> bool:
        """Whether so much more stays within it. Of an unknown price only the tokens count."""
        if self.tokens is not None and spent.tokens + tokens > self.tokens:
            return False
        return self.micros is None or spent.cost_micros + (micros or 0) <= self.micros


@dataclass(frozen=True, slots=True)
class Span:
    """A day or a month of an account, with what was spent in it and what may be."""

    name: str  # day | month
    limit: Limit
    spent: Spent
    renews_at: datetime

    @property
    def micros_left(self) -> int | None:
        """None = no limit."""
        most = self.limit.micros
        return None if most is None else max(0, most - self.spent.cost_micros)

    @property
    def tokens_left(self) -> int | None:
        """None = no limit."""
        most = self.limit.tokens
        return None if most is None else max(0, most - self.spent.tokens)

    @property
    def is_spent(self) -> bool:
        return self.micros_left == 0 or self.tokens_left == 0


def today_of(timezone: str, now: datetime | None = None) -> date:
    """The calendar day in that zone."""
    return (now or utcnow()).astimezone(_zone(timezone)).date()


def budget_spans(
    session: ReadSession, settings: Settings, account_id: str, *, now: datetime | None = None
) -> tuple[Span, Span]:
    """The account's present day and month."""
    zone = zone_of_account(session, account_id)
    today = today_of(zone, now)
    first = today.replace(day=1)
    next_month = (first + timedelta(days=32)).replace(day=1)
    own = find_budget(session, account_id)
    return (
        Span(
            "day",
            _day_limit(settings, own),
            spent_since(session, account_id, today.isoformat()),
            _midnight(today + timedelta(days=1), zone),
        ),
        Span(
            "month",
            _month_limit(settings, own),
            spent_since(session, account_id, first.isoformat()),
            _midnight(next_month, zone),
        ),
    )


class StoreLedger:
    """See `Ledger`."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings

    def reserve(self, call: PlannedCall) -> str:
        with self._store.write() as session:
            lock_account(session, call.account_id)  # of calls at once, one counts after the other
            spans = budget_spans(session, self._settings, call.account_id)
            for span in spans:
                tokens = call.tokens_in + call.tokens_out
                if not span.limit.allows(span.spent, tokens, call.cost_micros):
                    raise BudgetSpent(
                        f"The language model's budget for this {span.name} has no room for this.",
                        renews_at=span.renews_at,
                        hint="Settings, Usage shows what was spent.",
                    )
            day = today_of(zone_of_account(session, call.account_id))
            return insert_call(
                session,
                account_id=call.account_id,
                conversation_id=call.conversation_id,
                purpose=call.purpose,
                model=call.model,
                day=day.isoformat(),
                tokens_in=call.tokens_in,
                tokens_out=call.tokens_out,
                cost_micros=call.cost_micros,
            )

    def settle(self, reservation: str, usage: Usage, cost_micros: int | None) -> None:
        with self._store.write() as session:
            settle_call(
                session,
                reservation,
                tokens_in=usage.tokens_in,
                tokens_out=usage.tokens_out,
                is_estimated=usage.is_estimated,
                cost_micros=cost_micros,
            )

    def release(self, reservation: str) -> None:
        with self._store.write() as session:
            delete_call(session, reservation)


def server_limits(settings: Settings) -> tuple[Limit, Limit]:
    """The most that the settings allow an account, a day and a month."""
    return _day_limit(settings, None), _month_limit(settings, None)


def _day_limit(settings: Settings, own: LanguageBudget | None) -> Limit:
    return Limit(
        _least(round(settings.llm_budget_day * MICROS), own.day_micros if own else None),
        _least(settings.llm_budget_day_tokens, own.day_tokens if own else None),
    )


def _month_limit(settings: Settings, own: LanguageBudget | None) -> Limit:
    return Limit(
        _least(round(settings.llm_budget_month * MICROS), own.month_micros if own else None),
        _least(settings.llm_budget_month_tokens, own.month_tokens if own else None),
    )


def _least(servers: int, own: int | None) -> int | None:
    """The lower one. 0 in the settings means no limit; an account's own 0 means nothing."""
    limits = [each for each in (servers or None, own) if each is not None]
    return min(limits, default=None)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")


def _midnight(day: date, zone: str) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=_zone(zone)).astimezone(UTC)
