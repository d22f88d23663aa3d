"""Which files an agent read and changed, and which programs it ran, out of its tool calls.

Agents name their tools and parameters differently; what they have in common is told here by the
tool's name and by the names of its parameters, so a tool of tomorrow is most often understood.
"""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote


class Use(StrEnum):
    READ = "read"
    WRITE = "write"


@dataclass(frozen=True, slots=True)
class FileUse:
    """`path` is relative to the session's folder where it lies in it."""

    path: str
    use: Use


_PATH_KEYS = (
    "file_path",
    "filePath",
    "path",
    "target_file",
    "absolute_path",
    "relative_workspace_path",
    "notebook_path",
    "filename",
    "uri",
)
_COMMAND_KEYS = ("command", "cmd", "script")
_WRITES = re.compile(
    r"write|edit|create|replace|patch|insert|delete|rename|update_file|new_file|applycode", re.I
)
_READS = re.compile(r"read|view|open|get_?file|fetch_?file|cat\b", re.I)
_SHELLS = re.compile(r"bash|shell|exec|terminal|run_command|command", re.I)
# What only looks around: a folder or a pattern is no file.
_LOOKS = re.compile(r"glob|grep|search|list|find|^ls$|todo|web|task|plan", re.I)
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete|Move to)(?: File)?: (.+?)\s*$", re.MULTILINE)
_READING_PROGRAMS = frozenset({"cat", "sed", "head", "tail", "less", "bat", "nl", "more"})
_WRAPPERS = frozenset({"sudo", "env", "time", "nice", "npx", "uvx", "bunx", "timeout", "exec"})
_TWO_WORDS = frozenset(
    """git npm pnpm yarn bun cargo go docker kubectl make just uv pip poetry terraform gh brew apt
    apt-get systemctl bundle rails mix dotnet gradle mvn python python3 node""".split()  # noqa: SIM905
)
_FILE_LIKE = re.compile(r"[\w@.+~-]+(?:/[\w@.+~-]+)*\.[A-Za-z]\w{0,9}|(?:[\w@.+~-]+/)+[\w@.+~-]+")
_IMPORT = re.compile(
    r"^[+ \t]*(?:from\s+([A-Za-z_][\w.]*)\s+import\b|import\s+([A-Za-z_][\w.]*)\s*(?:as\s+\w+)?$)"
    r"|\bfrom\s+['\"]([@\w][\w./@-]*)['\"]|\brequire\(\s*['\"]([@\w][\w./@-]*)['\"]\s*\)"
    r"|^[+ \t]*use\s+([a-z_]\w*)::",
    re.MULTILINE,
)
# How editors name the file in the sentence that stands for a call: `Read [](file:///src/a.ts#1-9)`.
_FILE_LINK = re.compile(r"\]\(file://([^)#\s]{1,400})")
_JOINED = re.compile(r"&&|\|\||[;|\n]")
_MOST_CHARACTERS = 200_000


def file_uses(name: str, text: str, folder: str) -> Iterator[FileUse]:
    """The files of one tool call. `text` is what it was given, JSON most often."""
    text = text[:_MOST_CHARACTERS]
    given = _given(text)
    patched = _PATCHED.findall(_patch_in(given, text))
    for path in patched:
        yield from _file(path, Use.WRITE, folder)
    if patched or not name or _LOOKS.search(name):
        return
    command = command_of(name, text)
    if command:
        for path in _read_by(command):
            yield from _file(path, Use.READ, folder)
        return
    use = Use.WRITE if _WRITES.search(name) else Use.READ if _READS.search(name) else None
    if use is None:
        return
    for key in _PATH_KEYS:
        path = given.get(key)
        if isinstance(path, str):
            yield from _file(path, use, folder)
            return
    if not given:
        for path in dict.fromkeys(_FILE_LINK.findall(text)):
            yield from _file(unquote(path), use, folder)


def edited_file(path: str, folder: str) -> Iterator[FileUse]:
    """The file of an edit that an editor notes by itself rather than as a tool call."""
    yield from _file(path, Use.WRITE, folder)


def command_of(name: str, text: str) -> str:
    """The command line of a tool that runs one; "" of any other."""
    if not _SHELLS.search(name) or _WRITES.search(name):
        return ""
    given = _given(text[:_MOST_CHARACTERS])
    for key in _COMMAND_KEYS:
        value = given.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            is_wrapped = len(value) == 3 and value[1] in ("-c", "-lc")
            return value[2] if is_wrapped else shlex.join(value)
    return ""


def imports_in(name: str, text: str) -> Iterator[str]:
    """What the code that a call writes imports, by the names of modules or packages."""
    if not _WRITES.search(name):
        return
    given = _given(text[:_MOST_CHARACTERS])
    for key in ("content", "new_string", "code_edit", "patch", "contents"):
        code = given.get(key)
        if isinstance(code, str):
            for found in _IMPORT.finditer(code):
                yield next(each for each in found.groups() if each)


def programs_in(command: str) -> Iterator[str]:
    """What a command line runs, as a person would name it: `npm test`, `pytest`, `git commit`."""
    for part in _JOINED.split(command[:4000]):
        words = [word for word in _words(part) if not re.match(r"\w+=", word)]
        while words and words[0] in _WRAPPERS:
            words = [word for word in words[1:] if not word.startswith("-")]
        if not words or words[0] in ("cd", "echo", "printf", "true", "export", "set", "source"):
            continue
        program = PurePosixPath(words[0]).name
        if not re.fullmatch(r"[a-z][\w.+-]{1,30}", program):
            continue
        verb = next((word for word in words[1:] if not word.startswith("-")), "")
        if words[1:2] == ["-m"]:
            verb = f"-m {words[2]}" if len(words) > 2 else ""
        is_plain = re.fullmatch(r"(?:-m )?[a-z][\w:.-]{0,30}", verb)
        yield f"{program} {verb}" if program in _TWO_WORDS and is_plain else program


def _given(text: str) -> Mapping[str, Any]:
    if not text.lstrip().startswith("{"):
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # not JSON, or nested deeper than anything real
        return {}
    return value if isinstance(value, dict) else {}


def _patch_in(given: Mapping[str, Any], text: str) -> str:
    """The patch that a call holds, wherever it stands in it."""
    parts = []
    for value in given.values():
        if isinstance(value, list):
            value = "\n".join(each for each in value if isinstance(each, str))
        if isinstance(value, str) and "*** " in value:
            parts.append(value)
    return "\n".join(parts) if given else text


def _read_by(command: str) -> Iterator[str]:
    for part in _JOINED.split(command[:4000]):
        words = _words(part)
        if words and PurePosixPath(words[0]).name in _READING_PROGRAMS:
            for word in words[1:]:
                if not word.startswith("-") and _FILE_LIKE.fullmatch(word.lstrip("./")):
                    yield word


def _words(part: str) -> list[str]:
    try:
        return shlex.split(part)
    except ValueError:  # an open quotation mark
        return part.split()


def _file(path: str, use: Use, folder: str) -> Iterator[FileUse]:
    plain = path.strip().removeprefix("file://").replace("\\", "/")
    if not plain or len(plain) > 300 or plain.endswith("/") or "\n" in plain:
        return
    home = folder.replace("\\", "/").rstrip("/")
    if home and plain.startswith(f"{home}/"):
        plain = plain[len(home) + 1 :]
    yield FileUse(plain.removeprefix("./"), use)
