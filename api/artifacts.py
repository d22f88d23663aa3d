"""The artifacts on one line of a conversation, and how they are called."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from api.web.lines import ConversationTree
from backread.artifacts import Artifact, Version, artifacts_of
from backread.domain import Principal
from backread.errors import NotFound
from backread.store.engine import ReadSession
from backread.store.repositories.browsing import messages_with_artifacts

_KINDS: Final = {
    "application/vnd.ant.react": ("React component", "jsx"),
    "application/vnd.ant.mermaid": ("Mermaid diagram", "mmd"),
    "application/vnd.ant.code": ("Code", ""),
    "text/html": ("HTML page", "html"),
    "image/svg+xml": ("SVG image", "svg"),
    "text/markdown": ("Document", "markdown"),
    "text/plain": ("Text", ""),
    "document": ("Document", "markdown"),
    "file": ("File", ""),
}
_ENDINGS: Final = {
    "python": "py",
    "javascript": "js",
    "typescript": "ts",
    "jsx": "jsx",
    "react": "jsx",
    "tsx": "tsx",
    "html": "html",
    "css": "css",
    "svg": "svg",
    "markdown": "md",
    "mermaid": "mmd",
    "mmd": "mmd",
    "json": "json",
    "yaml": "yaml",
    "bash": "sh",
    "shell": "sh",
    "sql": "sql",
    "rust": "rs",
    "go": "go",
    "java": "java",
    "kotlin": "kt",
    "swift": "swift",
    "c": "c",
    "cpp": "cpp",
    "csharp": "cs",
    "ruby": "rb",
    "php": "php",
    "latex": "tex",
}
_LANGUAGE_OF: Final = {ending: language for language, ending in _ENDINGS.items()}
_UNSAFE: Final = re.compile(r"[^\w .()-]+")
_NAME_CHARS: Final = 80


@dataclass(frozen=True, slots=True)
class Made:
    """A version, and which message made it."""

    artifact: Artifact
    version: Version


def artifacts_on_line(
    session: ReadSession, principal: Principal, conversation_id: str, line: Sequence[str]
) -> list[Artifact]:
    """What the messages of the line made, in the order in which they were first made."""
    found = {
        each.id: each
        for each in messages_with_artifacts(session, principal.account_id, conversation_id)
    }
    return artifacts_of(found[item] for item in line if item in found)


def artifact_on_line(
    session: ReadSession,
    principal: Principal,
    tree: ConversationTree,
    conversation_id: str,
    *,
    at: str,
    number: int,
    version: int,
) -> Made:
    """One version; 0 is the latest. Raises NotFound for one that does not exist."""
    line = tree.line(at or None)
    artifacts = artifacts_on_line(session, principal, conversation_id, line)
    if not 1 <= number <= len(artifacts):
        raise NotFound("There is no such artifact in this conversation.")
    artifact = artifacts[number - 1]
    if version > len(artifact.versions):
        raise NotFound("There is no such version of this artifact.")
    return Made(artifact, artifact.versions[version - 1] if version else artifact.latest)


def made_by(artifacts: Sequence[Artifact]) -> dict[str, list[Made]]:
    """The versions by the message that made them."""
    made: dict[str, list[Made]] = {}
    for artifact in artifacts:
        for version in artifact.versions:
            made.setdefault(version.message_id, []).append(Made(artifact, version))
    return made


def kind_of(artifact: Artifact) -> str:
    """ "React component", "Code, python"; the platform's own word for one that is not known."""
    known = _KINDS.get(artifact.type)
    if known is not None:
        word = known[0]
    else:
        word = "Code" if artifact.type.startswith("code/") else artifact.type or "Artifact"
    language = artifact.language
    return f"{word}, {language}" if language and word == "Code" else word


def language_of(artifact: Artifact) -> str:
    """The language to colour it in, or ""."""
    if artifact.language:
        return artifact.language.lower()
    if artifact.type in _KINDS and _KINDS[artifact.type][1]:
        return _KINDS[artifact.type][1]
    ending = artifact.title.rpartition(".")[2].lower() if "." in artifact.title else ""
    return _LANGUAGE_OF.get(ending, ending)


def is_prose(artifact: Artifact) -> bool:
    """Whether it is read rather than run."""
    return language_of(artifact) in ("markdown", "md")


def file_name(artifact: Artifact) -> str:
    """A name that every system can save it under."""
    name = _UNSAFE.sub(" ", artifact.title).strip(" .")[:_NAME_CHARS].strip() or "artifact"
    ending = _ENDINGS.get(language_of(artifact), "txt")
    has_ending = re.fullmatch(r".*\.[A-Za-z0-9]{1,8}", name) is not None
    return name if has_ending else f"{name}.{ending}"
