"""What one line of a Codex session says: by whom, in which of the places that may repeat it."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import orjson

from backread.domain import Aside, Attachment
from ingest.importers.base import Raw, dict_in, dicts_in, list_in, text_in, time_in
from ingest.importers.claude_blocks import as_json

# Where something was said; the first of a kind that a session has is the one that counts.
ITEM = "item"  # item_completed: UserMessage, AgentMessage
EVENT = "event"  # user_message, agent_message
RESPONSE = "response"  # response_item, and the bare lines of the oldest sessions

_INJECTED = (
    "# AGENTS.md instructions",
    "<INSTRUCTIONS>",
    "<user_instructions>",
    "<environment_context>",
    "<recommended_plugins>",
    "<turn_aborted>",
    "<permissions instructions>",
    "<skills_instructions>",
    "<subagent_notification>",
    "Another language model started to solve this problem and produced a summary",
)
_IMPORTED = "<EXTERNAL SESSION IMPORTED>"
_CALLS = {"function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_call"}
_OUTPUTS = {"function_call_output", "custom_tool_call_output", "tool_result"}
_SILENT_ITEMS = {"token_count", "ghost_snapshot", "compaction", "other"}
_TEXT_BLOCKS = {"input_text", "output_text", "text"}
_SILENT_EVENTS = ("exec_", "patch_", "mcp_", "web_search_", "turn", "thread_", "task_", "token_")
_KNOWN_EVENTS = {
    "agent_reasoning_raw_content",
    "agent_reasoning_section_break",
    "agent_message_delta",
    "background_event",
    "context_compacted",
    "entered_review_mode",
    "error",
    "exited_review_mode",
    "item_started",
    "plan_update",
    "session_configured",
    "stream_error",
    "view_image_tool_call",
    "warning",
}


@dataclass(slots=True)
class Said:
    """One statement. `who`: user, assistant, developer, reasoning, call, output, summary."""

    who: str
    where: str
    external_id: str
    turn: str
    text: str = ""
    name: str = ""
    call_id: str = ""
    at: datetime | None = None
    injected: list[Aside] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)


def said_in(line: Raw, place: int, turn: str, news: Counter[str]) -> list[Said]:
    """What the line at `place` says, in turn `turn`; shapes it does not know go to `news`."""
    kind = text_in(line.get("type"))
    payload = dict_in(line.get("payload"))
    at = time_in(line.get("timestamp")) or time_in(payload.get("timestamp"))
    said: Said | None = None
    if kind == "event_msg":
        said = _event(payload, turn, news)
    elif kind == "response_item":
        said = _response(payload, turn, news)
    elif kind == "compacted":
        said = Said("summary", RESPONSE, "", turn, text_in(payload.get("message")))
    elif "role" in line or (kind and not payload):
        said = _response(line, turn, news)
    elif payload and kind not in ("session_meta", "turn_context", "world_state"):
        news[f"line:{kind}"] += 1
    if said is None:
        return []
    said.external_id = said.external_id or f"line:{place}"
    said.at = at
    return [said]


def _event(payload: Raw, turn: str, news: Counter[str]) -> Said | None:
    kind = text_in(payload.get("type"))
    if kind in ("user_message", "agent_message"):
        who = "user" if kind == "user_message" else "assistant"
        said = Said(who, EVENT, "", turn, text_in(payload.get("message")))
        for image in list_in(payload.get("images")) + list_in(payload.get("local_images")):
            path = text_in(image).rsplit("/", 1)[-1] if isinstance(image, str) else ""
            is_data = isinstance(image, str) and image.startswith("data:")
            said.attachments.append(Attachment("image" if is_data or not path else path[-200:]))
        return _sorted(said, [said.text])
    if kind == "agent_reasoning":
        return Said("reasoning", EVENT, "", turn, text_in(payload.get("text")))
    if kind == "item_completed":
        return _item(payload, turn, news)
    if kind not in _KNOWN_EVENTS and not kind.startswith(_SILENT_EVENTS):
        news[f"event:{kind or 'none'}"] += 1
    return None


def _item(payload: Raw, turn: str, news: Counter[str]) -> Said | None:
    item = dict_in(payload.get("item"))
    kind = text_in(item.get("type"))
    if kind not in ("UserMessage", "AgentMessage"):
        return None  # the model's other items are all in response_item as well
    who = "user" if kind == "UserMessage" else "assistant"
    own_turn = text_in(payload.get("turn_id")) or turn
    said = Said(who, ITEM, text_in(item.get("id")), own_turn)
    return _with_blocks(said, item.get("content"), news)


def _response(payload: Raw, turn: str, news: Counter[str]) -> Said | None:
    kind = text_in(payload.get("type")) or ("message" if "role" in payload else "")
    passed_on = dict_in(payload.get("internal_chat_message_metadata_passthrough"))
    turn = text_in(passed_on.get("turn_id")) or turn
    external_id = text_in(payload.get("id"))
    call_id = text_in(payload.get("call_id"))
    if kind == "message":
        role = text_in(payload.get("role"))
        if role not in ("user", "assistant", "developer", "system"):
            news[f"role:{role}"] += 1
        who = role if role in ("user", "assistant") else "developer"
        said = Said(who, RESPONSE, external_id, turn)
        return _with_blocks(said, payload.get("content"), news)
    if kind == "reasoning":
        parts = dicts_in(payload.get("summary")) or dicts_in(payload.get("content"))
        text = "\n\n".join(text_in(part.get("text")) for part in parts)
        return Said("reasoning", RESPONSE, external_id, turn, text.strip())
    if kind in _CALLS:
        name = text_in(payload.get("name")) or text_in(dict_in(payload.get("function")).get("name"))
        return Said(
            "call", RESPONSE, external_id, turn, _given(payload), name or kind, call_id=call_id
        )
    if kind in _OUTPUTS:
        output = payload.get("output", payload.get("result"))
        return Said("output", RESPONSE, "", turn, _output(output), call_id=call_id)
    if kind not in _SILENT_ITEMS and payload.get("record_type") is None:
        news[f"item:{kind or 'none'}"] += 1
    return None


def _with_blocks(said: Said, content: Any, news: Counter[str]) -> Said:
    if isinstance(content, str):
        return _sorted(said, [text_in(content)])
    texts: list[str] = []
    for block in dicts_in(content):
        kind = text_in(block.get("type"))
        if kind.lower() in _TEXT_BLOCKS:
            texts.append(text_in(block.get("text")))
        elif "image" in kind.lower():
            said.attachments.append(Attachment("image"))
        else:
            news[f"block:{kind or 'none'}"] += 1
            said.injected.append(Aside("unknown", text_in(block.get("text")), kind))
    return _sorted(said, texts)


def _sorted(said: Said, texts: list[str]) -> Said:
    """The person's own words apart from what Codex put beside them."""
    own: list[str] = []
    for text in texts:
        if said.who == "user" and text.lstrip().startswith(_INJECTED):
            said.injected.append(Aside("injected", text))
        elif said.who != "user" or _IMPORTED not in text:
            own.append(text)
    said.text = "\n\n".join(text.strip("\n") for text in own if text.strip())
    return said


def _given(payload: Raw) -> str:
    for key in ("arguments", "input", "action", "summary"):
        value = payload.get(key)
        if isinstance(value, str) and value.strip():
            return _pretty(value)
        if isinstance(value, dict) and value:
            return as_json(value)
    return ""


def _pretty(text: str) -> str:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text_in(text)
    return as_json(value) if isinstance(value, dict) and value else text_in(text)


def _output(output: Any) -> str:
    if isinstance(output, str):
        return text_in(output)
    if isinstance(output, dict):
        return text_in(output.get("content")) or as_json(output)
    return "\n\n".join(text_in(part.get("text")) for part in dicts_in(output))
