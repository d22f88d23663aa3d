"""The kinds of companions that are read: the explicit list, and the way to find one's reader."""

from typing import Any

from ingest.companions.base import CompanionReader
from ingest.companions.claude_code_memory import CLAUDE_CODE_MEMORY
from ingest.companions.claude_memories import CLAUDE_MEMORIES
from ingest.companions.claude_project import CLAUDE_PROJECT

READERS: dict[str, CompanionReader] = {
    reader.slug: reader for reader in (CLAUDE_CODE_MEMORY, CLAUDE_MEMORIES, CLAUDE_PROJECT)
}


def reader_for(raw: Any) -> CompanionReader | None:
    """The reader whose structure `raw` has. Asked for what no importer recognises."""
    for reader in READERS.values():
        if reader.recognises(raw):
            return reader
    return None
