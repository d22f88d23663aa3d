"""The content blocks of a Claude message: which are its words, and which stand beside them."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import orjson

from backread.domain import Aside, Attachment, Citation
from ingest.importers.base import Raw, dict_in, dicts_in, list_in, size_in, text_in
from ingest.importers.claude_artifacts import artifact_of_call
from ingest.normalise import clean

# What Claude writes into `text` where a block cannot be shown; nobody said it.
PLACEHOLDERS = (
    "This block is not supported on your current device yet.",
    "Viewing artifacts created via the Analysis Tool web feature preview isn't yet supported "
    "on mobile.",
)
_SILENT = {"token_budget", "summaries", "flag"}
_UNKNOWN_CHARS = 2_000


@dataclass(slots=True)
class Blocks:
    """What the blocks of one message come to."""

    texts: list[str] = field(default_factory=list)
    asides: list[Aside] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)
    citations: dict[str, Citation] = field(default_factory=dict)
    news: Counter[str] = field(default_factory=Counter)


def read_blocks(content: Any, news: Counter[str]) -> Blocks:
    """Reads `content`: a list of blocks, a JSON string that holds one, plain text, or nothing.
    Block types it does not know are counted in `news`; their text, if any, stands aside."""
    result = Blocks(news=news)
    if isinstance(content, str):
        content = _decoded(content)
        if isinstance(content, str):
            result.texts.append(text_in(content))
            return result
    for block in list_in(content):
        if isinstance(block, str):
            result.texts.append(text_in(block))
        elif isinstance(block, dict):
            _read_block(block, result, news)
        elif block is not None:
            news[f"block:{type(block).__name__}"] += 1
    return result


def _decoded(content: str) -> Any:
    """The list inside a JSON string, or the string itself when it is just text."""
    if not content.lstrip().startswith(("[", "{")):
        return content
    try:
        decoded = orjson.loads(content)
    except orjson.JSONDecodeError:
        return content
    if isinstance(decoded, dict):
        decoded = [decoded]
    is_blocks = isinstance(decoded, list) and all(
        isinstance(block, dict) and "type" in block for block in decoded
    )
    return decoded if is_blocks else content


def _read_block(block: dict[str, Any], result: Blocks, news: Counter[str]) -> None:
    kind = block.get("type")
    if not isinstance(kind, str):
        kind = "none"
    reader = _READERS.get(kind)
    if reader is not None:
        reader(block, result)
    elif kind not in _SILENT:
        news[f"block:{kind}"] += 1
        result.asides.append(unknown(block, kind))


def _text(block: Raw, result: Blocks) -> None:
    text = text_in(block.get("text"))
    if text.strip() and without_placeholders(text).strip():
        result.texts.append(without_placeholders(text))
    for citation in dicts_in(block.get("citations")):
        details = dict_in(citation.get("details"))
        url = text_in(details.get("url")) or text_in(citation.get("url"))
        if url.startswith(("http://", "https://")):
            title = text_in(citation.get("title")) or text_in(details.get("title"))
            result.citations.setdefault(url, Citation(url, title))


def _thinking(block: Raw, result: Blocks) -> None:
    text = text_in(block.get("thinking")) or text_in(block.get("text"))
    if not text:
        found = [text_in(each.get("summary")) for each in dicts_in(block.get("summaries"))]
        text = "\n".join(each for each in found if each)
    if text:
        result.asides.append(Aside("reasoning", text))


def _tool_use(block: Raw, result: Blocks) -> None:
    name = text_in(block.get("name"))
    given = dict_in(block.get("input"))
    artifact = artifact_of_call(name, given)
    if artifact is not None:
        result.asides.append(artifact)
        return
    message = text_in(block.get("message"))
    shown = as_json(given) if given else ""
    text = "\n".join(part for part in (message, shown) if part)
    result.asides.append(Aside("tool_call", text, name))


def unknown(block: dict[str, Any], kind: str) -> Aside:
    """A block of a kind that is not known, as it came: its text, or the beginning of all of it."""
    text = text_in(block.get("text")) or text_in(block.get("content"))
    if not text:
        rest = {key: value for key, value in block.items() if key not in ("type", "content_type")}
        text = as_json(rest)[:_UNKNOWN_CHARS] if rest else ""
    return Aside("unknown", text, name=kind)


def as_json(value: dict[str, Any]) -> str:
    """For people to read. Takes what parsers let through and JSON does not: lone surrogates."""
    return clean(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def _tool_result(block: Raw, result: Blocks) -> None:
    content = block.get("content")
    texts = [text_in(content)] if isinstance(content, str) else []
    for part in dicts_in(content):
        kind = part.get("type")
        if kind == "image":
            result.attachments.append(Attachment("image", text_in(part.get("file_uuid"))))
        elif kind == "local_resource":
            name = text_in(part.get("name")) or text_in(part.get("file_path")) or "file"
            mime_type = text_in(part.get("mime_type"))
            result.attachments.append(Attachment(name, text_in(part.get("uuid")), mime_type))
        else:
            if kind not in ("text", "knowledge"):
                result.news[f"tool_result:{kind}"] += 1
            head = [text_in(part.get("title")), text_in(part.get("url"))]
            texts.append("\n".join(t for t in [*head, text_in(part.get("text"))] if t))
    text = "\n\n".join(t for t in texts if t)
    structured = block.get("structured_content")
    if not text and isinstance(structured, dict) and structured:
        text = as_json(structured)
    if text:
        result.asides.append(Aside("tool_result", text, text_in(block.get("name"))))


def _injected(block: Raw, result: Blocks) -> None:
    text = text_in(block.get("prompt")) or text_in(block.get("text"))
    if text:
        result.asides.append(Aside("injected", text, text_in(block.get("injection_source"))))


def _document(block: Raw, result: Blocks) -> None:
    source = dict_in(block.get("source"))
    name = text_in(block.get("title")) or text_in(block.get("file_name")) or "document"
    mime_type = text_in(source.get("media_type"))
    result.attachments.append(Attachment(name, text_in(block.get("file_uuid")), mime_type))


def _image(block: Raw, result: Blocks) -> None:
    source = dict_in(block.get("source"))
    name = text_in(block.get("file_name")) or "image"
    mime_type = text_in(source.get("media_type"))
    result.attachments.append(Attachment(name, text_in(block.get("file_uuid")), mime_type))


def _voice_note(block: Raw, result: Blocks) -> None:
    text = text_in(block.get("text")) or text_in(block.get("transcript"))
    if text.strip():
        result.texts.append(text)


_READERS: dict[str, Callable[[Raw, Blocks], None]] = {
    "text": _text,
    "thinking": _thinking,
    "tool_use": _tool_use,
    "tool_result": _tool_result,
    "injected_prompt_block": _injected,
    "document": _document,
    "image": _image,
    "voice_note": _voice_note,
}


def without_placeholders(text: str) -> str:
    """The text without Claude's notes that a block could not be shown, fences included."""
    for placeholder in PLACEHOLDERS:
        if placeholder in text:
            for wrapped in (f"```\n{placeholder}\n```", placeholder):
                text = text.replace(wrapped, "")
    return text


