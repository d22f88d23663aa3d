"""Reads texts and files as an import does, without a database, and shows what came out."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from backread.domain import MessageKind, ParsedConversation, ParsedMessage
from backread.settings import Settings
from ingest.containers.source import Source
from ingest.cutting import cut
from ingest.importers import importer_for
from ingest.importers.base import platform_of
from ingest.json_stream import load

_SETTINGS = Settings(home=Path(tempfile.gettempdir()) / "backread-parsing")
EXPORTS = Path(__file__).parents[2] / "fixtures" / "exports"


def parse_bytes(body: bytes, *, chunk: int = 64 * 1024) -> list[ParsedConversation]:
    """Every conversation in a file with this content; anything else in it is an error."""

    def chunks() -> Iterator[bytes]:
        for start in range(0, len(body), chunk):
            yield body[start : start + chunk]

    return _parse(Source("file", "file", len(body), chunks))


def parse_file(slug: str, name: str) -> list[ParsedConversation]:
    """The conversations of one of the project's own fixtures."""
    return parse_bytes((EXPORTS / slug / name).read_bytes())


def parse_json(value: Any) -> list[ParsedConversation]:
    return parse_bytes(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def parse_lines(*values: Any) -> ParsedConversation:
    """The one conversation that these lines are; a text is a line as it stands."""
    lines = [value if isinstance(value, str) else json.dumps(value) for value in values]
    (parsed,) = parse_bytes("\n".join(lines).encode())
    return parsed


def _parse(source: Source) -> list[ParsedConversation]:
    found = []
    for element in cut(source, _SETTINGS):
        assert not element.problem, element.problem
        raw = load(element.body)
        importer = importer_for(raw)
        assert importer is not None
        parsed = importer.parse(raw)
        assert parsed.external_id == importer.identify(raw)
        assert parsed.platform.value == platform_of(importer, raw)
        check_tree(parsed)
        found.append(parsed)
    return found


def check_tree(parsed: ParsedConversation) -> None:
    """What every importer guarantees: one id per message, parents first, a connected line."""
    known: set[str] = set()
    for message in parsed.messages:
        assert message.external_id not in known
        assert message.parent_external_id is None or message.parent_external_id in known
        known.add(message.external_id)
    assert set(parsed.shown_line) <= known
    parents = {message.external_id: message.parent_external_id for message in parsed.messages}
    for above, below in zip((None, *parsed.shown_line), parsed.shown_line, strict=False):
        assert parents[below] == above
    assert not parsed.messages or parsed.shown_line


def line_of(parsed: ParsedConversation) -> list[ParsedMessage]:
    by_id = {message.external_id: message for message in parsed.messages}
    return [by_id[each] for each in parsed.shown_line]


def said(parsed: ParsedConversation) -> list[str]:
    """The dialogue on the shown line, as "user: Hello"."""
    return [
        f"{message.role.value}: {message.text}"
        for message in line_of(parsed)
        if message.kind is MessageKind.DIALOGUE
    ]


def elsewhere(parsed: ParsedConversation) -> list[str]:
    """The texts of messages that are not on the shown line."""
    return [m.text for m in parsed.messages if m.external_id not in parsed.shown_line]


def beside(parsed: ParsedConversation) -> list[tuple[str, str, str]]:
    """All asides in order."""
    return [(a.kind, a.name, a.text) for message in parsed.messages for a in message.asides]
