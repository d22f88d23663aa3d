"""Claude's projects: `projects.json`, or one file a project. Their documents, the instructions
that a person wrote for them, and the description."""

from collections.abc import Iterator
from typing import Any

from backread.domain import ParsedDocument, Platform
from ingest.companions.base import ParsedCompanion
from ingest.importers.base import Raw, dicts_in, text_in, time_in

_MEDIA_TYPES = {
    "md": "text/markdown",
    "markdown": "text/markdown",
    "csv": "text/csv",
    "json": "application/json",
    "html": "text/html",
    "htm": "text/html",
}


class ClaudeProjectReader:
    slug = "claude_project"
    platform = Platform.CLAUDE_AI
    version = 1

    def recognises(self, raw: Any) -> bool:
        return (
            isinstance(raw, dict)
            and "uuid" in raw
            and ("docs" in raw or "prompt_template" in raw)
            and "chat_messages" not in raw
        )

    def identify(self, raw: Raw) -> str:
        return text_in(raw.get("uuid"))

    def parse(self, raw: Raw) -> ParsedCompanion:
        return ParsedCompanion(documents=tuple(_documents(raw)))


CLAUDE_PROJECT = ClaudeProjectReader()


def _documents(raw: Raw) -> Iterator[ParsedDocument]:
    project_id = text_in(raw.get("uuid"))
    project = text_in(raw.get("name")).strip()
    created_at, updated_at = time_in(raw.get("created_at")), time_in(raw.get("updated_at"))
    for kind, key in (("instructions", "prompt_template"), ("description", "description")):
        text = text_in(raw.get(key))
        if text.strip():
            yield ParsedDocument(
                external_id=f"{project_id}:{kind}",
                name=f"Project {kind}",
                text=text,
                kind=kind,
                media_type="text/markdown",
                project=project,
                project_external_id=project_id,
                created_at=created_at,
                updated_at=updated_at,
            )
    for place, document in enumerate(dicts_in(raw.get("docs"))):
        name = text_in(document.get("filename")).strip()
        yield ParsedDocument(
            external_id=text_in(document.get("uuid")) or f"{project_id}:{name or place}",
            name=name or "Untitled document",
            text=text_in(document.get("content")),
            media_type=_media_type(name),
            project=project,
            project_external_id=project_id,
            created_at=time_in(document.get("created_at")) or created_at,
            updated_at=updated_at,
        )


def _media_type(name: str) -> str:
    ending = name.rsplit(".", 1)[-1].lower() if "." in name else ""
    return _MEDIA_TYPES.get(ending, "text/plain")
