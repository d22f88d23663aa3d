from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from backread.metering import MICROS
from recall.summarising.planning import Estimate, SummaryStatus


class EstimateOut(BaseModel):
    """What summarising would take, rather too much than too little."""

    model_config = ConfigDict(from_attributes=True)

    conversations: int
    tokens_in: int
    tokens_out: int
    cost: float | None = Field(description="Null when the model's price is unknown.")
    currency: str
    until: datetime = Field(description="Names the estimate: what changed up to then.")


class SummariesOut(BaseModel):
    """Summaries by a language model. Without one, `model` is empty and nothing is planned."""

    model: str = ""
    made: int = 0
    waiting: int = Field(0, description="Made without the model for now, and tried again later.")
    offer: EstimateOut | None = Field(None, description="Waits for somebody to accept it.")
    accepted: EstimateOut | None = Field(None, description="What is left of what was accepted.")
    coming: EstimateOut | None = Field(None, description="New or changed; done without asking.")
    is_paused: bool = False
    pause_reason: str = Field("", description="Why nothing is done until `try_after`.")
    try_after: datetime | None = None


class AcceptEstimateIn(BaseModel):
    until: datetime = Field(description="The `until` of the offer that is accepted.")


def estimate_out(estimate: Estimate | None) -> EstimateOut | None:
    if estimate is None:
        return None
    micros = estimate.cost_micros
    return EstimateOut(
        conversations=estimate.conversations,
        tokens_in=estimate.tokens_in,
        tokens_out=estimate.tokens_out,
        cost=None if micros is None else micros / MICROS,
        currency=estimate.currency,
        until=estimate.until,
    )


def summaries_out(status: SummaryStatus | None) -> SummariesOut:
    if status is None:
        return SummariesOut.model_validate({})
    return SummariesOut(
        model=status.model,
        made=status.made,
        waiting=status.waiting,
        offer=estimate_out(status.offer),
        accepted=estimate_out(status.accepted),
        coming=estimate_out(status.coming),
        is_paused=status.is_paused,
        pause_reason=status.pause_reason,
        try_after=status.try_after,
    )
