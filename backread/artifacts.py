"""The documents that a conversation worked on beside the chat, with every version of each.

A fold over the messages of one line. Guarantees: each step of an artifact is a version, in order;
a version's text is whole whenever the steps before it applied; a change that does not apply is
kept as it came, with the text before it, and says so. Time is bounded whatever a file holds.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from backread.patching import Patcher, Unappliable

_MOST_VERSIONS = 5_000  # of one conversation; what comes after is not folded


class HasAsides(Protocol):
    """A stored message, as far as it is needed here."""

    @property
    def id(self) -> str: ...
    @property
    def created_at(self) -> datetime | None: ...
    @property
    def asides(self) -> list[Any]: ...


class HasPlace(HasAsides, Protocol):
    @property
    def position(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Comment:
    """A remark on words of a version."""

    quote: str
    text: str


@dataclass(slots=True)
class Version:
    """A state of an artifact. `change` is the change as it came when it did not apply; `text` is
    then what was there before."""

    number: int  # from 1
    step: int  # its place among all steps of the line
    message_id: str
    created_at: datetime | None
    command: str
    text: str
    change: str = ""
    problem: str = ""
    comments: list[Comment] = field(default_factory=list)


@dataclass(slots=True)
class Artifact:
    number: int  # from 1, in the order of first mention
    id: str
    title: str
    type: str
    language: str
    versions: list[Version] = field(default_factory=list)

    @property
    def latest(self) -> Version:
        return self.versions[-1]


def artifacts_of(messages: Iterable[HasAsides]) -> list[Artifact]:
    """The artifacts of a line, by its messages in order."""
    fold = _Fold()
    for message in messages:
        for aside in message.asides:
            step = aside.get("artifact") if isinstance(aside, dict) else None
            if isinstance(step, dict):
                fold.take(message, str(aside.get("text", "")), step)
    return list(fold.artifacts.values())


def by_message(
    dialogue: Sequence[HasPlace], changes: Sequence[HasPlace]
) -> dict[str, list[tuple[Artifact, Version]]]:
    """Each version by the message of the dialogue at which it is read: the one that made it, else
    the next, else the last. `changes` are the messages with asides; both in order."""
    places = [message.position for message in dialogue]
    positions = {change.id: change.position for change in changes}
    found: dict[str, list[tuple[Artifact, Version]]] = {}
    for artifact in artifacts_of(changes) if places else []:
        for version in artifact.versions:
            place = bisect_left(places, positions[version.message_id])
            holder = dialogue[min(place, len(dialogue) - 1)]
            found.setdefault(holder.id, []).append((artifact, version))
    for group in found.values():
        group.sort(key=lambda each: each[1].step)
    return found


class _Fold:
    def __init__(self) -> None:
        self.artifacts: dict[str, Artifact] = {}
        self._last = ""
        self._patcher = Patcher()
        self._count = 0

    def take(self, message: HasAsides, text: str, step: Mapping[str, Any]) -> None:
        self._count += 1
        if self._count > _MOST_VERSIONS:
            return
        command = str(step.get("command", ""))
        artifact = self._artifact(message, command, step)
        if command == "comment":
            self._comment(artifact, message, step)
            return
        before = artifact.latest.text if artifact.versions else ""
        version = Version(
            len(artifact.versions) + 1, self._count, message.id, message.created_at, command, text
        )
        if command == "update":
            try:
                if not artifact.versions:
                    raise Unappliable("The text that it changes is not in this conversation.")
                version.text = self._patcher.apply(before, step.get("patches") or [])
            except Unappliable as reason:
                version.text, version.change, version.problem = before, text, str(reason)
        artifact.versions.append(version)

    def _artifact(self, message: HasAsides, command: str, step: Mapping[str, Any]) -> Artifact:
        key = str(step.get("artifact_id") or "")
        if not key:
            key = f"message:{message.id}" if command == "create" else self._last
            key = key or f"message:{message.id}"
        self._last = key
        artifact = self.artifacts.get(key)
        if artifact is None:
            artifact = Artifact(len(self.artifacts) + 1, key, "", "", "")
            self.artifacts[key] = artifact
        artifact.title = str(step.get("title") or "") or artifact.title
        artifact.type = str(step.get("type") or "") or artifact.type
        artifact.language = str(step.get("language") or "") or artifact.language
        return artifact

    def _comment(self, artifact: Artifact, message: HasAsides, step: Mapping[str, Any]) -> None:
        if not artifact.versions:
            artifact.versions.append(
                Version(1, self._count, message.id, message.created_at, "comment", "")
            )
            artifact.latest.problem = "The text that is commented is not in this conversation."
        artifact.latest.comments += [
            Comment(str(each.get("old", "")), str(each.get("new", "")))
            for each in step.get("patches") or []
            if isinstance(each, dict)
        ]
