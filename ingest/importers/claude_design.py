"""Claude's design chats: `messages[].content{kind, content, contentBlocks[]}`."""

from collections import Counter
from typing import Any

from backread.domain import Aside, Attachment, MessageKind, ParsedMessage, Role
from ingest.importers.base import Raw, dict_in, dicts_in, list_in, text_in, time_in
from ingest.importers.claude_blocks import as_json

_ROLES = {"user": Role.USER, "human": Role.USER, "assistant": Role.ASSISTANT}
# What a person did on the canvas rather than said.
_RECORDS = {"question-record", "direct-edit"}


def is_design_chat(raw: Raw) -> bool:
    messages = dicts_in(raw.get("messages"))
    return "uuid" in raw and any(
        isinstance(message.get("content"), dict)
        and ("contentBlocks" in message["content"] or "kind" in message["content"])
        for message in messages
    )


def parse_design_message(
    message_id: str, parent_id: str | None, raw: Raw, news: Counter[str]
) -> ParsedMessage:
    """One message of a design chat; block types it does not know are counted in `news`."""
    content = dict_in(raw.get("content"))
    texts: list[str] = []
    asides: list[Aside] = []
    for block in dicts_in(content.get("contentBlocks")):
        _read_block(block, texts, asides, news)
    text = "\n\n".join(t for t in texts if t.strip()) or text_in(content.get("content"))
    name = raw.get("role") or content.get("role")
    role = _ROLES.get(name) if isinstance(name, str) else None
    if role is None:
        news[f"role:{name}"] += 1
    attachments = _attachments(content)
    is_said = role is not None and (text.strip() or attachments)
    kind = MessageKind.DIALOGUE if is_said else MessageKind.TOOL if asides else MessageKind.HIDDEN
    if content.get("kind") in _RECORDS:
        kind = MessageKind.HIDDEN
    return ParsedMessage(
        external_id=message_id,
        parent_external_id=parent_id,
        role=role or Role.SYSTEM,
        kind=kind,
        text=text.strip("\n"),
        created_at=time_in(raw.get("created_at")) or time_in(content.get("timestamp")),
        attachments=attachments,
        asides=tuple(asides),
    )


def _read_block(
    block: dict[str, Any], texts: list[str], asides: list[Aside], news: Counter[str]
) -> None:
    kind = block.get("type")
    text = text_in(block.get("text"))
    if kind in {"text", "user_interjection"}:
        texts.append(text or text_in(block.get("content")))
    elif kind == "thinking":
        if text:
            asides.append(Aside("reasoning", text))
    elif kind == "tool_call":
        call = dict_in(block.get("toolCall"))
        given = as_json(dict_in(call.get("input")))
        output = text_in(call.get("output"))
        shown = "\n".join(part for part in (given, output) if part)
        asides.append(Aside("tool_call", shown, text_in(call.get("name"))))
    elif kind == "error":
        asides.append(Aside("tool_result", text_in(block.get("message")), "error"))
    else:
        news[f"block:{kind}"] += 1
        asides.append(Aside("unknown", text, kind if isinstance(kind, str) else ""))


def _attachments(content: Raw) -> tuple[Attachment, ...]:
    return tuple(
        Attachment(
            name=text_in(item.get("name")) or "attachment",
            external_id=text_in(item.get("id")),
            mime_type=text_in(item.get("type")),
            text=text_in(item.get("content")),
        )
        for item in list_in(content.get("attachments"))
        if isinstance(item, dict)
    )
