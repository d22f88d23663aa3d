"""Conventions and decisions: sentences that say how things are done here, and what was chosen."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from recall.sentences import sentences, stems

_LONGEST, _SHORTEST = 300, 12
_CONVENTION = re.compile(
    r"\b(?:always|never)\s+\w|\b(?:please\s+)?(?:don['’]t|do not|avoid|stop)\s+(?:\w+ing|use|add|"
    r"write|create|put|change|touch|commit|mock|rename|import|delete|edit)\b"
    r"|\bwe\s+(?:use|prefer|don['’]t use|never use|always use|follow|keep|write)\b"
    r"|\b(?:i|we)\s+prefer\b|\bprefer\s+\w+.{0,60}\b(?:over|to|instead of)\b"
    r"|\buse\s+\S+.{0,60}\b(?:instead of|rather than|not)\b"
    r"|\b(?:must|should)\s+(?:always|never|not)\b"
    r"|\bthe convention (?:is|here)\b|\bmake sure (?:to|that|you)\b"
    r"|\b(?:immer|niemals|nie|verwende|bevorzuge|toujours|jamais|préfère|siempre|nunca|prefiero)\b"
    r"|总是|永远不要|请使用|不要使用|必ず|使わないで",
    re.IGNORECASE,
)
_DECISION = re.compile(
    r"\b(?:we|i)(?:['’]ve|\s+have)?\s+(?:decided|chose|chosen|agreed|settled|opted)\b"
    r"|\blet['’]s\s+(?:use|go with|switch|keep|drop|stick|move|do|make|call|replace)\b"
    r"|\b(?:going|go|went)\s+with\s+\w|\bdecision\s*[:：]|\b(?:switched|switch|migrated?|moved?)\s+"
    r"(?:\w+\s+){0,3}(?:from|to)\b.{0,60}|\breplac(?:e|ed|ing)\s+.{1,60}\s+(?:with|by)\b"
    r"|\binstead of\b|\bwir (?:haben uns|nehmen|verwenden)\b|\bon (?:utilise|choisit|garde)\b"
    r"|\b(?:decidimos|usaremos|vamos a usar)\b|我们决定|决定使用|に決め|を採用",
    re.IGNORECASE,
)
# "X instead of Y", "from Y to X", "replace Y with X": the first gives way to the second.
_INSTEAD = re.compile(
    r"(?P<new>[\w.@/+-]+(?:\s[\w.@/+-]+)?)\s+(?:instead of|rather than|over)\s+"
    r"(?P<old>[\w.@/+-]+)"
    r"|\bfrom\s+(?P<old2>[\w.@/+-]+)\s+to\s+(?P<new2>[\w.@/+-]+)"
    r"|\breplac(?:e|ed|ing)\s+(?:the\s+)?(?P<old3>[\w.@/+-]+)\s+(?:with|by)\s+(?P<new3>[\w.@/+-]+)",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"\b(?:never|don['’]t|do not|avoid|stop|no longer|not|without|nie|niemals|jamais|nunca)\b|不要",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"[?？]\s*$")


@dataclass(frozen=True, slots=True)
class Replacement:
    """One thing took the place of another."""

    old: str
    new: str


def conventions_in(text: str) -> Iterator[str]:
    """How somebody wants things done, in what a person wrote."""
    for sentence in _stated(text):
        if _CONVENTION.search(sentence):
            yield sentence


def decisions_in(text: str) -> Iterator[str]:
    """What was chosen."""
    for sentence in _stated(text):
        if _DECISION.search(sentence):
            yield sentence


def replacement_in(sentence: str) -> Replacement | None:
    """What the sentence puts in the place of what."""
    found = _INSTEAD.search(sentence)
    if found is None:
        return None
    old = found["old"] or found["old2"] or found["old3"]
    new = found["new"] or found["new2"] or found["new3"]
    old, new = (" ".join(each.split()[-1:]).strip(".,;:") for each in (old, new))
    return Replacement(old, new) if old and new and old.lower() != new.lower() else None


def is_negated(sentence: str) -> bool:
    return _NEGATED.search(sentence) is not None


def same_statement(sentence: str) -> tuple[str, ...]:
    """What two statements share that say the same: their stems, in the order of the alphabet."""
    return tuple(sorted(set(stems(sentence))))


def _stated(text: str) -> Iterator[str]:
    for sentence in sentences(text):
        if _SHORTEST <= len(sentence) <= _LONGEST and not _QUESTION.search(sentence):
            yield sentence
