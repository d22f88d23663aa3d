"""Cursor: composers out of its databases, older chat tabs, and transcripts of its agent.

A composer's headers give the order of its bubbles; bubbles that no header names were thrown away
by Cursor and are left out.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from backread.domain import Attachment, ParsedConversation, Platform, Role
from backread.errors import UnreadableImport
from ingest.importers.base import Raw, dict_in, dicts_in, list_in, text_in, time_in
from ingest.importers.claude_blocks import as_json
from ingest.importers.drafts import Draft, digest_id, in_a_line, news_of_lines
from ingest.importers.envelopes import (
    BUBBLES_KEY,
    COMPOSER_ID_KEY,
    COMPOSER_KEY,
    LINES_KEY,
    TAB_KEY,
    UNREAD_KEY,
)

_ROLES = {1: Role.USER, 2: Role.ASSISTANT, "user": Role.USER, "ai": Role.ASSISTANT}
_QUERY = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)


class CursorImporter:
    """Guarantees: bubbles in the order of the composer's headers, each once."""

    slug = Platform.CURSOR.value
    version = 1

    def recognises(self, raw: Any) -> bool:
        """A composer or tab out of a database; transcript lines of `role` and `message`."""
        if not isinstance(raw, dict):
            return False
        if isinstance(raw.get(COMPOSER_KEY), dict) or isinstance(raw.get(TAB_KEY), dict):
            return True
        lines = dicts_in(raw.get(LINES_KEY))
        return bool(lines) and _is_transcript_line(lines[0])

    def identify(self, raw: Raw) -> str:
        """The composer's or tab's id; transcripts name none and go by their beginning."""
        named = text_in(raw.get(COMPOSER_ID_KEY))
        named = named or text_in(dict_in(raw.get(COMPOSER_KEY)).get("composerId"))
        named = named or text_in(dict_in(raw.get(TAB_KEY)).get("tabId"))
        lines = dicts_in(raw.get(LINES_KEY))
        return named or (f"first:{digest_id(str(lines[0]))}" if lines else "")

    def parse(self, raw: Raw) -> ParsedConversation:
        external_id = self.identify(raw)
        if not external_id:
            raise UnreadableImport("The chat has neither an id nor a message.")
        news: Counter[str] = Counter()
        about = dict_in(raw.get(COMPOSER_KEY)) or dict_in(raw.get(TAB_KEY))
        if COMPOSER_KEY in raw:
            drafts = _composed(about, dict_in(raw.get(BUBBLES_KEY)), news)
        elif TAB_KEY in raw:
            drafts = _tab(about, news)
        else:
            news_of_lines(list_in(raw.get(UNREAD_KEY)), news)
            drafts = _transcript(dicts_in(raw.get(LINES_KEY)), news)
        thread = in_a_line(draft for draft in drafts if not draft.is_empty)
        created_at, updated_at = thread.times
        folder = dict_in(dict_in(about.get("workspaceIdentifier")).get("uri")).get("fsPath")
        title = text_in(about.get("name")) or text_in(about.get("chatTitle"))
        return ParsedConversation(
            platform=Platform.CURSOR,
            external_id=external_id,
            title=title.strip() or thread.first_words,
            messages=thread.messages,
            shown_line=thread.shown_line,
            created_at=time_in(about.get("createdAt")) or created_at,
            updated_at=time_in(about.get("lastUpdatedAt", about.get("lastSendTime"))) or updated_at,
            model=thread.model,
            project=text_in(folder),
            assistant_name="Cursor",
            is_archived=about.get("isArchived") is True,
            news=dict(news),
        )


CURSOR = CursorImporter()


def _is_transcript_line(line: Raw) -> bool:
    if not {"role", "message"} <= line.keys() or {"type", "uuid", "sessionId"} & line.keys():
        return False
    return "content" in dict_in(line.get("message"))


def _composed(about: Raw, bubbles: Mapping[str, Any], news: Counter[str]) -> Iterator[Draft]:
    """Older composers hold their bubbles themselves; then the headers are the bubbles."""
    headers = dicts_in(about.get("fullConversationHeadersOnly"))
    for place, header in enumerate(headers or dicts_in(about.get("conversation"))):
        named = text_in(header.get("bubbleId"))
        bubble = bubbles.get(named) if headers else header
        if not isinstance(bubble, dict):
            if named not in bubbles:
                news["bubble:missing"] += 1
            continue
        kind = bubble.get("type", header.get("type"))
        yield _bubble(named or f"index:{place}", kind, bubble, news)


