"""Claude's artifacts: calls of the tool `artifacts`, tags in older texts, files of newer chats."""

import re

from backread.domain import ArtifactCommand, ArtifactPatch, ArtifactStep, Aside
from ingest.importers.base import Raw, text_in

_TOOL = "artifacts"
_FILE_TOOLS = {
    "create_file",
    "str_replace",
    "str_replace_editor",
    "str_replace_based_edit_tool",
}
_COMMANDS = {"create", "update", "rewrite"}
_TAG = re.compile(
    r"<antArtifact\b([^<>]{0,2000})>(.*?)(?:</antArtifact>|\Z)", re.DOTALL | re.IGNORECASE
)
_EMPTY_TAG = re.compile(r"<antArtifact\b[^<>]{0,2000}/>", re.IGNORECASE)
_THOUGHT = re.compile(r"<antThinking>(.*?)(?:</antThinking>|\Z)", re.DOTALL | re.IGNORECASE)
_ATTRIBUTE = re.compile(r"([A-Za-z_-]{1,40})=\"([^\"]{0,1000})\"")


def artifact_of_call(name: str, given: Raw) -> Aside | None:
    """What a tool call does to an artifact or file, or None when it is another call."""
    if name == _TOOL:
        return _of_artifact(given)
    path = text_in(given.get("path"))
    if name not in _FILE_TOOLS or not path:
        return None
    title = path.rstrip("/").rsplit("/", 1)[-1]
    command = text_in(given.get("command")) or name
    if command in ("create", "create_file") and isinstance(given.get("file_text"), str):
        step = ArtifactStep(path, ArtifactCommand.CREATE, title, "file")
        return Aside("artifact", text_in(given.get("file_text")), title, step)
    if command == "str_replace" and isinstance(given.get("old_str"), str):
        return _update(path, title, "file", given)
    return None


def _of_artifact(given: Raw) -> Aside:
    """`create` and `rewrite` carry the whole text, `update` what was replaced by what."""
    artifact_id, title = text_in(given.get("id")), text_in(given.get("title"))
    kind, language = text_in(given.get("type")), text_in(given.get("language"))
    command = text_in(given.get("command"))
    is_update = "old_str" in given or "new_str" in given
    if command not in _COMMANDS:
        command = "update" if is_update and not given.get("content") else "create"
    if command == "update" and is_update:
        return _update(artifact_id, title, kind, given)
    step = ArtifactStep(
        artifact_id,
        ArtifactCommand.CREATE if command == "create" else ArtifactCommand.REWRITE,
        title,
        kind,
        language,
    )
    return Aside("artifact", text_in(given.get("content")), title or artifact_id, step)


def _update(artifact_id: str, title: str, kind: str, given: Raw) -> Aside:
    patch = ArtifactPatch(text_in(given.get("old_str")), text_in(given.get("new_str")))
    step = ArtifactStep(artifact_id, ArtifactCommand.UPDATE, title, kind, patches=(patch,))
    text = f"Replaced:\n{patch.old}\n\nBy:\n{patch.new}"
    return Aside("artifact", text, title or artifact_id, step)


def without_tags(text: str, asides: list[Aside]) -> str:
    """The text without what older chats wrote into it as tags; that goes to `asides`."""
    if "<ant" not in text and "<ANT" not in text:
        return text

    def take_thought(found: re.Match[str]) -> str:
        if found[1].strip():
            asides.append(Aside("reasoning", found[1].strip()))
        return ""

    def take_artifact(found: re.Match[str]) -> str:
        named = dict(_ATTRIBUTE.findall(found[1]))
        title, own_id = named.get("title", ""), named.get("identifier", "")
        step = ArtifactStep(
            own_id,
            ArtifactCommand.CREATE,
            title,
            named.get("type", ""),
            named.get("language", ""),
        )
        asides.append(Aside("artifact", found[2].strip("\n"), title or own_id, step))
        return ""

    text = _TAG.sub(take_artifact, _EMPTY_TAG.sub("", _THOUGHT.sub(take_thought, text)))
    return re.sub(r"\n{3,}", "\n\n", text)
