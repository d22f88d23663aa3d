"""What a category is called, in words of its own memories.

A name that was given stays as long as it is still true: a list that renames itself with every
memory cannot be learned.
"""

from collections.abc import Callable, Sequence

import numpy as np

from recall.grouping.clustering import Vectors, centred, unit
from recall.grouping.phrases import Phrase, holds, name_from

Embed = Callable[[list[str]], Vectors]

REST_NAME = "Other"
WHOLE_NAME = "All memories"

_STILL_TELLING = 10  # a name is still true when one of its phrases is among so many first ones
_COMPARED = 16
_LEAST_TELLING = 0.25


def keeps_name(former: Sequence[str], ranked: Sequence[Phrase], texts: Sequence[str]) -> bool:
    """Whether a name made of these phrases still fits: every phrase stands in one of the memories,
    and one of them is among the most telling."""
    if not former or not all(any(holds(text, each) for text in texts) for each in former):
        return False
    telling = {each.surface.lower() for each in ranked[:_STILL_TELLING]}
    return any(each.lower() in telling or _inside(each, telling) for each in former)


def _inside(phrase: str, telling: set[str]) -> bool:
    return any(phrase.lower() in each or each in phrase.lower() for each in telling)


def by_relevance(
    ranked: Sequence[Phrase], centre: Vectors, mean: Vectors, embed: Embed
) -> list[Phrase]:
    """The phrases again, those nearest in meaning to the middle of the category first. `mean` is
    that of all memories of the bucket, `centre` the category's own without it."""
    head = list(ranked[:_COMPARED])
    if len(head) < 2:
        return head
    near = centred(embed([each.surface for each in head]), mean) @ unit(centre)
    most = max(each.score for each in head)
    worth = [
        each.score / most * (_LEAST_TELLING + max(0.0, float(likeness)))
        for each, likeness in zip(head, np.asarray(near), strict=True)
    ]
    order = sorted(range(len(head)), key=lambda place: (-worth[place], head[place].surface))
    return [
        Phrase(head[place].key, head[place].surface, worth[place], head[place].texts)
        for place in order
    ]


def new_name(phrases: Sequence[Phrase], taken: set[str], fallback: str) -> tuple[str, list[str]]:
    """A name that no other category has, and the phrases that it is made of. `fallback` is the
    first words of a memory, for a category whose memories share nothing that can be named."""
    for start in range(max(1, len(phrases) - 2)):
        name, parts = name_from(phrases[start:])
        if name and name.lower() not in taken:
            return name, parts
    name = fallback
    number = 2
    while name.lower() in taken:
        name = f"{fallback} ({number})"
        number += 1
    return name, []