def attachments_in(message: Raw, found: list[Attachment]) -> tuple[Attachment, ...]:
    """Every file of a message once. `files` repeats `attachments` under the same name."""
    by_name: dict[str, Attachment] = {}
    for item in dicts_in(message.get("attachments")):
        name = text_in(item.get("file_name")) or "attachment"
        by_name[_free(name, by_name)] = Attachment(
            name=name,
            external_id=text_in(item.get("id")),
            mime_type=text_in(item.get("file_type")),
            size_bytes=size_in(item.get("file_size")),
            text=text_in(item.get("extracted_content")),
        )
    known = set(by_name)
    for item in dicts_in(message.get("files")) + dicts_in(message.get("files_v2")):
        name = text_in(item.get("file_name")) or "file"
        external_id = text_in(item.get("file_uuid")) or text_in(item.get("uuid"))
        if name in known:
            old = by_name[name]
            by_name[name] = Attachment(
                old.name, old.external_id or external_id, old.mime_type, old.size_bytes, old.text
            )
        elif not any(a.external_id == external_id != "" for a in by_name.values()):
            by_name[_free(name, by_name)] = Attachment(name, external_id)
    ids = {attachment.external_id for attachment in by_name.values()}
    fresh = [each for each in found if each.name not in by_name]
    fresh = [each for each in fresh if not each.external_id or each.external_id not in ids]
    return (*by_name.values(), *fresh)


def _free(name: str, taken: dict[str, Attachment]) -> str:
    key, count = name, 2
    while key in taken:
        key, count = f"{name} ({count})", count + 1
    return key
