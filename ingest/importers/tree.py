"""Parent links as exports have them: missing, dangling, in circles. Made sound in linear time."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

Parents = Mapping[str, str | None]


def sound_parents(parents: Parents) -> dict[str, str | None]:
    """The same links without those that lead nowhere or close a circle."""
    sound = {node: parent if parent in parents else None for node, parent in parents.items()}
    done: set[str] = set()
    for node in sound:
        path: list[str] = []
        on_path: set[str] = set()
        current: str | None = node
        while current is not None and current not in done and current not in on_path:
            path.append(current)
            on_path.add(current)
            current = sound[current]
        if current is not None and current in on_path:
            sound[path[-1]] = None
        done.update(path)
    return sound


def parents_first(parents: Parents) -> list[str]:
    """All nodes, each after its parent, otherwise in the order given. Needs sound links."""
    ordered: dict[str, None] = {}
    for node in parents:
        path: list[str] = []
        current: str | None = node
        while current is not None and current not in ordered:
            path.append(current)
            current = parents[current]
        ordered.update(dict.fromkeys(reversed(path)))
    return list(ordered)


def without(parents: Parents, keeps: Callable[[str], bool]) -> dict[str, str | None]:
    """Only the nodes that `keeps` says yes to, each linked to its nearest kept ancestor."""
    nearest: dict[str, str | None] = {}
    for node in parents_first(parents):
        parent = parents[node]
        nearest[node] = parent if parent is None or keeps(parent) else nearest[parent]
    return {node: nearest[node] for node in parents if keeps(node)}


def line_to(leaf: str, parents: Parents) -> list[str]:
    """From the root down to `leaf`. Needs sound links."""
    line: list[str] = []
    current: str | None = leaf
    while current is not None:
        line.append(current)
        current = parents[current]
    line.reverse()
    return line


def newest_leaf(
    parents: Parents, times: Mapping[str, datetime | None], candidates: Iterable[str] | None = None
) -> str | None:
    """The leaf with the latest time; of equals the one with the longest chain, then the last."""
    inner = set(parents.values())
    lengths: dict[str, int] = {}
    for node in parents_first(parents):
        parent = parents[node]
        lengths[node] = 1 if parent is None else lengths[parent] + 1
    allowed = set(parents if candidates is None else candidates)
    leaves: Sequence[str] = [node for node in parents if node not in inner and node in allowed]
    places = {node: place for place, node in enumerate(parents)}

    def rank(leaf: str) -> tuple[float, int, int]:
        moment = times.get(leaf)
        return (moment.timestamp() if moment else 0.0, lengths[leaf], places[leaf])

    return max(leaves, key=rank, default=None)
