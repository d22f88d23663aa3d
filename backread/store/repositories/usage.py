"""Requests to language models: what they took, by account, day and purpose, and what an account
allows."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import delete, func, select, update

from backread.domain import Principal
from backread.identity import new_id
from backread.store.base import utcnow
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Account, LanguageBudget, LanguageCall


@dataclass(frozen=True, slots=True)
class Spent:
    """Sums over requests. `unpriced`: how many of them have no known price."""

    calls: int
    tokens_in: int
    tokens_out: int
    cost_micros: int
    unpriced: int

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out


def zone_of_account(session: ReadSession, account_id: str) -> str:
    """The IANA name of the account's time zone."""
    return session.scalar(select(Account.timezone).where(Account.id == account_id)) or "UTC"


def insert_call(session: WriteSession, **values: object) -> str:
    call_id = new_id()
    session.add(LanguageCall(id=call_id, **values))
    session.flush()
    return call_id


def settle_call(
    session: WriteSession,
    call_id: str,
    *,
    tokens_in: int,
    tokens_out: int,
    is_estimated: bool,
    cost_micros: int | None,
) -> None:
    session.execute(
        update(LanguageCall)
        .where(LanguageCall.id == call_id)
        .values(
            state="settled",
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            is_estimated=is_estimated,
            cost_micros=cost_micros,
        )
    )


def delete_call(session: WriteSession, call_id: str) -> None:
    session.execute(delete(LanguageCall).where(LanguageCall.id == call_id))


def _sums() -> Sequence[object]:
    return (
        func.count(),
        func.coalesce(func.sum(LanguageCall.tokens_in), 0),
        func.coalesce(func.sum(LanguageCall.tokens_out), 0),
        func.coalesce(func.sum(LanguageCall.cost_micros), 0),
        func.count() - func.count(LanguageCall.cost_micros),
    )


def spent_since(session: ReadSession, account_id: str, first_day: str) -> Spent:
    """What the account's requests took from `first_day` (YYYY-MM-DD) on, running ones included."""
    row = session.execute(
        select(*_sums()).where(  # type: ignore[call-overload]  # the sums' types are mixed
            LanguageCall.account_id == account_id, LanguageCall.day >= first_day
        )
    ).one()
    return Spent(*(int(each) for each in row))


def spent_by_day(
    session: ReadSession, principal: Principal, first_day: str
) -> list[tuple[str, Spent]]:
    """Days on which something was spent, newest first."""
    return _grouped(session, principal, first_day, LanguageCall.day, LanguageCall.day.desc())


def spent_by_purpose(
    session: ReadSession, principal: Principal, first_day: str
) -> list[tuple[str, Spent]]:
    """The purpose that took most tokens first."""
    most = func.sum(LanguageCall.tokens_in + LanguageCall.tokens_out).desc()
    return _grouped(session, principal, first_day, LanguageCall.purpose, most)


def _grouped(
    session: ReadSession, principal: Principal, first_day: str, key: object, order: object
) -> list[tuple[str, Spent]]:
    rows = session.execute(
        select(key, *_sums())  # type: ignore[call-overload]
        .where(LanguageCall.account_id == principal.account_id, LanguageCall.day >= first_day)
        .group_by(key)
        .order_by(order)
    )
    return [(str(row[0]), Spent(*(int(each) for each in row[1:]))) for row in rows]


def find_budget(session: ReadSession, account_id: str) -> LanguageBudget | None:
    """What the account's owner has set, if anything."""
    return session.get(LanguageBudget, account_id)


def save_budget(
    session: WriteSession,
    principal: Principal,
    *,
    day_micros: int | None,
    month_micros: int | None,
    day_tokens: int | None,
    month_tokens: int | None,
) -> None:
    """Replaces what was set before."""
    session.merge(
        LanguageBudget(
            account_id=principal.account_id,
            day_micros=day_micros,
            month_micros=month_micros,
            day_tokens=day_tokens,
            month_tokens=month_tokens,
            changed_at=utcnow(),
        )
    )
