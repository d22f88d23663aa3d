"""Made-up passages with the word statistics of real chats: a few words are everywhere, most are
rare, lengths vary by a factor of fifty, and a conversation keeps to its topic."""

import random
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate

_SYLLABLES = (
    *("ka", "lo", "mi", "ren", "ta", "su", "vel", "or", "in", "pa", "de"),
    *("qui", "bra", "no", "the", "an", "sho", "ge", "lu", "fi", "co", "ma"),
)
_VOCABULARY = 30_000
_TOPICS = 400
_TOPIC_WORDS = 60
_TOPIC_SHARE = 0.3  # of a passage's words come from its conversation's topic


@lru_cache(maxsize=1)
def _words() -> tuple[list[str], list[float]]:
    """A vocabulary and the running totals of its Zipf weights."""
    draw = random.Random(0)
    seen: dict[str, None] = {}
    while len(seen) < _VOCABULARY:
        seen["".join(draw.choices(_SYLLABLES, k=draw.choice((1, 2, 2, 3, 3, 4))))] = None
        if len(seen) > len(_SYLLABLES) ** 2:
            seen["".join(draw.choices(_SYLLABLES, k=4))] = None
    words = list(seen)
    return words, list(accumulate(1 / (rank + 2.7) for rank in range(len(words))))


def passage_texts(draw: random.Random, count: int, *, per_topic: int = 20) -> Iterator[str]:
    """`count` texts of 5 to 250 words, median about 45; `per_topic` in a row share a topic."""
    words, totals = _words()
    topic: list[str] = []
    for number in range(count):
        if number % per_topic == 0:
            topic = topic_words(draw.randrange(_TOPICS))
        length = min(250, max(5, round(draw.lognormvariate(3.8, 0.9))))
        of_topic = round(length * _TOPIC_SHARE)
        chosen = draw.choices(words, cum_weights=totals, k=length - of_topic)
        chosen += draw.choices(topic, k=of_topic)
        draw.shuffle(chosen)
        yield " ".join(chosen).capitalize() + "."


def topic_words(topic: int) -> list[str]:
    words, _ = _words()
    return random.Random(topic).sample(words[200:], _TOPIC_WORDS)


def questions(draw: random.Random, count: int) -> list[str]:
    """Questions of 4 to 10 words, most of them from one topic."""
    words, totals = _words()
    asked = []
    for _ in range(count):
        length = draw.randint(4, 10)
        chosen = draw.sample(topic_words(draw.randrange(_TOPICS)), k=length // 2 + 1)
        chosen += draw.choices(words, cum_weights=totals, k=length - len(chosen))
        draw.shuffle(chosen)
        asked.append(" ".join(chosen) + "?")
    return asked