def _bubble(own_id: str, kind: Any, bubble: Raw, news: Counter[str]) -> Draft:
    role = _ROLES.get(kind) if isinstance(kind, int | str) else None
    if role is None:
        news[f"bubble:{kind}"] += 1
    draft = Draft(own_id, role or Role.SYSTEM)
    timing = dict_in(bubble.get("timingInfo"))
    draft.created_at = time_in(bubble.get("createdAt", timing.get("clientStartTime")))
    if role is Role.ASSISTANT:
        draft.model = text_in(dict_in(bubble.get("modelInfo")).get("modelName"))
        draft.model = draft.model or text_in(bubble.get("modelType"))
    text = text_in(bubble.get("text")) or text_in(bubble.get("rawText"))
    draft.texts.append(text or _rich(bubble.get("richText")))
    thinking = bubble.get("thinking")
    draft.aside("reasoning", text_in(thinking) or text_in(dict_in(thinking).get("text")))
    _add_tool(draft, dict_in(bubble.get("toolFormerData")))
    for item in dicts_in(dict_in(bubble.get("context")).get("fileSelections")):
        path = text_in(dict_in(item.get("uri")).get("path"))
        if path:
            draft.attachments.append(Attachment(path.rsplit("/", 1)[-1]))
    draft.attachments += [Attachment("image") for _ in list_in(bubble.get("images"))]
    return draft


def _add_tool(draft: Draft, tool: Raw) -> None:
    name = text_in(tool.get("name"))
    if not name:
        return
    draft.aside("tool_call", _shown(tool.get("params")) or _shown(tool.get("rawArgs")), name)
    draft.aside("tool_result", _shown(tool.get("result")), name)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return as_json(value) if value else ""
    return text_in(value)


def _rich(value: Any) -> str:
    """The text of the editor's own tree, when a bubble has no plain text."""
    try:
        root = orjson.loads(value) if isinstance(value, str) else value
    except orjson.JSONDecodeError:
        return text_in(value)
    lines: list[str] = []
    waiting: list[Any] = [dict_in(dict_in(root).get("root"))]
    while waiting:
        node = dict_in(waiting.pop())
        if node.get("type") in ("paragraph", "linebreak"):
            lines.append("\n")
        lines.append(text_in(node.get("text")))
        waiting += reversed(list_in(node.get("children")))
    return "".join(lines).strip()


def _tab(about: Raw, news: Counter[str]) -> Iterator[Draft]:
    for place, bubble in enumerate(dicts_in(about.get("bubbles"))):
        own_id = text_in(bubble.get("id")) or f"index:{place}"
        yield _bubble(own_id, bubble.get("type"), bubble, news)


def _transcript(lines: list[dict[str, Any]], news: Counter[str]) -> Iterator[Draft]:
    for place, line in enumerate(lines):
        if "message" not in line:
            if text_in(line.get("type")) != "turn_ended":
                news[f"line:{line.get('type')}"] += 1
            continue
        name = text_in(line.get("role"))
        if name not in ("user", "assistant"):
            news[f"role:{name or 'none'}"] += 1
        role = {"user": Role.USER, "assistant": Role.ASSISTANT}.get(name, Role.SYSTEM)
        draft = Draft(f"line:{place}", role)
        content = dict_in(line.get("message")).get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in dicts_in(blocks):
            _block(draft, block, news)
        yield draft


def _block(draft: Draft, block: Raw, news: Counter[str]) -> None:
    kind = text_in(block.get("type"))
    text = text_in(block.get("text"))
    if kind == "text":
        asked = _QUERY.findall(text) if draft.role is Role.USER else []
        draft.texts += asked or [text]
        draft.aside("injected", _QUERY.sub("", text).strip() if asked else "")
    elif kind == "tool_use":
        draft.aside("tool_call", _shown(block.get("input")), text_in(block.get("name")))
    elif kind == "tool_result":
        draft.aside("tool_result", _shown(block.get("content")))
    elif kind in ("thinking", "reasoning"):
        draft.aside("reasoning", text_in(block.get("thinking")) or text)
    else:
        news[f"block:{kind or 'none'}"] += 1
        draft.aside("unknown", text, kind)
