"""Stand-ins for language models: they read what they are sent as a real one would."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from recall.sentences import sentences
from tests.language_model_server import Asked, Say, Step

_BLOCK = re.compile(r"<<<data (\w+) ?([^\n]*)\n(.*?)\ndata \1>>>", re.DOTALL)
_NOTE = re.compile(r"\[([\d, ]+)\] (.+)")


@dataclass(frozen=True, slots=True)
class Block:
    label: str
    text: str

    @property
    def number(self) -> int:
        return int(re.findall(r"\d+", self.label)[0])


def blocks_of(asked: Asked) -> list[Block]:
    content = asked["messages"][1]["content"]
    return [Block(label, text) for _, label, text in _BLOCK.findall(content)]


def is_merge(asked: Asked) -> bool:
    return "You merge notes" in asked["messages"][0]["content"]


def say_sentences(*said: tuple[str, list[int]]) -> Say:
    found = [{"text": text, "messages": numbers} for text, numbers in said]
    return Say(json.dumps({"sentences": found}, ensure_ascii=False), usage=None)


def sensible(asked: Asked) -> Step:
    """The first sentence of some messages; every second note of a merge."""
    if is_merge(asked):
        notes = _NOTE.findall(blocks_of(asked)[0].text)
        kept = notes[:: max(2, len(notes) // 10)]
        return say_sentences(
            *((text, [int(n) for n in numbers.split(",")]) for numbers, text in kept)
        )
    said = []
    for block in blocks_of(asked):
        first = next(iter(sentences(block.text)), "")
        if first:
            said.append((first, [block.number]))
    return say_sentences(*said[:: max(1, len(said) // 4)][:5])


def failing_after(calls: int, step: Step) -> Callable[[Asked], Step]:
    """Sensible for so many calls, then `step` for ever."""
    left = [calls]

    def answer(asked: Asked) -> Step:
        left[0] -= 1
        return sensible(asked) if left[0] >= 0 else step

    return answer
