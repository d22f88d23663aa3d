"""One message of a ChatGPT conversation: what it says, to whom, and what hangs on it."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from backread.domain import Aside, Attachment, MessageKind, ParsedMessage, Role
from ingest.importers.base import Raw, dict_in, dicts_in, list_in, size_in, text_in, time_in
from ingest.importers.chatgpt_canvas import canvas_step, is_canvas_call
from ingest.importers.chatgpt_marks import citations_in, without_marks
from ingest.importers.claude_blocks import unknown
from ingest.normalise import clean

_ROLES = {role.value: role for role in Role}
_REASONING = {"thoughts", "reasoning_recap"}
_CONTEXT = {"user_editable_context", "model_editable_context"}
_SILENT = {"computer_initialize_state"}
_APPS = "app_pairing"  # begins the names of what an app on the person's screen told
_MOST_RESULTS = 200
_FENCES = re.compile(r"`{3,}")
_AUDIO = {"audio_asset_pointer", "real_time_user_audio_video_asset_pointer"}
_MACHINE = {
    "execution_output",
    "tether_quote",
    "tether_browsing_display",
    "tether_browsing_code",
    "sonic_webpage",
    "computer_output",
    "system_error",
}


@dataclass(slots=True)
class _Content:
    """A message's content as it is read part by part."""

    text: str = ""
    is_spoken: bool = True  # False: a shape we do not know, whose text may not be dialogue
    attachments: dict[str, Attachment] = field(default_factory=dict)
    asides: list[Aside] = field(default_factory=list)


def parse_message(
    node_id: str,
    parent_id: str | None,
    message: Raw,
    asset_names: Raw,
    news: Counter[str],
) -> ParsedMessage:
    """The message of one node of the tree. Shapes it does not know are counted in `news`."""
    author = dict_in(message.get("author"))
    metadata = dict_in(message.get("metadata"))
    role = _role(author, news)
    content = _read_content(message, metadata, asset_names, news)
    if role is Role.ASSISTANT and is_canvas_call(message):
        _take_canvas(message, content)
    content.text = without_marks(content.text, metadata).strip("\n")
    return ParsedMessage(
        external_id=node_id,
        parent_external_id=parent_id,
        role=role,
        kind=_kind(role, message, metadata, content),
        text=content.text,
        created_at=time_in(message.get("create_time")),
        author=text_in(author.get("name")) if role is Role.TOOL else "",
        model=text_in(metadata.get("model_slug")),
        attachments=tuple(content.attachments.values()),
        asides=tuple(content.asides),
        citations=tuple(citations_in(metadata)) if metadata else (),
    )


def _role(author: Raw, news: Counter[str]) -> Role:
    name = author.get("role")
    role = _ROLES.get(name) if isinstance(name, str) else None
    if role is None:
        news[f"role:{name}"] += 1
        return Role.SYSTEM
    return role


def _kind(role: Role, message: Raw, metadata: Raw, content: _Content) -> MessageKind:
    shape = content_type(message)
    if shape in _REASONING or message.get("channel") == "analysis":
        return MessageKind.REASONING
    is_context = shape in _CONTEXT or shape.startswith(_APPS)
    if is_context or metadata.get("is_user_system_message") is True:
        return MessageKind.HIDDEN
    if role is Role.SYSTEM:
        return MessageKind.SYSTEM
    # Only an assistant addresses tools; whatever a person wrote stays dialogue.
    addressed = message.get("recipient") or "all"
    if role is Role.TOOL or shape in _MACHINE or (role is Role.ASSISTANT and addressed != "all"):
        return MessageKind.TOOL
    if metadata.get("is_visually_hidden_from_conversation") is True or message.get("weight") == 0:
        return MessageKind.HIDDEN
    if not content.is_spoken or not (content.text or content.attachments):
        return MessageKind.HIDDEN
    return MessageKind.DIALOGUE


def _take_canvas(message: Raw, content: _Content) -> None:
    """A call that writes into the canvas is kept as what it does there."""
    holder = dict_in(message.get("content"))
    said = text_in(holder.get("text")) or "".join(text_in(p) for p in list_in(holder.get("parts")))
    step = canvas_step(message, said)
    if step is not None:
        content.asides.append(step)
        content.text = ""


def content_type(message: Raw) -> str:
    shape = dict_in(message.get("content")).get("content_type")
    return shape if isinstance(shape, str) else ""


def _read_content(message: Raw, metadata: Raw, asset_names: Raw, news: Counter[str]) -> _Content:
    result = _Content()
    _named_attachments(metadata, result, asset_names)
    if "aggregate_result" in metadata:
        _run_results(metadata, result, asset_names)
    if "search_result_groups" in metadata:
        _search_results(metadata, result)
    raw = message.get("content")
    if isinstance(raw, str):
        result.text = clean(raw, keep_marks=True)
        return result
    content = dict_in(raw)
    shape = content_type(message)
    if shape in {"", "text", "multimodal_text"}:
        result.text = _parts(content, result, asset_names, news)
    elif shape in _READERS:
        result.text = _READERS[shape](content) or _parts(content, result, asset_names, news)
    elif shape == "computer_output":
        _add_asset(dict_in(content.get("screenshot")), "screenshot", result, asset_names)
        result.text = _quote(dict_in(content.get("state")))
    elif shape.startswith(_APPS):
        result.text = _parts({"parts": content.get("context_parts")}, result, asset_names, news)
    elif shape not in _SILENT:
        news[f"content_type:{shape}"] += 1
        result.text = _parts(content, result, asset_names, news)
        if not result.text:
            result.is_spoken = False
            result.text = text_in(content.get("text")) or text_in(content.get("content"))
    return result


