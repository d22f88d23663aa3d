"""What a reader of companions offers. A companion is something of an export that is no
conversation and still of value: a project with its documents, a file of memories."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from backread.domain import ParsedDocument, ParsedMemory, Platform
from ingest.importers.base import Raw


@dataclass(frozen=True, slots=True)
class ParsedCompanion:
    """What a companion holds, as its reader understood it."""

    memories: Sequence[ParsedMemory] = ()
    documents: Sequence[ParsedDocument] = ()


class CompanionReader(Protocol):
    """One per kind. Like an importer it decides by structure alone, trusts no type, and gives the
    same for the same raw form at any time."""

    @property
    def slug(self) -> str: ...

    @property
    def platform(self) -> Platform: ...

    @property
    def version(self) -> int:
        """Goes up when the same raw form reads as something else: then it is read again."""
        ...

    def recognises(self, raw: Any) -> bool: ...

    def identify(self, raw: Raw) -> str:
        """The platform's id of it; stable over later exports."""
        ...

    def parse(self, raw: Raw) -> ParsedCompanion: ...
