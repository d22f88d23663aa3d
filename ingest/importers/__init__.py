"""The formats that can be imported: the explicit list, and the way to find one's importer."""

from typing import Any

from backread.domain import Platform
from ingest.importers.base import Importer
from ingest.importers.chatgpt import CHATGPT
from ingest.importers.claude_ai import CLAUDE_AI

IMPORTERS: dict[str, Importer] = {
    Platform.CHATGPT.value: CHATGPT,
    Platform.CLAUDE_AI.value: CLAUDE_AI,
}


def importer_for(raw: Any) -> Importer | None:
    """The importer whose structure `raw` has, whatever its file was called."""
    for importer in IMPORTERS.values():
        if importer.recognises(raw):
            return importer
    return None
