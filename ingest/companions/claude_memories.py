"""Claude's memories: `memories.json`, or one file an account in newer exports.

One text about the person, one for each project, or files of statements; any of them may be absent.
"""

from collections.abc import Iterator
from typing import Any

from backread.domain import ParsedMemory, Platform
from ingest.companions.base import ParsedCompanion
from ingest.companions.statements import statements_in
from ingest.importers.base import Raw, dict_in, dicts_in, text_in, time_in

_KEYS = ("conversations_memory", "project_memories", "memory_files")


class ClaudeMemoriesReader:
    slug = "claude_memories"
    platform = Platform.CLAUDE_AI
    version = 1

    def recognises(self, raw: Any) -> bool:
        return isinstance(raw, dict) and any(key in raw for key in _KEYS)

    def identify(self, raw: Raw) -> str:
        return text_in(raw.get("account_uuid")) or "account"

    def parse(self, raw: Raw) -> ParsedCompanion:
        return ParsedCompanion(memories=tuple(_memories(raw)))


CLAUDE_MEMORIES = ClaudeMemoriesReader()


def _memories(raw: Raw) -> Iterator[ParsedMemory]:
    for statement in statements_in(text_in(raw.get("conversations_memory"))):
        yield ParsedMemory(statement.text, _words("Memory", statement.heading, statement.tag))
    for project, text in dict_in(raw.get("project_memories")).items():
        for statement in statements_in(text_in(text)):
            source = _words("Project memory", statement.heading, statement.tag)
            yield ParsedMemory(statement.text, source, project_external_id=text_in(project))
    for file in dicts_in(raw.get("memory_files")):
        name = _topic(text_in(file.get("path")))
        updated_at = time_in(file.get("updated_at"))
        for statement in statements_in(text_in(file.get("content"))):
            heading = " / ".join(part for part in (name, statement.heading) if part)
            yield ParsedMemory(statement.text, _words("Memory", heading, statement.tag), updated_at)


def _topic(path: str) -> str:
    """`/areas/health_care.md` as "areas / health care"."""
    bare = path.strip("/").removesuffix(".md")
    return bare.replace("_", " ").replace("-", " ").replace("/", " / ")


def _words(lead: str, heading: str, tag: str) -> str:
    words = f"{lead}: {heading}" if heading else lead
    return f"{words} ({tag})" if tag else words
