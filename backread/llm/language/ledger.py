"""Who is asked before money is spent, and told afterwards what was."""

from dataclasses import dataclass
from typing import Protocol

from backread.llm.language.model import Usage


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """One request that is about to be sent. `tokens_out` is the most it may answer with;
    `cost_micros` is in millionths of the currency, None when no price is known."""

    account_id: str
    purpose: str
    model: str
    conversation_id: str
    tokens_in: int
    tokens_out: int
    cost_micros: int | None


class Ledger(Protocol):
    """Every reservation ends settled or released. One that never does, because its process was
    killed, goes on counting with what was planned: it may have been sent."""

    def reserve(self, call: PlannedCall) -> str:
        """Takes the call's tokens and money out of the account's budget for the moment.

        Returns the reservation. Raises BudgetSpent when the day or the month has not that much
        left. Of calls at the same time only as many get through as there is budget for. Must not
        be called inside a write transaction.
        """
        ...

    def settle(self, reservation: str, usage: Usage, cost_micros: int | None) -> None:
        """What the call really took."""
        ...

    def release(self, reservation: str) -> None:
        """Nothing was spent."""
        ...
