"""What a file or a JSON value looks like, in words: so that a refusal can say what was chosen
and what to choose instead. Only structure counts, never a file's name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ingest.importers.base import dicts_in

CHOOSE = (
    "Choose the zip or the file of a chat tool's data export, such as ChatGPT's, Claude's or "
    "Gemini's, or a folder that it was unpacked to. docs/guides/import.md lists all that are read."
)

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG photo"),
    (b"GIF8", "a GIF picture"),
    (b"BM", "a BMP picture"),
    (b"II*\x00", "a TIFF picture"),
    (b"MM\x00*", "a TIFF picture"),
    (b"%PDF", "a PDF document"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"ID3", "an MP3 recording"),
    (b"OggS", "an Ogg recording"),
    (b"RIFF", "a picture or a recording"),
    (b"\xff\xfe", "text in UTF-16"),
    (b"\xfe\xff", "text in UTF-16"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a Windows program"),
    (b"{\\rtf", "a rich-text document"),
)


def looks_like(head: bytes) -> str:
    """What the first bytes of a file tell: "a PNG picture", "a web page", "plain text"."""
    if not head:
        return "an empty file"
    for magic, words in _MAGIC:
        if head.startswith(magic):
            return words
    if head[4:8] == b"ftyp":
        return "an iPhone photo or a video"
    if head[257:262] == b"ustar":
        return "a tar archive"
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:200].lower()
    if start.startswith((b"<!doctype html", b"<html")):
        return "a web page"
    if start.startswith(b"<"):
        return "an XML file"
    if b"\x00" in head[:1000]:
        return "a binary file"
    return "plain text without the turns of a chat, such as “## User” and “## Assistant”"


@dataclass(frozen=True, slots=True)
class Shape:
    """A known structure that is not a conversation we import.

    `label` completes "It looks like …"; `hint` is what to do when nothing else was chosen.
    """

    label: str
    hint: str = CHOOSE


CHATGPT_MANIFEST = Shape(
    "ChatGPT's list of the files in its export, not the chats",
    "Choose the whole zip, or the conversations-….json files that the list names.",
)
CLAUDE_MANIFEST = Shape(
    "Claude's list of download links, not the chats",
    "Open it in the e-mail or page it came from, download every conversations-….zip that it "
    "lists, and choose those. The links expire: if they did, request the export again.",
)
ASSET_NAMES = Shape("ChatGPT's list of attachment names, not the chats")

OWN_MANIFEST = Shape(
    "the list of what an archive of Backread holds, not the archive",
    "Choose the whole zip, or the captures.ndjson and memories.ndjson out of it.",
)
CODEX_TITLES = Shape("Codex's list of its sessions, not the sessions")


def shape_of(value: Any) -> Shape | None:
    """The known structure that `value` (one object, or one element of a list) has, if any."""
    if not isinstance(value, dict):
        return None
    for test, shape in _SHAPES:
        if test(value):
            return shape
    return None


_Test = Callable[[Mapping[str, Any]], bool]


def _has(*keys: str) -> _Test:
    return lambda value: all(key in value for key in keys)


def _is_claude_manifest(value: Mapping[str, Any]) -> bool:
    return any("export_url" in entry for entry in dicts_in(value.get("data_files")))


def _is_asset_names(value: Mapping[str, Any]) -> bool:
    return bool(value) and all(
        isinstance(name, str) and key.startswith(("file-", "file_")) for key, name in value.items()
    )


def _is_takeout(value: Mapping[str, Any]) -> bool:
    return "header" in value and "title" in value and ("time" in value or "products" in value)


_SHAPES: tuple[tuple[_Test, Shape], ...] = (
    (_is_claude_manifest, CLAUDE_MANIFEST),
    (_has("export_files", "logical_files"), CHATGPT_MANIFEST),
    (_is_asset_names, ASSET_NAMES),
    (_has("backread_archive", "counts"), OWN_MANIFEST),
    (_has("id", "thread_name"), CODEX_TITLES),
    (
        _has("sessionId", "messageId", "message"),
        Shape("Gemini CLI's log of prompts, not its sessions"),
    ),
    (
        _is_takeout,
        Shape("Google's record of other activity than chats with Gemini"),
    ),
    (_has("uuid", "full_name"), Shape("Claude's account data, not the chats")),
    (_has("uuid", "email_address"), Shape("Claude's account data, not the chats")),
    (_has("id", "email"), Shape("ChatGPT's account data, not the chats")),
    (_has("conversation_id", "rating"), Shape("ChatGPT's feedback data, not the chats")),
    (
        _has("conversation_id", "is_anonymous"),
        Shape("ChatGPT's list of shared links, not the chats"),
    ),
)
