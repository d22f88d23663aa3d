"""Open WebUI: all chats or one, as the server's API gives them, or the inner `chat` alone.

`history.messages` is the tree, `currentId` the end of what is shown; `messages` only repeats
that line. Reasoning and tool calls are written into the text as `<details>`.
"""

import re
from collections import Counter
from typing import Any

from backread.domain import Attachment, ParsedConversation, Platform
from backread.errors import UnreadableImport
from ingest.html_text import read_html
from ingest.importers.base import Raw, dict_in, dicts_in, list_in, size_in, text_in, time_in
from ingest.importers.drafts import Draft, free_id, in_a_tree
from ingest.importers.plain_chats import add_call, add_content, role_of

_DETAILS = re.compile(r"<details\b([^>]*)>(.*?)</details>\s*", re.DOTALL)
_TYPE = re.compile(r'\btype="([^"]*)"')
_NAME = re.compile(r'\bname="([^"]*)"')
_SUMMARY = re.compile(r"<summary>.*?</summary>", re.DOTALL)
_PIPE_MARK = re.compile(r"^\s*\[openai_responses:v2:[^\]]*\]:\s*#.*$\n?", re.MULTILINE)
_KINDS = {"reasoning": "reasoning", "tool_calls": "tool_call", "code_interpreter": "tool_call"}


class OpenWebUiImporter:
    """Guarantees: parents before children; what was shown is the line to `currentId`."""

    slug = Platform.OPENWEBUI.value
    version = 3

    def recognises(self, raw: Any) -> bool:
        """`history` with `messages` by id, in `chat` or at the top."""
        if not isinstance(raw, dict):
            return False
        history = dict_in(_chat(raw).get("history"))
        return isinstance(history.get("messages"), dict) and "mapping" not in raw

    def identify(self, raw: Raw) -> str:
        """The chat's id; a chat saved without one goes by its first message."""
        for holder in (raw, _chat(raw)):
            if text_in(holder.get("id")):
                return text_in(holder.get("id"))
        messages = dict_in(dict_in(_chat(raw).get("history")).get("messages"))
        first = next(iter(messages), "")
        return f"message:{first}" if first else ""

    def parse(self, raw: Raw) -> ParsedConversation:
        external_id = self.identify(raw)
        if not external_id:
            raise UnreadableImport("The conversation has neither an id nor a message.")
        chat = _chat(raw)
        history = dict_in(chat.get("history"))
        news: Counter[str] = Counter()
        drafts = _drafts(history, chat, news)
        thread = in_a_tree(drafts, leaf=text_in(history.get("currentId")))
        created_at, updated_at = thread.times
        models = [text_in(model) for model in list_in(chat.get("models"))]
        return ParsedConversation(
            platform=Platform.OPENWEBUI,
            external_id=external_id,
            title=text_in(raw.get("title")) or text_in(chat.get("title")) or thread.first_words,
            messages=thread.messages,
            shown_line=thread.shown_line,
            created_at=time_in(raw.get("created_at"))
            or time_in(chat.get("timestamp"))
            or created_at,
            updated_at=time_in(raw.get("updated_at")) or updated_at,
            model=thread.model or next(iter(models), ""),
            assistant_name="Assistant",
            is_starred=raw.get("pinned") is True,
            is_archived=raw.get("archived") is True,
            news=dict(news),
            extra=_extra(raw),
        )


OPENWEBUI = OpenWebUiImporter()


def _chat(raw: Raw) -> dict[str, Any]:
    return dict_in(raw.get("chat")) or dict(raw)


def _extra(raw: Raw) -> dict[str, Any]:
    tags = [text_in(tag) for tag in list_in(dict_in(raw.get("meta")).get("tags"))]
    found = {"folder_id": text_in(raw.get("folder_id")), "tags": [tag for tag in tags if tag]}
    return {key: value for key, value in found.items() if value}


def _drafts(history: Raw, chat: Raw, news: Counter[str]) -> list[Draft]:
    drafts: list[Draft] = []
    for external_id, message in dict_in(history.get("messages")).items():
        if isinstance(message, dict):
            parent = text_in(message.get("parentId")) or None
            drafts.append(_draft(external_id, parent, message, news))
    if drafts:
        return drafts
    taken: set[str] = set()
    for place, message in enumerate(dicts_in(chat.get("messages"))):
        own_id = free_id(text_in(message.get("id")) or f"index:{place}", taken)
        parent = drafts[-1].external_id if drafts else None
        drafts.append(_draft(own_id, parent, message, news))
    return drafts


def _draft(external_id: str, parent: str | None, message: Raw, news: Counter[str]) -> Draft:
    draft = Draft(external_id, role_of(message.get("role"), news), parent)
    draft.created_at = time_in(message.get("timestamp"))
    draft.model = text_in(message.get("model"))
    add_content(draft, message.get("content"), news)
    draft.texts = [_without_details(text, draft) for text in draft.texts]
    if not draft.text:
        _add_output(draft, message.get("output"), news)
    for item in dicts_in(message.get("files")):
        inner = dict_in(item.get("file"))
        name = text_in(item.get("name")) or text_in(inner.get("filename"))
        url = text_in(item.get("url"))
        own_id = text_in(item.get("id")) or ("" if url.startswith("data:") else url)
        size = size_in(item.get("size"))
        text = text_in(dict_in(inner.get("data")).get("content"))
        name = name or text_in(item.get("type")) or "file"
        draft.attachments.append(Attachment(name, own_id[:400], "", size, text))
    for item in dicts_in(message.get("sources")) or dicts_in(message.get("citations")):
        source = dict_in(item.get("source"))
        draft.cite(text_in(source.get("url")) or text_in(source.get("name")))
    error = message.get("error")
    draft.aside("tool_result", text_in(error) or text_in(dict_in(error).get("content")), "error")
    return draft


def _add_output(draft: Draft, output: Any, news: Counter[str]) -> None:
    """The items of OpenAI's Responses API, where a message keeps its text in them alone."""
    for item in dicts_in(output):
        kind = text_in(item.get("type"))
        if kind == "message":
            add_content(draft, item.get("content"), news)
        elif kind == "reasoning":
            for part in dicts_in(item.get("summary")) + dicts_in(item.get("content")):
                draft.aside("reasoning", text_in(part.get("text")))
        elif kind == "function_call":
            add_call(draft, item)
        elif kind == "function_call_output":
            draft.aside("tool_result", _output_text(item.get("output")))
        else:
            news[f"output:{kind or 'none'}"] += 1
            draft.aside("unknown", "", kind)


def _output_text(output: Any) -> str:
    parts = [text_in(part.get("text")) for part in dicts_in(output)]
    return text_in(output) or "\n".join(part for part in parts if part)


def _without_details(text: str, draft: Draft) -> str:
    if "<details" in text:
        for attributes, inner in _DETAILS.findall(text):
            found = _TYPE.search(attributes)
            kind = _KINDS.get(found.group(1) if found else "", "")
            if kind:
                named = _NAME.search(attributes)
                shown = _quoted(read_html(_SUMMARY.sub("", inner))[0])
                draft.aside(kind, shown, named.group(1) if named else "")
        text = _DETAILS.sub(_kept, text)
    return _PIPE_MARK.sub("", text)


def _kept(match: re.Match[str]) -> str:
    """Details that somebody wrote as part of an answer stay in it."""
    found = _TYPE.search(match.group(1))
    return "" if found and found.group(1) in _KINDS else match.group(0)


def _quoted(text: str) -> str:
    return "\n".join(line.removeprefix(">").strip() for line in text.split("\n")).strip()
