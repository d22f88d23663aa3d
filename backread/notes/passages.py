"""A note cut into stretches that a search index can hold: whole paragraphs, with the title."""

import re

MAX_CHARACTERS = 1_200
MOST = 1_000  # of one note
_PARAGRAPHS = re.compile(r"\n[ \t]*\n+")
_BREAKS = re.compile(r"(?<=[.!?。！？\n])\s*")


def passages_of(title: str, body: str) -> list[str]:
    """At least one, so that a note without a body is found by its title."""
    pieces: list[str] = []
    current = ""
    for paragraph in _PARAGRAPHS.split(body):
        for part in _parts(paragraph.strip()):
            if current and len(current) + len(part) > MAX_CHARACTERS:
                pieces.append(current)
                current = ""
            current = f"{current}\n\n{part}" if current else part
    if current or not pieces:
        pieces.append(current)
    return [f"{title}\n{piece}".strip() for piece in pieces[:MOST]]


def _parts(paragraph: str) -> list[str]:
    """A paragraph; one that is too long cut after sentences, or anywhere."""
    if len(paragraph) <= MAX_CHARACTERS:
        return [paragraph] if paragraph else []
    parts, current = [], ""
    for sentence in _BREAKS.split(paragraph):
        for start in range(0, len(sentence), MAX_CHARACTERS):
            piece = sentence[start : start + MAX_CHARACTERS]
            if current and len(current) + len(piece) > MAX_CHARACTERS:
                parts.append(current)
                current = ""
            current = f"{current} {piece}" if current else piece
    return [*parts, current] if current else parts
