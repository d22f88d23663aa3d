"""Claude Code's memory of a project: Markdown files in the folder `memory` beside its sessions.

Nothing in these texts says what they are; the place does. Claude Code names a project's folder by
its path with dashes (`-home-ada-kiln`, `C--Users-ada-kiln`), which no other tool does.
"""

import re
from collections.abc import Iterator

import orjson

from backread.settings import Settings
from ingest.containers.source import Source
from ingest.cutting.base import too_large
from ingest.importers.envelopes import MEMORY_FILE_KEY
from ingest.json_stream import Element

_PLACE = re.compile(r"(?:^|/)(?P<path>(?:-|[A-Za-z]--)[^/]*/memory/[^/]+\.md)$")


class MemoryFileCutter:
    def claims(self, source: Source, head: bytes) -> bool:
        return _PLACE.search(source.name) is not None and b"\x00" not in head

    def cut(self, source: Source, settings: Settings) -> Iterator[Element]:
        found = _PLACE.search(source.name)
        body = bytearray()
        for chunk in source.chunks():
            body += chunk
            if len(body) > settings.conversation_max_bytes:
                yield Element(0, source.size, b"", too_large(settings))
                return
        path = found["path"] if found else source.base_name
        held = {"path": path, "text": body.decode("utf-8-sig", "replace")}
        yield Element(0, source.size, orjson.dumps({MEMORY_FILE_KEY: held}))


MEMORY_FILE = MemoryFileCutter()
