"""Which messages of two copies of a chat are the same, when one copy has no ids for them.

Saved pages and transcripts hold the words but not the platform's ids. Their messages get weak
ids, made from their words, and are matched with those of another copy from the root down: same
speaker, same place, same words or same time. Pure, and linear in the size of both copies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from ingest.importers import tree
from ingest.wording import letters_of, likeness

_SAME_SECONDS = 1.0  # pages show a message's time in whole seconds
_LIKE = 0.9  # for copies that rendered citations or formulas in different ways
_MOST_LIKE_CANDIDATES = 20
_MOST_SIBLINGS = 200  # looked at one by one; the same words are found among any number
_TELLING_LETTERS = 40  # so many do not come twice by chance


@dataclass(frozen=True, slots=True)
class Node:
    """A message of one copy. `parent` may name a message of the other copy."""

    key: str
    parent: str | None
    role: str
    is_dialogue: bool
    text: str
    at: datetime | None
    is_shown: bool
    has_id: bool = True  # of the platform's own; without one only the same words are the same


@dataclass(frozen=True, slots=True)
class Match:
    """The message of the other copy that is the same; where a page joined several answers into
    one, the first and the last of them."""

    first: str
    last: str


def matches(weak: Sequence[Node], known: Sequence[Node]) -> dict[str, Match]:
    """For each of the `weak` messages that is in `known`, which one it is there. `weak` has
    parents first. Each known message is matched at most once; only dialogue is matched."""
    return _Matching(known).run(weak)


@dataclass(slots=True)
class _Known:
    """A known dialogue message in the tree of dialogue alone."""

    node: Node
    letters: str
    parent: str | None
    enter: int = 0  # places in a walk through the tree: what lies below lies between them
    leave: int = 0
    children: list[str] = field(default_factory=list)


class _Matching:
    def __init__(self, known: Sequence[Node]) -> None:
        by_key = {node.key: node for node in known}
        sound = tree.sound_parents({node.key: node.parent for node in known})
        self._above = _nearest_dialogue(sound, by_key)
        self._known: dict[str, _Known] = {}
        self._roots: list[str] = []
        self._telling: dict[tuple[str, str], list[str]] = {}
        self._exact: dict[tuple[str | None, str, str], list[str]] = {}
        self._taken: set[str] = set()
        for key in tree.parents_first(sound):
            node = by_key[key]
            if node.is_dialogue:
                parent = sound[key]
                above = self._above[parent] if parent is not None else None
                letters = letters_of(node.text)
                self._known[key] = _Known(node, letters, above)
                (self._known[above].children if above else self._roots).append(key)
                # The shown ones first: of equal messages they are the ones that a page shows.
                same = self._exact.setdefault((above, node.role, letters), [])
                same.insert(0 if node.is_shown else len(same), key)
                if len(letters) >= _TELLING_LETTERS:
                    self._telling.setdefault((node.role, letters), []).append(key)
        self._walk()

    def run(self, weak: Sequence[Node]) -> dict[str, Match]:
        found: dict[str, Match] = {}
        places: dict[str, str | None] = {}  # where below which a message's answers are looked for
        strays: set[str] = set()  # not matched themselves, or below one that was not
        for node in weak:
            inside = node.parent is not None and node.parent in places
            place = places[node.parent] if inside and node.parent else None
            if not inside and node.parent is not None:
                place = self._above.get(node.parent)
            match = self._match(node, place, is_stray=inside and node.parent in strays)
            if match is None:
                places[node.key] = place
                if node.is_dialogue or (inside and node.parent in strays):
                    strays.add(node.key)
                continue
            found[node.key] = match
            places[node.key] = match.last
        return found

    def _match(self, node: Node, place: str | None, *, is_stray: bool) -> Match | None:
        if not node.is_dialogue:
            return None
        letters = letters_of(node.text)
        if not is_stray:
            for key in self._exact.get((place, node.role, letters), ()):
                if key not in self._taken:
                    return self._take(self._known[key], self._known[key])
            near = self._near(node, letters, place)
            if near is not None:
                return near
        for key in self._telling.get((node.role, letters), ()):
            if key not in self._taken and self._is_below(key, place):
                return self._take(self._known[key], self._known[key])
        return None

    def _near(self, node: Node, letters: str, place: str | None) -> Match | None:
        """One with the same time, the beginning of a joined answer, or nearly the same words."""
        siblings = self._known[place].children if place else self._roots
        children = [
            self._known[key]
            for key in siblings[:_MOST_SIBLINGS]
            if key not in self._taken and self._known[key].node.role == node.role
        ]
        for child in children:
            if _is_same_moment(child.node.at, node.at):
                return self._take(child, child)
        for child in children:
            last = self._covering(child, letters)
            if last is not None:
                return self._take(child, last)
        like = _most_like(node, letters, children[:_MOST_LIKE_CANDIDATES])
        return self._take(like, like) if like is not None else None

    def _take(self, first: _Known, last: _Known) -> Match:
        self._taken.add(first.node.key)
        return Match(first.node.key, last.node.key)

    def _covering(self, child: _Known, letters: str) -> _Known | None:
        """The end of the answers from `child` on that are these letters together."""
        rest = letters
        current = child
        while current.letters and rest.startswith(current.letters):
            rest = rest[len(current.letters) :]
            if not rest:
                return current
            below = [
                self._known[key]
                for key in current.children
                if self._known[key].node.role == child.node.role
            ]
            following = next((e for e in below if e.letters and rest.startswith(e.letters)), None)
            if following is None:
                return None
            current = following
        return None

    def _is_below(self, key: str, place: str | None) -> bool:
        if place is None:
            return True
        above = self._known[place]
        return above.enter < self._known[key].enter < above.leave

    def _walk(self) -> None:
        clock = 0
        stack: list[tuple[str, bool]] = [(key, False) for key in reversed(self._roots)]
        while stack:
            key, is_done = stack.pop()
            clock += 1
            if is_done:
                self._known[key].leave = clock
                continue
            self._known[key].enter = clock
            stack.append((key, True))
            stack += [(child, False) for child in reversed(self._known[key].children)]


def _nearest_dialogue(
    parents: Mapping[str, str | None], nodes: Mapping[str, Node]
) -> dict[str, str | None]:
    """For each message itself when it is dialogue, else the dialogue message above it."""
    nearest: dict[str, str | None] = {}
    for key in tree.parents_first(parents):
        parent = parents[key]
        above = nearest[parent] if parent is not None else None
        nearest[key] = key if nodes[key].is_dialogue else above
    return nearest


def _most_like(node: Node, letters: str, candidates: Sequence[_Known]) -> _Known | None:
    """The one that says nearly the same; none when their times tell that they are two."""
    best: _Known | None = None
    most = _LIKE
    for each in candidates:
        if not each.node.has_id:
            continue
        if node.at and each.node.at and not _is_same_moment(node.at, each.node.at):
            continue
        share = likeness(letters, each.letters)
        if share >= most and min(len(letters), len(each.letters)) >= _TELLING_LETTERS:
            best, most = each, share
    return best


def _is_same_moment(one: datetime | None, other: datetime | None) -> bool:
    if one is None or other is None:
        return False
    return abs((one - other).total_seconds()) < _SAME_SECONDS
