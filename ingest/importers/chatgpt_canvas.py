"""ChatGPT's canvas: messages to the tool `canmore`, whose words are JSON.

A message that creates a document does not know the id that the document will get; the tool's
reply does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from backread.domain import ArtifactCommand, ArtifactPatch, ArtifactStep, Aside, ParsedMessage
from ingest.importers.base import Raw, dict_in, dicts_in, text_in

_PREFIX = "canmore."
_WHOLE = {".*", "^.*$", "(?s).*", "(?s)^.*$", r"[\s\S]*", r"^[\s\S]*$"}


def is_canvas_call(message: Raw) -> bool:
    return text_in(message.get("recipient")).startswith(_PREFIX)


def canvas_step(message: Raw, said: str) -> Aside | None:
    """What the message does to a document; None when its words are no sound call. `said` are the
    words without anything around them."""
    command = text_in(message.get("recipient")).removeprefix(_PREFIX)
    try:
        given = orjson.loads(said)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(given, dict):
        return None
    if command == "create_textdoc" and isinstance(given.get("content"), str):
        return _created(given)
    if command == "update_textdoc" and dicts_in(given.get("updates")):
        return _updated(dicts_in(given.get("updates")))
    if command == "comment_textdoc" and dicts_in(given.get("comments")):
        return _commented(dicts_in(given.get("comments")))
    return None


def _created(given: Raw) -> Aside:
    title = text_in(given.get("name")) or text_in(given.get("title"))
    kind = text_in(given.get("type"))
    step = ArtifactStep("", ArtifactCommand.CREATE, title, kind, _language(kind))
    return Aside("artifact", text_in(given.get("content")), title, step)


def _language(kind: str) -> str:
    return kind.partition("/")[2] if kind.startswith("code/") else ""


def _updated(updates: Sequence[Raw]) -> Aside:
    patches = [
        ArtifactPatch(
            text_in(each.get("pattern")),
            text_in(each.get("replacement")),
            is_pattern=True,
            is_everywhere=each.get("multiple") is True,
        )
        for each in updates
    ]
    if len(patches) == 1 and patches[0].old in _WHOLE:
        step = ArtifactStep("", ArtifactCommand.REWRITE)
        return Aside("artifact", patches[0].new, "", step)
    step = ArtifactStep("", ArtifactCommand.UPDATE, patches=tuple(patches))
    texts = [f"Replaced:\n{patch.old}\n\nBy:\n{patch.new}" for patch in patches]
    return Aside("artifact", "\n\n".join(texts), "", step)


def _commented(comments: Sequence[Raw]) -> Aside:
    patches = [
        ArtifactPatch(text_in(each.get("pattern")), text_in(each.get("comment")), is_pattern=True)
        for each in comments
    ]
    step = ArtifactStep("", ArtifactCommand.COMMENT, patches=tuple(patches))
    return Aside("artifact", "\n\n".join(f"{p.old}\n→ {p.new}" for p in patches), "", step)


def with_canvas_ids(
    messages: dict[str, ParsedMessage], mapping: Mapping[str, Any]
) -> dict[str, ParsedMessage]:
    """The messages, their steps with the ids and titles that the tool's replies give them."""
    if not any(_steps(message) for message in messages.values()):
        return messages
    for node_id, message in messages.items():
        calls = message.parent_external_id
        above = messages.get(calls) if calls is not None else None
        canvas = _canvas_of(mapping, node_id)
        if calls is not None and above is not None and canvas and _steps(above):
            messages[calls] = replace(above, asides=tuple(_told(a, canvas) for a in above.asides))
    return messages


def _steps(message: ParsedMessage) -> bool:
    return any(aside.artifact is not None for aside in message.asides)


def _canvas_of(mapping: Mapping[str, Any], node_id: str) -> dict[str, Any]:
    message = dict_in(dict_in(mapping.get(node_id)).get("message"))
    if dict_in(message.get("author")).get("role") != "tool":
        return {}
    canvas = dict_in(dict_in(message.get("metadata")).get("canvas"))
    return canvas if text_in(canvas.get("textdoc_id")) else {}


def _told(aside: Aside, canvas: Raw) -> Aside:
    step = aside.artifact
    if step is None or step.artifact_id:
        return aside
    title = step.title or text_in(canvas.get("title"))
    kind = step.type or text_in(canvas.get("textdoc_type"))
    known = replace(step, artifact_id=text_in(canvas.get("textdoc_id")), title=title, type=kind)
    if not known.language:
        known = replace(known, language=_language(kind))
    return replace(aside, name=aside.name or title, artifact=known)
