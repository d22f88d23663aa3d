"""The retrieval in steps, each with one part more than the one before."""

from dataclasses import dataclass, replace

from recall.fusion import Weights
from recall.judging import Signs


@dataclass(frozen=True, slots=True)
class Variant:
    name: str
    weights: Weights
    signs: Signs
    words: bool = True
    as_of: bool = True


# With the score alone, the second look leaves the order as it is.
_ORDER = Signs(1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
_FULL = Weights()
_BARE = replace(
    _FULL,
    dense=0,
    neighbour=0,
    second_neighbour=0,
    conversation=0,
    user_turn=1,
    preferred=1,
    recent=0,
)
_MEANING = replace(_BARE, dense=_FULL.dense)
_NEIGHBOURS = replace(_MEANING, neighbour=_FULL.neighbour, second_neighbour=_FULL.second_neighbour)
_CONVERSATION = replace(_NEIGHBOURS, conversation=_FULL.conversation)
_SIGNS = Signs()


def _without(**signs: float) -> Signs:
    return replace(_SIGNS, **signs)


VARIANTS = (
    Variant("words only", _BARE, _ORDER),
    Variant("meaning only", replace(_BARE, dense=1), _ORDER, words=False),
    Variant("+ meaning", _MEANING, _ORDER),
    Variant("+ neighbours", _NEIGHBOURS, _ORDER),
    Variant("+ conversation", _CONVERSATION, _ORDER),
    Variant("+ own turns and time", _FULL, _ORDER),
    Variant("all", _FULL, _SIGNS),
    Variant("all, whatever the time asked", _FULL, _SIGNS, as_of=False),
    Variant("all but: recent", replace(_FULL, recent=0), _SIGNS),
    Variant("all but: words around", _FULL, _without(words=0)),
    Variant("all but: asks, replies", _FULL, _without(asks=0, replies=0)),
    Variant("all but: meaning", _FULL, _without(meaning=0, meaning_before=0)),
    Variant("all but: conversation", _FULL, _without(conversation=0)),
    Variant("all but: length, number", _FULL, _without(length=0, number=0)),
    Variant("all but: subject", _FULL, _without(subject=0)),
    Variant("all but: beside", _FULL, _without(beside=0)),
)
