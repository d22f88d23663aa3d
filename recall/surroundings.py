"""What stands around the statements of an answer, for the room that is left in its budget.

What was asked and what answers it often stand in different messages, and the one that answers
may share no word with the question: "I took the second one in the end." So the messages beside
the chosen statements may be quoted too, behind everything that was chosen by itself.
"""

from collections.abc import Iterable, Iterator, Mapping

from backread.store.repositories.retrieval import FoundPassage
from recall.found import Found

Place = tuple[str, int]  # conversation id, position

_REACH = 2  # messages: a question, its reply, and what the person made of it
_STEP = 0.6  # of a statement's value that each step away from it keeps


def surroundings(
    found: Found, chosen: Iterable[tuple[Place, float]]
) -> Iterator[tuple[FoundPassage, float]]:
    """The passages beside the places, each once, with what they get of the places' values. Only
    those that retrieval has read, and that may be found by the question's own bounds."""
    value_at: dict[Place, float] = {}
    for place, value in chosen:
        value_at[place] = max(value, value_at.get(place, 0.0))
    known: dict[Place, FoundPassage] = {
        place: passage for place, passage in found.around.items() if passage is not None
    }
    known.update(((each.conversation_id, each.position), each) for each in found.passages)
    share: dict[Place, float] = {}
    for (conversation_id, position), value in value_at.items():
        for distance in range(_REACH + 1):
            for near in {position - distance, position + distance}:
                place = (conversation_id, near)
                if not _is_beside(known, (conversation_id, position), place):
                    continue
                if _may_be_found(found, known[place]):
                    share[place] = max(share.get(place, 0.0), value * _STEP**distance)
    for place in sorted(share, key=lambda each: (-share[each], each)):
        yield known[place], share[place]


def _is_beside(known: Mapping[Place, FoundPassage], place: Place, near: Place) -> bool:
    """Whether both are of the chat, or of one document beside it."""
    if place not in known or near not in known:
        return False
    return known[place].document == known[near].document


def _may_be_found(found: Found, passage: FoundPassage) -> bool:
    question, moment = found.question, passage.occurred_at
    if question.as_of is not None and (moment is None or moment > question.as_of):
        return False
    return not question.is_time_strict or question.time.holds(moment)
