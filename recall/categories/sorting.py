"""Which memories of a bucket belong together, so that what was sorted once stays where it is.

A plan is made from the memories alone, without a database: the same memories, vectors and former
categories always give the same plan. A memory leaves its category only when its text changes or
the category goes; a new one goes to the nearest category unless it would not fit there; what fits
nowhere waits in the rest until enough of it belongs together. A bucket is grouped anew only when
it has doubled or halved since, and new groups then take over the category that most of their
memories were in, with its id and its name.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from backread.text.language import language_of
from recall.grouping.clustering import Vectors, across_languages, centred, group, unit

FEWEST_SORTED = 8  # memories; a smaller bucket is one category
FEWEST_IN_GROUP = 3

GROUP, WHOLE, REST = "group", "whole", "rest"

_LEAST_FIT = 0.08  # likeness to a category's centre, the bucket's own centre taken off
_FIT_OF_MEMBERS = 0.4  # a newcomer is to be at least so near, as a share of members' mean
_REST_SHARE, _REST_LEAST = 0.12, 6  # so much of the rest is looked through for a new category
_COHERENT = 0.30  # mean likeness to the centre, of a group that comes out of the rest
_TOO_LARGE_SHARE, _TOO_LARGE = 0.40, 40
_OVERLAP = 0.34  # of all memories of two groups, those they share, to count as the same


@dataclass(frozen=True, slots=True)
class Item:
    """A memory to be sorted. `former` is the id of the category that it was in with this text."""

    text: str
    former: str | None = None


@dataclass(frozen=True, slots=True)
class Sorted:
    """One category of the plan: places in the items, in their order. `id` is None for a new one."""

    id: str | None
    kind: str
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    categories: tuple[Sorted, ...]
    is_anew: bool  # all was grouped anew, not only what had changed


def plan(
    items: Sequence[Item],
    vectors: Vectors,
    former: Mapping[str, str],
    *,
    grouped_count: int,
    anew: bool = False,
) -> Plan:
    """Every item in exactly one category, larger ones first and the rest last.

    `vectors` are unit vectors of one model. `former` maps the ids of the present categories to
    their kinds; `grouped_count` is how many memories there were when all was last grouped, 0 for
    never. `anew` groups everything again, as after a change of the model.
    """
    if not items:
        return Plan((), is_anew=False)
    if len(items) < FEWEST_SORTED:
        return Plan((_whole(items, former),), is_anew=False)
    vectors = across_languages(vectors, [language_of(each.text).code for each in items])
    groups = {key for key, kind in former.items() if kind == GROUP}
    has_grown = not grouped_count or not grouped_count / 2 < len(items) < 2 * grouped_count
    if anew or has_grown or not groups:
        return Plan(_grouped_anew(items, vectors, former), is_anew=True)
    return Plan(_repaired(items, vectors, former), is_anew=False)


def _whole(items: Sequence[Item], former: Mapping[str, str]) -> Sorted:
    """One category, under the id that it had or that most of its memories were in."""
    known = [key for key, kind in former.items() if kind == WHOLE]
    if not known:
        counted = Counter(each.former for each in items if each.former in former)
        known = [key for key, _ in counted.most_common(1) if key is not None]
    return Sorted(known[0] if known else None, WHOLE, tuple(range(len(items))))


def _grouped_anew(
    items: Sequence[Item], vectors: Vectors, former: Mapping[str, str]
) -> tuple[Sorted, ...]:
    labels = group(vectors, [each.text for each in items])
    members: dict[int, list[int]] = defaultdict(list)
    for place, label in enumerate(labels.tolist()):
        members[label].append(place)
    large = [each for each in members.values() if len(each) >= FEWEST_IN_GROUP]
    if not large:
        return (_whole(items, former),)
    loose = [p for each in members.values() if len(each) < FEWEST_IN_GROUP for p in each]
    rows = centred(vectors)
    rest = _join_nearest(rows, large, loose)
    ids = _taken_over(items, large, {k for k, kind in former.items() if kind != REST})
    return _ordered(list(zip(ids, large, strict=True)), rest, former)


def _repaired(
    items: Sequence[Item], vectors: Vectors, former: Mapping[str, str]
) -> tuple[Sorted, ...]:
    rows = centred(vectors)
    kept: dict[str | None, list[int]] = {}
    loose: list[int] = []
    for place, each in enumerate(items):
        if each.former is not None and former.get(each.former) == GROUP:
            kept.setdefault(each.former, []).append(place)
        else:
            loose.append(place)
    for key in [key for key, places in kept.items() if len(places) < FEWEST_IN_GROUP]:
        loose += kept.pop(key)
    if not kept:
        return _grouped_anew(items, vectors, former)
    groups: list[tuple[str | None, list[int]]] = list(kept.items())
    rest = _join_nearest(rows, [places for _, places in groups], sorted(loose))
    groups += [(None, each) for each in _out_of_rest(items, rows, rest)]
    taken = {place for key, places in groups if key is None for place in places}
    rest = [place for place in rest if place not in taken]
    return _ordered(_parted(items, rows, groups), rest, former)


def _join_nearest(rows: Vectors, groups: Sequence[list[int]], loose: Sequence[int]) -> list[int]:
    """Adds each loose place to the group it fits best; returns those that fit none."""
    if not loose:
        return []
    centres = unit(np.stack([rows[each].mean(axis=0) for each in groups]))
    typical = np.array(
        [float((rows[each] @ centre).mean()) for each, centre in zip(groups, centres, strict=True)]
    )
    floors = np.maximum(_LEAST_FIT, _FIT_OF_MEMBERS * typical)
    likeness = rows[list(loose)] @ centres.T
    rest: list[int] = []
    for place, near in zip(loose, likeness, strict=True):
        fitting = np.where(near >= floors, near, -np.inf)
        best = int(fitting.argmax())
        if np.isfinite(fitting[best]):
            groups[best].append(place)
        else:
            rest.append(place)
    return rest


def _out_of_rest(items: Sequence[Item], rows: Vectors, rest: Sequence[int]) -> list[list[int]]:
    """Groups among what fitted nowhere, once it is a good part of the bucket."""
    if len(rest) < max(_REST_LEAST, _REST_SHARE * len(items)):
        return []
    wanted = max(1, len(rest) // _REST_LEAST // 2)
    labels = group(rows[list(rest)], [items[place].text for place in rest], wanted)
    found: list[list[int]] = []
    for label in range(int(labels.max()) + 1):
        places = [place for place, each in zip(rest, labels, strict=True) if each == label]
        if len(places) > FEWEST_IN_GROUP and _coherence(rows[places]) >= _COHERENT:
            found.append(places)
    return found


def _parted(
    items: Sequence[Item], rows: Vectors, groups: Sequence[tuple[str | None, list[int]]]
) -> list[tuple[str | None, list[int]]]:
    """A category that has come to hold too much of its bucket is parted; the largest part keeps
    its id."""
    parted: list[tuple[str | None, list[int]]] = []
    for key, places in groups:
        if len(places) < max(_TOO_LARGE, _TOO_LARGE_SHARE * len(items)):
            parted.append((key, places))
            continue
        labels = group(rows[places], [items[place].text for place in places], 3)
        parts = [
            [place for place, label in zip(places, labels, strict=True) if label == number]
            for number in range(int(labels.max()) + 1)
        ]
        small = [place for part in parts if len(part) < FEWEST_IN_GROUP for place in part]
        large = sorted((p for p in parts if len(p) >= FEWEST_IN_GROUP), key=len, reverse=True)
        large[0] += small
        parted.append((key, large[0]))
        parted += [(None, part) for part in large[1:]]
    return parted


def _coherence(rows: Vectors) -> float:
    return float((rows @ unit(rows.mean(axis=0))).mean())


def _taken_over(
    items: Sequence[Item], groups: Sequence[Sequence[int]], former: set[str]
) -> list[str | None]:
    """For each new group the former category that it is the successor of, if any."""
    sizes = Counter(each.former for each in items if each.former in former)
    pairs = []
    for number, places in enumerate(groups):
        shared = Counter(items[p].former for p in places if items[p].former in former)
        for key, count in shared.items():
            assert key is not None
            overlap = count / (len(places) + sizes[key] - count)
            pairs.append((overlap, number, key))
    ids: list[str | None] = [None] * len(groups)
    used: set[str] = set()
    for overlap, number, key in sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2])):
        if overlap >= _OVERLAP and ids[number] is None and key not in used:
            ids[number] = key
            used.add(key)
    return ids


def _ordered(
    groups: Sequence[tuple[str | None, Sequence[int]]],
    rest: Sequence[int],
    former: Mapping[str, str],
) -> tuple[Sorted, ...]:
    found = [Sorted(key, GROUP, tuple(sorted(places))) for key, places in groups]
    found.sort(key=lambda each: (-len(each.members), each.members))
    if rest:
        known = next((key for key, kind in former.items() if kind == REST), None)
        found.append(Sorted(known, REST, tuple(sorted(rest))))
    return tuple(found)
