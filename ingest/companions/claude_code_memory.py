"""Claude Code's memory of a project: `memory/*.md`.

Newer files hold one memory each, with a name in their front matter; what follows it ("Why", "How
to apply") belongs together. Older ones are lists. `MEMORY.md` may only point at the other files.
"""

import re
from collections.abc import Iterator
from typing import Any

from backread.domain import ParsedMemory, Platform
from ingest.companions.base import ParsedCompanion
from ingest.companions.statements import MAX_CHARACTERS, statements_in
from ingest.importers.base import Raw, dict_in, text_in
from ingest.importers.envelopes import MEMORY_FILE_KEY

_FRONT_MATTER = re.compile(r"---\n(?P<fields>.*?)\n---\n(?P<body>.*)", re.DOTALL)
_NAME = re.compile(r"^name:[ \t]*(?P<name>\S.*)$", re.MULTILINE)
_QUOTES_AND_SPACE = "\"' \t"
_POINTER = re.compile(r"\[[^\]]*\]\([^)]*\.md\).*", re.DOTALL)


class ClaudeCodeMemoryReader:
    slug = "claude_code_memory"
    platform = Platform.CLAUDE_CODE
    version = 1

    def recognises(self, raw: Any) -> bool:
        return isinstance(raw, dict) and isinstance(raw.get(MEMORY_FILE_KEY), dict)

    def identify(self, raw: Raw) -> str:
        return text_in(dict_in(raw.get(MEMORY_FILE_KEY)).get("path"))

    def parse(self, raw: Raw) -> ParsedCompanion:
        return ParsedCompanion(memories=tuple(_memories(raw)))


CLAUDE_CODE_MEMORY = ClaudeCodeMemoryReader()


def _memories(raw: Raw) -> Iterator[ParsedMemory]:
    held = dict_in(raw.get(MEMORY_FILE_KEY))
    path, text = text_in(held.get("path")), text_in(held.get("text"))
    project = path.split("/", 1)[0]
    topic = path.rsplit("/", 1)[-1].removesuffix(".md").replace("_", " ").replace("-", " ")
    whole = _FRONT_MATTER.fullmatch(text)
    name = _NAME.search(whole["fields"]) if whole else None
    if whole and name and len(whole["body"].strip()) <= MAX_CHARACTERS:
        source = f"Project memory: {name['name'].strip(_QUOTES_AND_SPACE)}"
        yield ParsedMemory(whole["body"].strip(), source, project_external_id=project)
        return
    for statement in statements_in(text):
        if _POINTER.fullmatch(statement.text):
            continue
        heading = " / ".join(part for part in (topic, statement.heading) if part)
        yield ParsedMemory(
            statement.text, f"Project memory: {heading}", project_external_id=project
        )
