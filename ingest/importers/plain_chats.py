"""Messages in the shape of OpenAI's chat API, which several tools store: `role` and `content`."""

from collections import Counter
from typing import Any

from backread.domain import Attachment, Role
from ingest.importers.base import Raw, dict_in, list_in, text_in
from ingest.importers.claude_blocks import as_json
from ingest.importers.drafts import Draft

ROLES = {
    "user": Role.USER,
    "human": Role.USER,
    "assistant": Role.ASSISTANT,
    "gpt": Role.ASSISTANT,
    "chatgpt": Role.ASSISTANT,
    "ai": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "bot": Role.ASSISTANT,
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "tool": Role.TOOL,
    "toolresult": Role.TOOL,
    "function": Role.TOOL,
    "function_call": Role.TOOL,
    "observation": Role.TOOL,
}
_TEXTS = {"text", "input_text", "output_text"}
_FILES = {"image_url", "image", "input_image", "image_file", "file", "input_audio", "audio"}


def role_of(name: Any, news: Counter[str]) -> Role:
    """The role, or SYSTEM with a note in `news` for one that is not known."""
    role = ROLES.get(name.lower()) if isinstance(name, str) else None
    if role is None:
        news[f"role:{name}"] += 1
        return Role.SYSTEM
    return role


def add_content(draft: Draft, content: Any, news: Counter[str]) -> None:
    """Text, or a list of parts; parts of a kind that is not known are kept beside the text."""
    if isinstance(content, str):
        draft.texts.append(text_in(content))
        return
    for part in list_in(content):
        if isinstance(part, str):
            draft.texts.append(text_in(part))
        elif isinstance(part, dict):
            _add_part(draft, part, news)


def _add_part(draft: Draft, part: dict[str, Any], news: Counter[str]) -> None:
    kind = text_in(part.get("type"))
    if kind in _TEXTS:
        draft.texts.append(_text_of(part.get("text")) or text_in(part.get("content")))
    elif kind in ("think", "thinking", "reasoning"):
        text = _text_of(part.get(kind)) or text_in(part.get("text"))
        draft.aside("reasoning", text or text_in(part.get("think")))
    elif kind == "injected":
        draft.aside("injected", text_in(part.get("text")))
    elif kind in ("tool_call", "tool_use", "toolCall", "function"):
        add_call(draft, part)
    elif kind in ("tool_result", "tool-result"):
        content = part.get("content", part.get("result"))
        text = as_json(content) if isinstance(content, dict) else _joined(content)
        draft.aside("tool_result", text, text_in(part.get("toolName")))
    elif kind in _FILES:
        draft.attachments.append(_file(part, kind))
    elif kind == "error":
        draft.aside("tool_result", _text_of(part.get("error")), "error")
    else:
        news[f"part:{kind or 'none'}"] += 1
        draft.aside("unknown", text_in(part.get("text")), kind)


def _joined(content: Any) -> str:
    """The texts of a result that is one text or a list of parts."""
    parts = content if isinstance(content, list) else [content]
    return "\n".join(
        text for part in parts if (text := _text_of(part) or text_in(dict_in(part).get("text")))
    )


def _text_of(value: Any) -> str:
    return text_in(value) or text_in(dict_in(value).get("value"))


def add_call(draft: Draft, call: Raw) -> None:
    """A tool call in any of its nestings, with its output when that is kept with it."""
    inner = dict_in(call.get("tool_call")) or dict_in(call.get("function")) or call
    name = text_in(inner.get("name")) or text_in(call.get("name")) or text_in(call.get("toolName"))
    given = next((inner[key] for key in ("args", "arguments", "input") if inner.get(key)), "")
    text = as_json(given) if isinstance(given, dict) else text_in(given)
    draft.aside("tool_call", text, name)
    draft.aside("tool_result", text_in(inner.get("output")), name)


def _file(part: Raw, kind: str) -> Attachment:
    """Files written into the message itself are named by their kind."""
    holder = dict_in(part.get(kind)) or part
    url = text_in(holder.get("url")) or text_in(part.get("image_url"))
    name = text_in(holder.get("filename")) or text_in(holder.get("name"))
    address = url if url.startswith(("http://", "https://")) else ""
    fallback = "audio" if "audio" in kind else "file" if kind == "file" else "image"
    return Attachment(name or fallback, address or text_in(holder.get("file_id")))
