"""Gemini CLI: sessions as one JSON object, and since 0.40 as lines: a header, messages, changes."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from backread.domain import ParsedConversation, Platform, Role
from backread.errors import UnreadableImport
from ingest.importers.base import Raw, dict_in, dicts_in, list_in, text_in, time_in
from ingest.importers.claude_blocks import as_json
from ingest.importers.drafts import Draft, in_a_line, news_of_lines
from ingest.importers.envelopes import LINES_KEY, UNREAD_KEY
from ingest.importers.plain_chats import add_content

_ROLES = {
    "user": Role.USER,
    "gemini": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "info": Role.SYSTEM,
    "error": Role.SYSTEM,
    "warning": Role.SYSTEM,
}


class GeminiCliImporter:
    """Guarantees: messages in the order of the session, each with its last state."""

    slug = Platform.GEMINI_CLI.value
    version = 1

    def recognises(self, raw: Any) -> bool:
        """`sessionId` with `projectHash`, in the object itself or in the first line."""
        if not isinstance(raw, dict):
            return False
        lines = dicts_in(raw.get(LINES_KEY))
        header = lines[0] if lines else raw
        if "sessionId" not in header or "projectHash" not in header:
            return False
        return bool(lines) or isinstance(raw.get("messages"), list)

    def identify(self, raw: Raw) -> str:
        lines = dicts_in(raw.get(LINES_KEY))
        return text_in((lines[0] if lines else raw).get("sessionId"))

    def parse(self, raw: Raw) -> ParsedConversation:
        external_id = self.identify(raw)
        if not external_id:
            raise UnreadableImport("The session has no id.")
        news: Counter[str] = Counter()
        news_of_lines(list_in(raw.get(UNREAD_KEY)), news)
        about, messages = _replayed(raw, news)
        thread = in_a_line(_drafts(messages, news))
        created_at, updated_at = thread.times
        is_subagent = about.get("kind") == "subagent"
        return ParsedConversation(
            platform=Platform.GEMINI_CLI,
            external_id=external_id,
            title=text_in(about.get("summary")).strip() or thread.first_words,
            messages=thread.messages,
            shown_line=thread.shown_line,
            created_at=time_in(about.get("startTime")) or created_at,
            updated_at=time_in(about.get("lastUpdated")) or updated_at,
            model=thread.model,
            project=_project(about),
            assistant_name="Gemini",
            news=dict(news),
            extra={"is_subagent": True} if is_subagent else {},
        )


GEMINI_CLI = GeminiCliImporter()


def _project(about: Raw) -> str:
    folders = [text_in(each) for each in list_in(about.get("directories"))]
    return next((each for each in folders if each), "")


def _replayed(raw: Raw, news: Counter[str]) -> tuple[dict[str, Any], Mapping[str, Raw]]:
    """What the session is about, and its messages by id; a later line replaces an earlier."""
    about: dict[str, Any] = {}
    messages: dict[str, Raw] = {}
    lines = list_in(raw.get(LINES_KEY)) or [{**raw, "messages": None}, *list_in(raw["messages"])]
    for place, line in enumerate(lines):
        if not isinstance(line, dict):
            news["line:not an object"] += 1
        elif place == 0:
            about |= line
        elif isinstance(line.get("$set"), dict):
            about |= line["$set"]
            for message in dicts_in(line["$set"].get("messages")):
                messages[text_in(message.get("id")) or f"index:{len(messages)}"] = message
        elif "type" in line:
            messages[text_in(line.get("id")) or f"index:{place}"] = line
        else:
            news[f"line:{next(iter(line), 'empty')}"] += 1
    return about, messages


def _drafts(messages: Mapping[str, Raw], news: Counter[str]) -> Iterator[Draft]:
    for own_id, message in messages.items():
        kind = text_in(message.get("type"))
        if kind not in _ROLES:
            news[f"type:{kind or 'none'}"] += 1
        draft = Draft(own_id, _ROLES.get(kind, Role.SYSTEM), model=text_in(message.get("model")))
        draft.created_at = time_in(message.get("timestamp"))
        _add_words(draft, message, news)
        for thought in dicts_in(message.get("thoughts")):
            said = [text_in(thought.get("subject")), text_in(thought.get("description"))]
            draft.aside("reasoning", "\n".join(each for each in said if each))
        for call in dicts_in(message.get("toolCalls")):
            given = dict_in(call.get("args"))
            name = text_in(call.get("name"))
            draft.aside("tool_call", as_json(given) if given else "", name)
            draft.aside("tool_result", _result(call), name)
        if not draft.is_empty:
            yield draft


def _add_words(draft: Draft, message: Raw, news: Counter[str]) -> None:
    """`displayContent` is what was typed; `content` may hold files that were put into it."""
    shown = message.get("displayContent")
    sent = Draft("", draft.role)
    add_content(sent, _typed(message.get("content") or message.get("parts")), news)
    if shown:
        add_content(draft, _typed(shown), news)
    if draft.text and sent.text != draft.text:
        draft.aside("injected", sent.text)
    elif not draft.text:
        draft.texts += sent.texts
    draft.attachments += sent.attachments


def _typed(content: Any) -> Any:
    """Google's parts name their kind by their key."""
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        return content
    return [
        {"type": "text", **part}
        if isinstance(part, dict) and "text" in part
        else {"type": "file"}
        if isinstance(part, dict) and ("inlineData" in part or "fileData" in part)
        else part
        for part in content
    ]


def _result(call: Raw) -> str:
    shown = text_in(call.get("resultDisplay"))
    if shown:
        return shown
    texts = []
    for part in dicts_in(call.get("result")):
        response = dict_in(dict_in(part.get("functionResponse")).get("response"))
        texts.append(text_in(response.get("output")) or text_in(part.get("text")))
    return "\n".join(text for text in texts if text) or text_in(call.get("result"))
