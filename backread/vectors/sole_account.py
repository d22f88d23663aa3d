"""Whether a collection holds one account's points and nobody else's.

Then a search need not be narrowed to the account, which costs more than the search itself does:
of 100,000 points it lets through every one, and still looks at each. Most installations have one
account, or one with nearly everything.
"""

import threading
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass


@dataclass(eq=False, slots=True)
class Claim:
    """That all points were of this account when it was asked for; `account_id` "" when there were
    none yet. Another claim is never equal to it."""

    account_id: str


class SoleAccount:
    """Keeps watch over one collection. Threads may share it.

    Every writer calls `writes` before its points are written. So whoever searches on a claim, and
    finds afterwards that it `holds` still, cannot have seen another account's point. Once there
    were several accounts this stays so until the index is opened anew.
    """

    def __init__(self, occupants: Callable[[], Collection[str]]) -> None:
        """`occupants` names the accounts that have points; of more than two it may name two."""
        self._occupants = occupants
        self._lock = threading.Lock()
        self._is_known = False
        self._claim: Claim | None = None

    def claim(self, account_id: str) -> Claim | None:
        """A claim that all points are this account's; None where they are not."""
        with self._lock:
            self._look()
            claim = self._claim
        return claim if claim is not None and claim.account_id == account_id else None

    def holds(self, claim: Claim) -> bool:
        return self._claim is claim

    def writes(self, account_ids: Iterable[str]) -> None:
        """Points of these accounts are about to be written."""
        with self._lock:
            self._look()
            for account_id in set(account_ids):
                if self._claim is not None and self._claim.account_id != account_id:
                    self._claim = None if self._claim.account_id else Claim(account_id)

    def _look(self) -> None:
        if not self._is_known:
            found = set(self._occupants())
            self._claim = Claim(found.pop() if found else "") if len(found) < 2 else None
            self._is_known = True
