from datetime import date, datetime

from pydantic import BaseModel, Field

from api.usage import UsageReport
from backread.metering import MICROS, Span
from backread.store.repositories.usage import Spent


class SpentOut(BaseModel):
    calls: int
    tokens_in: int
    tokens_out: int
    cost: float = Field(description="In the report's currency.")
    calls_without_price: int = Field(description="Their tokens count, their cost is not known.")


class DayOut(SpentOut):
    day: date = Field(description="In the account's time zone.")


class PurposeOut(SpentOut):
    purpose: str


class SpanOut(BaseModel):
    """Null means no limit."""

    spent: SpentOut
    cost_limit: float | None
    cost_left: float | None
    tokens_limit: int | None
    tokens_left: int | None
    renews_at: datetime


class UsageOut(BaseModel):
    """Running requests count with what they may take at most."""

    model: str = Field(description="Empty when no language model is set up.")
    currency: str
    price_in: float | None = Field(description="Per million tokens; null when it is unknown.")
    price_out: float | None
    day: SpanOut
    month: SpanOut
    by_day: list[DayOut]
    by_purpose: list[PurposeOut]


def usage_out(report: UsageReport) -> UsageOut:
    return UsageOut(
        model=report.model,
        currency=report.currency,
        price_in=report.price_in,
        price_out=report.price_out,
        day=_span(report.day),
        month=_span(report.month),
        by_day=[DayOut(day=date.fromisoformat(day), **_sums(each)) for day, each in report.by_day],
        by_purpose=[PurposeOut(purpose=name, **_sums(each)) for name, each in report.by_purpose],
    )


def _sums(spent: Spent) -> dict[str, float]:
    return {
        "calls": spent.calls,
        "tokens_in": spent.tokens_in,
        "tokens_out": spent.tokens_out,
        "cost": spent.cost_micros / MICROS,
        "calls_without_price": spent.unpriced,
    }


def _span(span: Span) -> SpanOut:
    return SpanOut(
        spent=SpentOut.model_validate(_sums(span.spent)),
        cost_limit=_money(span.limit.micros),
        cost_left=_money(span.micros_left),
        tokens_limit=span.limit.tokens,
        tokens_left=span.tokens_left,
        renews_at=span.renews_at,
    )


def _money(micros: int | None) -> float | None:
    return None if micros is None else micros / MICROS
