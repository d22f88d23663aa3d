"""What the side bar shows only when there is something behind it."""

from dataclasses import dataclass
from functools import cached_property

from backread.domain import Principal
from backread.kernel import Kernel
from backread.store.repositories.jobs import count_visible
from backread.store.repositories.suggestions import SuggestionFilter, count_suggestions


@dataclass(frozen=True)
class Navigation:
    """Asks the database when a page with a side bar is rendered, and not before."""

    kernel: Kernel
    principal: Principal

    @cached_property
    def to_review(self) -> int:
        """Suggested memories that wait for a decision."""
        with self.kernel.store.read() as session:
            return sum(count_suggestions(session, self.principal, SuggestionFilter()).values())

    @cached_property
    def failed_jobs(self) -> int:
        """Jobs that failed and were neither tried again nor dismissed."""
        with self.kernel.store.read() as session:
            return count_visible(session, self.principal)["failed"]
