"""Cursor: composers out of its databases, older chat tabs, and its agent's chats and transcripts.

A composer's headers give the order of its bubbles; bubbles that no header names were thrown away
by Cursor and are left out.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from backread.domain import Attachment, MessageKind, ParsedConversation, Platform, Role
from backread.errors import UnreadableImport
from ingest.importers.base import Raw, dict_in, dicts_in, list_in, text_in, time_in
from ingest.importers.claude_blocks import as_json
from ingest.importers.drafts import (
    Draft,
    digest_id,
    in_a_line,
    news_of_lines,
    with_work_beside,
)
from ingest.importers.envelopes import (
    BUBBLES_KEY,
    COMPOSER_ID_KEY,
    COMPOSER_KEY,
    HEADER_KEY,
    LINES_KEY,
    ROWS_KEY,
    STORE_KEY,
    TAB_KEY,
    UNREAD_KEY,
    with_key,
)
from ingest.importers.plain_chats import role_of

_ROLES = {1: Role.USER, 2: Role.ASSISTANT, "user": Role.USER, "ai": Role.ASSISTANT}
# What the agent is told about its surroundings, in the person's name.
_INJECTED = re.compile(r"<(?:user_info|system_reminder|environment_context|rules|project_layout)>")
_FILE_NAME = re.compile(
    r"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl", re.IGNORECASE
)
_QUERY = re.compile(r"<user_query>(.*?)</user_query>", re.DOTALL)
_QUERY_END = "</user_query>"


class CursorImporter:
    """Guarantees: bubbles in the order of the composer's headers, each once."""

    slug = Platform.CURSOR.value
    version = 2

    def recognises(self, raw: Any) -> bool:
        """A composer, a tab or an agent's chat out of a database; transcript lines of `role` and
        `message`."""
        if not isinstance(raw, dict):
            return False
        if any(isinstance(raw.get(key), dict) for key in (COMPOSER_KEY, TAB_KEY, STORE_KEY)):
            return True
        lines = dicts_in(raw.get(LINES_KEY))
        return bool(lines) and _is_transcript_line(lines[0])

    def identify(self, raw: Raw) -> str:
        """The composer's, tab's or agent's id; transcripts name none and go by their beginning."""
        named = text_in(raw.get(COMPOSER_ID_KEY))
        named = named or text_in(dict_in(raw.get(COMPOSER_KEY)).get("composerId"))
        named = named or text_in(dict_in(raw.get(TAB_KEY)).get("tabId"))
        named = named or text_in(dict_in(raw.get(STORE_KEY)).get("agentId"))
        lines = dicts_in(raw.get(LINES_KEY))
        # Two lines, because many chats begin with the same words.
        return named or (f"first:{digest_id(*map(str, lines[:2]))}" if lines else "")

    def parse(self, raw: Raw) -> ParsedConversation:
        external_id = self.identify(raw)
        if not external_id:
            raise UnreadableImport("The chat has neither an id nor a message.")
        news: Counter[str] = Counter()
        about = _about(raw)
        if STORE_KEY in raw:
            drafts = _stored(dicts_in(raw.get(ROWS_KEY)), news)
        elif COMPOSER_KEY in raw:
            drafts = _composed(about, dict_in(raw.get(BUBBLES_KEY)), news)
        elif TAB_KEY in raw:
            drafts = _tab(about, news)
        else:
            news_of_lines(list_in(raw.get(UNREAD_KEY)), news)
            drafts = with_work_beside(_transcript(dicts_in(raw.get(LINES_KEY)), news))
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
            model=thread.model or text_in(about.get("lastUsedModel")),
            project=text_in(folder),
            assistant_name="Cursor",
            is_archived=about.get("isArchived") is True,
            news=dict(news),
        )


CURSOR = CursorImporter()


def with_chat_id(raw: dict[str, Any], body: bytes, file_name: str) -> bytes:
    """The capture of a transcript with its composer's id, which only the file's name tells. So it
    converges with the chat out of the database."""
    named = _FILE_NAME.fullmatch(file_name)
    if named is None or LINES_KEY not in raw:
        return body
    raw[COMPOSER_ID_KEY] = named[1].lower()
    return with_key(body, COMPOSER_ID_KEY, named[1].lower())


def _about(raw: Raw) -> dict[str, Any]:
    """What is told about the chat. The list of composers fills in what its own record lacks."""
    holders = (raw.get(key) for key in (COMPOSER_KEY, TAB_KEY, STORE_KEY))
    own: dict[str, Any] = next((each for each in holders if isinstance(each, dict)), {})
    listed = dict_in(raw.get(HEADER_KEY))
    return listed | {key: value for key, value in own.items() if value not in (None, "", {})}


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
        draft = Draft(f"line:{place}", role, has_weak_id=True)
        content = dict_in(line.get("message")).get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in dicts_in(blocks):
            _block(draft, block, news)
        yield draft


def _stored(messages: list[dict[str, Any]], news: Counter[str]) -> Iterator[Draft]:
    """The messages of an agent's own database. They have no times."""
    for place, message in enumerate(messages):
        if "role" not in message:
            news["blob:unread"] += 1
            continue
        draft = Draft(text_in(message.get("backread_id")) or f"index:{place}", Role.SYSTEM)
        draft.role = role_of(message.get("role"), news)
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in dicts_in(blocks):
            _block(draft, block, news)
        if draft.role is Role.USER and _INJECTED.match(draft.text):
            draft.kind = MessageKind.HIDDEN
        yield draft


def _block(draft: Draft, block: Raw, news: Counter[str]) -> None:
    kind = text_in(block.get("type"))
    text = text_in(block.get("text"))
    name = text_in(block.get("name")) or text_in(block.get("toolName"))
    if kind == "text":
        # Not beyond the last end: whatever is opened after it would be sought to the end each.
        queries = text[: text.rfind(_QUERY_END) + len(_QUERY_END)] if _QUERY_END in text else ""
        asked = _QUERY.findall(queries) if draft.role is Role.USER else []
        draft.texts += [each.strip() for each in asked] or [text]
        draft.aside(
            "injected", (_QUERY.sub("", queries) + text[len(queries) :]).strip() if asked else ""
        )
    elif kind in ("tool_use", "tool-call"):
        draft.aside("tool_call", _shown(block.get("input", block.get("args"))), name)
    elif kind in ("tool_result", "tool-result"):
        draft.aside("tool_result", _shown(block.get("content", block.get("result"))), name)
    elif kind in ("image", "file"):
        draft.attachments.append(Attachment(text_in(block.get("filename")) or kind))
    elif kind == "redacted-reasoning":
        return
    elif kind in ("thinking", "reasoning"):
        draft.aside("reasoning", text_in(block.get("thinking")) or text)
    else:
        news[f"block:{kind or 'none'}"] += 1
        draft.aside("unknown", text, kind)
