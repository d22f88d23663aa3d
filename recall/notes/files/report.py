"""What became of each file, for people and programs; the numbers add up."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Item:
    """One file or note. `reason` is empty when there is nothing to say."""

    path: str
    outcome: str
    reason: str = ""


@dataclass(slots=True)
class Report:
    """Everything that was looked at. `is_trial`: nothing was changed."""

    is_trial: bool
    items: list[Item] = field(default_factory=list)
    revisions: int = 0  # of history that was taken over

    def add(self, path: str, outcome: str, reason: str = "") -> None:
        self.items.append(Item(path, outcome, reason))

    @property
    def counts(self) -> Counter[str]:
        return Counter(item.outcome for item in self.items)

    @property
    def found(self) -> int:
        """The sum of all outcomes."""
        return len(self.items)
