"""A summary in the conversation's own sentences, without a model that writes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from backread.domain import Role
from backread.errors import Unavailable
from backread.llm.embedding import Vectors
from backread.text.extracting import choose_sentences
from recall.sentences import sentences

Embed = Callable[[Sequence[str]], Vectors]

# Embedding a sentence takes milliseconds, so only those are that words alone find worth it.
COMPARED_BY_MEANING = 100

_USERS_SHARE = 1.1  # what the person said says more of what it was about
_LONGEST_SENTENCE_TOKENS = 120


class Said(Protocol):
    """A message of either kind."""

    @property
    def role(self) -> str: ...
    @property
    def text(self) -> str: ...


Message = TypeVar("Message", bound=Said)


@dataclass(frozen=True, slots=True)
class Picked(Generic[Message]):
    """A sentence, word for word, and the message that says it."""

    text: str
    message: Message


def pick(
    messages: Sequence[Message],
    max_tokens: int,
    *,
    most: int | None = None,
    embed: Embed | None = None,
) -> list[Picked[Message]]:
    """The sentences that say most, in the order they were said, inside the budget.

    With `embed`, which gives a unit vector for each text, sentences are compared by meaning as
    well as by words; an embedding model that cannot be had is done without.
    """
    said = [(text, message) for message in messages for text in sentences(message.text)]
    if embed is not None and len(said) > COMPARED_BY_MEANING:
        said = _chosen(said, COMPARED_BY_MEANING * _LONGEST_SENTENCE_TOKENS, COMPARED_BY_MEANING)
    vectors = None
    if embed is not None and said:
        try:
            vectors = embed([text for text, _ in said])
        except Unavailable:
            vectors = None
    return [Picked(*each) for each in _chosen(said, max_tokens, most, vectors)]


def _chosen(
    said: Sequence[tuple[str, Message]],
    max_tokens: int,
    most: int | None,
    vectors: Vectors | None = None,
) -> list[tuple[str, Message]]:
    chosen = choose_sentences(
        [text for text, _ in said],
        budget_tokens=max_tokens,
        vectors=vectors,
        weights=[_USERS_SHARE if each.role == Role.USER else 1.0 for _, each in said],
        most=most,
    )
    return [said[n] for n in chosen]
