"""Which messages of a tree make the line that the reader shows. Pure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backread.store.repositories.browsing import MessageNode


@dataclass(frozen=True, slots=True)
class Fork:
    """A message with siblings: its place among them, and its neighbours (None at the ends)."""

    place: int  # from 1
    total: int
    previous_id: str | None
    next_id: str | None


class ConversationTree:
    """The messages of one conversation by their parents."""

    def __init__(self, nodes: Sequence[MessageNode]) -> None:
        self._nodes = {node.id: node for node in nodes}
        self._children: Mapping[str | None, list[str]] = _children(self._nodes)
        self._shown = [node.id for node in nodes if node.on_shown_line]

    def is_shown(self, item: str) -> bool:
        """Whether the message is on the line that the platform shows."""
        return item in self._nodes and self._nodes[item].on_shown_line

    def line(self, at: str | None = None) -> list[str]:
        """Message ids, root first: the shown line, or the line through the message `at`.

        Below `at` the line follows its newest descendants. An unknown `at` is ignored.
        """
        if at is None or at not in self._nodes or self._nodes[at].on_shown_line:
            return list(self._shown)
        branch = self._ancestors_off_line(at)
        fork = self._nodes[branch[0]].parent_id
        start = self._shown[: self._shown.index(fork) + 1] if fork in self._shown else []
        return start + branch + self._descend(at, set(branch))

    def forks(self, line: Sequence[str]) -> dict[str, Fork]:
        """For each message of the line that has siblings, where it stands among them."""
        roots_on_line = sum(1 for item in line if self._parent(item) is None)
        forks: dict[str, Fork] = {}
        for item in line:
            parent = self._parent(item)
            siblings = self._children[parent]
            # Exports without parent links make every message a root; those are no branches.
            if len(siblings) < 2 or (parent is None and roots_on_line > 1):
                continue
            place = siblings.index(item)
            forks[item] = Fork(
                place=place + 1,
                total=len(siblings),
                previous_id=siblings[place - 1] if place else None,
                next_id=siblings[place + 1] if place + 1 < len(siblings) else None,
            )
        return forks

    def _parent(self, item: str) -> str | None:
        parent = self._nodes[item].parent_id
        return parent if parent in self._nodes else None

    def _ancestors_off_line(self, at: str) -> list[str]:
        """`at` and what leads to it from the shown line, top first. Survives cycles."""
        branch = [at]
        seen = {at}
        parent = self._parent(at)
        while parent is not None and parent not in seen and not self._nodes[parent].on_shown_line:
            branch.append(parent)
            seen.add(parent)
            parent = self._parent(parent)
        return branch[::-1]

    def _descend(self, at: str, seen: set[str]) -> list[str]:
        below: list[str] = []
        children = self._children[at]
        while children and children[-1] not in seen:
            below.append(children[-1])
            seen.add(children[-1])
            children = self._children[children[-1]]
        return below


def _children(nodes: Mapping[str, MessageNode]) -> Mapping[str | None, list[str]]:
    """Children by parent, oldest first where all are dated, else in stored order."""
    children: defaultdict[str | None, list[str]] = defaultdict(list)
    for node in nodes.values():
        children[node.parent_id if node.parent_id in nodes else None].append(node.id)
    for siblings in children.values():
        times = {item: nodes[item].created_at for item in siblings}
        dated = {item: time for item, time in times.items() if time is not None}
        if len(siblings) > 1 and len(dated) == len(siblings):
            siblings.sort(key=dated.__getitem__)
    return children