def _parts(content: Raw, result: _Content, asset_names: Raw, news: Counter[str]) -> str:
    texts: list[str] = []
    for part in list_in(content.get("parts")):
        if isinstance(part, str):
            texts.append(clean(part, keep_marks=True))
        elif isinstance(part, dict):
            texts.append(_object_part(part, result, asset_names, news))
        elif part is not None:
            news[f"part:{type(part).__name__}"] += 1
    return "\n\n".join(text for text in texts if text)


def _object_part(
    part: dict[str, Any], result: _Content, asset_names: Raw, news: Counter[str]
) -> str:
    shape = part.get("content_type")
    if shape == "audio_transcription":
        return text_in(part.get("text"))
    if shape == "image_asset_pointer":
        _add_asset(part, "image", result, asset_names)
        prompt = text_in(dict_in(dict_in(part.get("metadata")).get("dalle")).get("prompt"))
        if prompt:
            result.asides.append(Aside("artifact", prompt, name="image prompt"))
        return ""
    if isinstance(shape, str) and shape in _AUDIO:
        inner = dict_in(part.get("audio_asset_pointer"))
        _add_asset(inner or part, "audio", result, asset_names)
        _add_asset(
            {"asset_pointer": part.get("video_container_asset_pointer")},
            "video",
            result,
            asset_names,
        )
        return ""
    news[f"part:{shape if isinstance(shape, str) else 'object'}"] += 1
    result.asides.append(unknown(part, shape if isinstance(shape, str) else ""))
    return ""


def _named_attachments(metadata: Raw, result: _Content, asset_names: Raw) -> None:
    for item in dicts_in(metadata.get("attachments")):
        external_id = text_in(item.get("id"))
        name = text_in(item.get("name")) or text_in(asset_names.get(external_id))
        if external_id or name:
            result.attachments[external_id or name] = Attachment(
                name=name or external_id,
                external_id=external_id,
                mime_type=text_in(item.get("mime_type")) or text_in(item.get("mimeType")),
                size_bytes=size_in(item.get("size")),
            )


def _run_results(metadata: Raw, result: _Content, asset_names: Raw) -> None:
    """What code that was run printed and drew: the message itself has only its last value."""
    lines: list[str] = []
    for item in dicts_in(dict_in(metadata.get("aggregate_result")).get("messages")):
        if item.get("message_type") == "image":
            _add_asset({"asset_pointer": item.get("image_url")}, "image", result, asset_names)
        elif text_in(item.get("text")):
            lines.append(text_in(item.get("text")))
    if lines:
        result.asides.append(Aside("tool_result", "".join(lines), "output"))


def _search_results(metadata: Raw, result: _Content) -> None:
    """What a search found, cited or not."""
    lines = [
        "\n".join(t for t in (text_in(entry.get("title")), text_in(entry.get("url"))) if t)
        for group in dicts_in(metadata.get("search_result_groups"))
        for entry in dicts_in(group.get("entries"))
    ]
    text = "\n\n".join(line for line in lines[:_MOST_RESULTS] if line)
    if text:
        result.asides.append(Aside("tool_result", text, "search results"))


def asset_id(pointer: Any) -> str:
    """`file-service://file-abc` and `sediment://file_abc` without their scheme."""
    return text_in(pointer).split("://", 1)[-1].split("#", 1)[0].split("?", 1)[0]


def _add_asset(part: Raw, fallback: str, result: _Content, asset_names: Raw) -> None:
    external_id = asset_id(part.get("asset_pointer"))
    if not external_id or external_id in result.attachments:
        return
    form = text_in(part.get("format"))
    result.attachments[external_id] = Attachment(
        name=text_in(asset_names.get(external_id)) or (f"{fallback}.{form}" if form else fallback),
        external_id=external_id,
        mime_type=f"{fallback}/{form}" if form else "",
        size_bytes=size_in(part.get("size_bytes")),
    )


def fenced(code: str, language: str) -> str:
    """Code as a Markdown block whose fence is longer than any inside it."""
    fence = "`" * (max(map(len, _FENCES.findall(code)), default=2) + 1)
    return f"{fence}{'' if language == 'unknown' else language}\n{code}\n{fence}"


def _code(content: Raw) -> str:
    code = text_in(content.get("text"))
    return fenced(code, text_in(content.get("language"))) if code.strip() else ""


def _quote(content: Raw) -> str:
    named = [text_in(content.get("title")), text_in(content.get("url"))]
    return "\n".join(line for line in [*named, text_in(content.get("text"))] if line)


def _error(content: Raw) -> str:
    found = [text_in(content.get("name")), text_in(content.get("text"))]
    return ": ".join(each for each in found if each)


def _user_context(content: Raw) -> str:
    found = [text_in(content.get("user_profile")), text_in(content.get("user_instructions"))]
    return "\n\n".join(each for each in found if each)


def _thoughts(content: Raw) -> str:
    lines: list[str] = []
    for thought in dicts_in(content.get("thoughts")):
        lines += [text_in(thought.get("summary")), text_in(thought.get("content"))]
    return "\n\n".join(line for line in lines if line)


_READERS: dict[str, Callable[[Raw], str]] = {
    "code": _code,
    "execution_output": lambda content: text_in(content.get("text")),
    "tether_quote": _quote,
    "tether_browsing_display": lambda content: (
        text_in(content.get("result")) or text_in(content.get("summary"))
    ),
    "tether_browsing_code": lambda content: text_in(content.get("text")),
    "system_error": _error,
    "user_editable_context": _user_context,
    "model_editable_context": lambda content: text_in(content.get("model_set_context")),
    "thoughts": _thoughts,
    "reasoning_recap": lambda content: text_in(content.get("content")),
    "sonic_webpage": _quote,
}
