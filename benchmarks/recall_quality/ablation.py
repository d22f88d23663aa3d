"""The retrieval in steps, each with one part more than the one before."""

from dataclasses import dataclass

from recall.fusion import Weights


@dataclass(frozen=True, slots=True)
class Variant:
    name: str
    weights: Weights
    words: bool = True


_BARE = Weights(dense=0, neighbour=0, second_neighbour=0, conversation=0, user_turn=1, preferred=1)
_FULL = Weights()

VARIANTS = (
    Variant("words only", _BARE),
    Variant("meaning only", Weights(1, 0, 0, 0, 1, 1), words=False),
    Variant("+ meaning", Weights(_FULL.dense, 0, 0, 0, 1, 1)),
    Variant(
        "+ neighbours",
        Weights(_FULL.dense, _FULL.neighbour, _FULL.second_neighbour, 0, 1, 1),
    ),
    Variant(
        "+ conversation",
        Weights(_FULL.dense, _FULL.neighbour, _FULL.second_neighbour, _FULL.conversation, 1, 1),
    ),
    Variant("all", _FULL),
)
