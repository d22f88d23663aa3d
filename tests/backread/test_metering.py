"""Budgets are counted in the database, before anything is sent."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from sqlalchemy import update

from backread import metering
from backread.domain import Principal
from backread.llm.language.ledger import PlannedCall
from backread.llm.language.model import BudgetSpent, Usage
from backread.metering import StoreLedger, budget_spans
from backread.settings import Settings
from backread.store.engine import Store
from backread.store.models import Account
from backread.store.repositories.usage import save_budget, spent_by_day, spent_by_purpose

NOON = datetime(2026, 3, 31, 12, 0, tzinfo=UTC)


def planned(
    principal: Principal, tokens: int = 100, micros: int | None = 1_000, purpose: str = "testing"
) -> PlannedCall:
    return PlannedCall(principal.account_id, purpose, "m", "", tokens - 10, 10, micros)


def ledger(store: Store, settings: Settings, **limits: float) -> StoreLedger:
    none = dict.fromkeys(("day", "month", "day_tokens", "month_tokens"), 0)
    values = {f"llm_budget_{name}": value for name, value in (none | limits).items()}
    return StoreLedger(store, settings.model_copy(update=values))


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> list[datetime]:
    moment = [NOON]
    monkeypatch.setattr(metering, "utcnow", lambda: moment[0])
    return moment


@pytest.mark.parametrize(
    ("limits", "span"),
    [
        ({"day_tokens": 250}, "day"),
        ({"month_tokens": 250}, "month"),
        ({"day": 0.0025}, "day"),
        ({"month": 0.0025}, "month"),
    ],
)
def test_a_call_that_would_go_over_a_budget_is_not_begun(
    store: Store, settings: Settings, principal: Principal, limits: dict[str, float], span: str
) -> None:
    counted = ledger(store, settings, **limits)
    counted.reserve(planned(principal))
    counted.reserve(planned(principal))
    with pytest.raises(BudgetSpent, match=f"this {span}"):
        counted.reserve(planned(principal))


def test_what_is_released_or_cost_less_is_there_again(
    store: Store, settings: Settings, principal: Principal
) -> None:
    counted = ledger(store, settings, day_tokens=250)
    first, second = counted.reserve(planned(principal)), counted.reserve(planned(principal))
    counted.settle(first, Usage(30, 5), 7)
    counted.reserve(planned(principal))
    with pytest.raises(BudgetSpent):
        counted.reserve(planned(principal))
    counted.release(second)
    counted.reserve(planned(principal))


def test_an_unknown_price_counts_its_tokens(
    store: Store, settings: Settings, principal: Principal
) -> None:
    counted = ledger(store, settings, day=0.001, day_tokens=250)
    for _ in range(2):
        counted.reserve(planned(principal, micros=None))
    with pytest.raises(BudgetSpent):
        counted.reserve(planned(principal, micros=None))


def test_of_calls_at_once_only_as_many_begin_as_there_is_budget_for(
    store: Store, settings: Settings, principal: Principal
) -> None:
    counted = ledger(store, settings, day_tokens=500)

    def try_it(_: int) -> bool:
        try:
            counted.reserve(planned(principal))
        except BudgetSpent:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(try_it, range(16))) == 5


def test_one_account_does_not_spend_anothers_budget(
    store: Store, settings: Settings, principal: Principal, stranger: Principal
) -> None:
    counted = ledger(store, settings, day_tokens=100)
    counted.reserve(planned(principal))
    counted.reserve(planned(stranger))
    with store.read() as session:
        assert [day for day, _ in spent_by_day(session, stranger, "2000-01-01")]
        ((_, own),) = spent_by_purpose(session, stranger, "2000-01-01")
    assert own.calls == 1


def test_an_owner_may_allow_less_than_the_server_and_nothing_more(
    store: Store, settings: Settings, principal: Principal
) -> None:
    counted = ledger(store, settings, day_tokens=250, month_tokens=1000)

    def allow(tokens: int | None) -> None:
        with store.write() as session:
            save_budget(
                session,
                principal,
                day_micros=None,
                month_micros=None,
                day_tokens=tokens,
                month_tokens=None,
            )

    allow(100)
    counted.reserve(planned(principal))
    with pytest.raises(BudgetSpent):
        counted.reserve(planned(principal))
    allow(1_000_000)
    counted.reserve(planned(principal))
    with pytest.raises(BudgetSpent):
        counted.reserve(planned(principal))
    allow(0)
    with pytest.raises(BudgetSpent):
        counted.reserve(planned(principal, tokens=20))


def test_days_and_months_are_those_of_the_accounts_time_zone(
    store: Store, settings: Settings, principal: Principal, at: list[datetime]
) -> None:
    with store.write() as session:
        session.execute(
            update(Account)
            .where(Account.id == principal.account_id)
            .values(timezone="Pacific/Auckland")
        )
    counted = ledger(store, settings, day_tokens=100)
    at[0] = datetime(2026, 3, 31, 10, 59, tzinfo=UTC)  # 23:59 on 31 March in Auckland
    counted.reserve(planned(principal))
    with pytest.raises(BudgetSpent) as caught:
        counted.reserve(planned(principal))
    assert caught.value.renews_at == datetime(2026, 3, 31, 11, 0, tzinfo=UTC)
    at[0] = datetime(2026, 3, 31, 11, 1, tzinfo=UTC)
    counted.reserve(planned(principal))
    with store.read() as session:
        day, month = budget_spans(session, settings, principal.account_id)
        days = [each for each, _ in spent_by_day(session, principal, "2026-01-01")]
    assert days == ["2026-04-01", "2026-03-31"]
    assert (day.spent.calls, month.spent.calls) == (1, 1)
    assert month.renews_at == datetime(2026, 4, 30, 12, 0, tzinfo=UTC)
