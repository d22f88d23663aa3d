"""What Claude's list of download links names. The links themselves are secrets that expire; they
are never followed, stored or shown."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

from ingest.containers.source import Source
from ingest.importers.base import dicts_in, text_in

_NAME_KEYS = ("file_name", "filename", "name", "path")
_CHATS = "conversations"
_SHOWN = 12
_SECOND_COPY = re.compile(r" ?\(\d+\)(?=\.[^.]*$)")  # as browsers name one: "a (1).zip"


def listed_downloads(manifest: Mapping[str, Any]) -> Iterator[str]:
    """The names of the files that the list leads to."""
    for entry in dicts_in(manifest.get("data_files")):
        named = (text_in(entry.get(key)) for key in _NAME_KEYS)
        name = next(filter(None, named), "") or _name_in_link(text_in(entry.get("export_url")))
        if base := name.replace("\\", "/").rsplit("/", 1)[-1].strip():
            yield base


def listed_in_words(manifest: Mapping[str, Any]) -> str:
    """A sentence that says which files to fetch, or "" when the list names none."""
    names = list(dict.fromkeys(listed_downloads(manifest)))
    names = [name for name in names if name.startswith(_CHATS)] or names
    if not names:
        return ""
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return f" It leads to {', '.join(names[:_SHOWN])}{more}."


def missing_downloads(names: Iterable[str], sources: Sequence[Source]) -> list[str]:
    """A warning for each listed file of chats that is not among those chosen."""
    chosen = {
        _SECOND_COPY.sub("", part).lower() for source in sources for part in source.name.split("/")
    }
    return [
        f"{name} is on Claude's list of downloads but was not among the files chosen: its chats "
        "were not imported. Download it from the list and import it as well; if the links have "
        "expired, request the export again."
        for name in dict.fromkeys(names)
        if name.startswith(_CHATS) and name.lower() not in chosen
    ]


def _name_in_link(link: str) -> str:
    try:
        return unquote(urlsplit(link).path).rsplit("/", 1)[-1]
    except ValueError:
        return ""
