"""Texts that stand beside the messages of a chat: documents and code that it worked on (artifacts,
canvases, files), and texts that were attached to a message.

They are found as messages are, each part with the message at which it came to say what it says.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from backread.artifacts import Artifact, by_message
from backread.domain import MessageKind, Role
from backread.store.repositories.conversations import MessageRow

_MOST_PARTS = 2_000  # of one conversation; some half a million tokens
_NAME_CHARACTERS = 200
_NEW_SHARE = 0.5  # of a part of an older version that no newer one says any more
_UNTITLED = "Untitled"
_EARLIER = "(an earlier version)"  # or what was corrected would stand as equal beside it

Cut = Callable[[str], Iterator[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class BesidePart:
    """A part of such a text. `start` and `end` count code points of that version of it.
    `message` is the message of the dialogue at which it is read."""

    document: str
    message: MessageRow
    role: str
    start: int
    end: int
    text: str
    said_at: datetime | None


@dataclass(frozen=True, slots=True)
class _Change:
    """A stored message as the fold over artifacts wants it."""

    id: str
    position: int
    created_at: datetime | None
    asides: list[Any]


@dataclass(frozen=True, slots=True)
class _Version:
    message: MessageRow
    text: str
    said_at: datetime | None


def parts_beside(line: Sequence[MessageRow], cut: Cut) -> Iterator[BesidePart]:
    """The parts of all such texts of a shown line, root first; `cut` cuts a text.

    Of a document with several versions the latest is whole; of those before it what later ones
    say no more, under a name that says so. A part that two texts share at one message comes once.
    """
    said: set[tuple[str, str, str]] = set()
    for number, part in enumerate(_parts(line, cut)):
        if number == _MOST_PARTS:
            return
        key = (part.message["id"], part.document, part.text)
        if key not in said:
            said.add(key)
            yield part


def _parts(line: Sequence[MessageRow], cut: Cut) -> Iterator[BesidePart]:
    for message in line:
        if message["kind"] == MessageKind.DIALOGUE:
            for attachment in message["attachments"]:
                version = _Version(message, attachment["text"], message["created_at"])
                yield from _document(_name(attachment["name"]), [version], message["role"], cut)
    changes = [
        _Change(message["id"], position, message["created_at"], message["asides"])
        for position, message in enumerate(line)
        if any(isinstance(aside, dict) and "artifact" in aside for aside in message["asides"])
    ]
    if changes:
        for artifact, versions in _artifacts(line, changes):
            yield from _document(_name(artifact.title), versions, Role.ASSISTANT.value, cut)


def _artifacts(
    line: Sequence[MessageRow], changes: Sequence[_Change]
) -> Iterator[tuple[Artifact, list[_Version]]]:
    """Each artifact with its versions, in order."""
    by_id = {message["id"]: message for message in line}
    dialogue = [
        _Change(message["id"], position, message["created_at"], [])
        for position, message in enumerate(line)
        if message["kind"] == MessageKind.DIALOGUE
    ]
    found: dict[str, tuple[Artifact, list[_Version]]] = {}
    steps = [
        (version, holder, artifact)
        for holder, made in by_message(dialogue, changes).items()
        for artifact, version in made
    ]
    for version, holder, artifact in sorted(steps, key=lambda each: each[0].step):
        moment = version.created_at or by_id[holder]["created_at"]
        _, versions = found.setdefault(artifact.id, (artifact, []))
        versions.append(_Version(by_id[holder], version.text, moment))
    yield from found.values()


def _document(name: str, versions: Sequence[_Version], role: str, cut: Cut) -> Iterator[BesidePart]:
    """The parts of the latest version, each with the version that wrote the last of its lines,
    then of each version before it the parts of which most is gone."""
    written: dict[str, int] = {}  # by line: the version that has it first
    for number, version in enumerate(versions):
        for line in _lines(version.text):
            written.setdefault(line, number)
    kept: set[str] = set()
    for number in range(len(versions) - 1, -1, -1):
        text = versions[number].text
        for start, end in cut(text):
            part = text[start:end]
            lines = _lines(part)
            gone = sum(len(line) for line in lines if line not in kept)
            if kept and gone < _NEW_SHARE * sum(map(len, lines)):
                continue
            by = versions[max((written.get(line, 0) for line in lines), default=number)]
            called = name if number == len(versions) - 1 else f"{name} {_EARLIER}"
            yield BesidePart(called, by.message, role, start, end, part, by.said_at)
        kept.update(_lines(text))


def _lines(text: str) -> list[str]:
    return [line for each in text.splitlines() if (line := each.strip())]


def _name(name: str) -> str:
    return " ".join(name[:_NAME_CHARACTERS].split()) or _UNTITLED
