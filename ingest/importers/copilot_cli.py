"""GitHub Copilot CLI: `events.jsonl` of a session, an event a line."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from backread.domain import Aside, Attachment, MessageKind, ParsedConversation, Platform, Role
from backread.errors import UnreadableImport
from ingest.importers.base import Raw, dict_in, dicts_in, list_in, text_in, time_in
from ingest.importers.claude_blocks import as_json
from ingest.importers.drafts import Draft, digest_id, in_a_line, news_of_lines
from ingest.importers.envelopes import LINES_KEY, UNREAD_KEY

_ROLES = {
    "user.message": Role.USER,
    "assistant.message": Role.ASSISTANT,
    "system.message": Role.SYSTEM,
    "system.notification": Role.SYSTEM,
}
_SILENT = ("session.", "hook.", "subagent.", "assistant.turn_", "assistant.intent", "abort")
_KNOWN = {"tool.execution_start", "tool.execution_complete"}


class CopilotCliImporter:
    """Guarantees: every message once, in order; tools and reasoning beside what led to them."""

    slug = Platform.COPILOT_CLI.value
    version = 1

    def recognises(self, raw: Any) -> bool:
        """Lines with `data` whose `type` is `session.start` or a message's."""
        lines = dicts_in(raw.get(LINES_KEY)) if isinstance(raw, dict) else []
        return any(
            isinstance(line.get("data"), dict)
            and (line.get("type") == "session.start" or _kind(line) in _ROLES)
            for line in lines
        )

    def identify(self, raw: Raw) -> str:
        lines = dicts_in(raw.get(LINES_KEY))
        for line in lines:
            session = text_in(dict_in(line.get("data")).get("sessionId"))
            if line.get("type") == "session.start" and session:
                return session
        return f"first:{digest_id(str(lines[0]))}" if lines else ""

    def parse(self, raw: Raw) -> ParsedConversation:
        external_id = self.identify(raw)
        if not external_id:
            raise UnreadableImport("The session has no events.")
        news: Counter[str] = Counter()
        news_of_lines(list_in(raw.get(UNREAD_KEY)), news)
        lines = dicts_in(raw.get(LINES_KEY))
        others = [each for each in list_in(raw.get(LINES_KEY)) if not isinstance(each, dict)]
        news_of_lines(others, news)
        about: dict[str, str] = {}
        thread = in_a_line(_drafts(lines, about, news))
        created_at, updated_at = thread.times
        extra = {key: about[key] for key in ("version", "git_branch") if about.get(key)}
        return ParsedConversation(
            platform=Platform.COPILOT_CLI,
            external_id=external_id,
            title=about.get("title", "") or thread.first_words,
            messages=thread.messages,
            shown_line=thread.shown_line,
            created_at=time_in(about.get("started")) or created_at,
            updated_at=updated_at,
            model=thread.model or about.get("model", ""),
            project=about.get("folder", ""),
            assistant_name="Copilot",
            news=dict(news),
            extra=extra,
        )


COPILOT_CLI = CopilotCliImporter()


def _kind(line: Raw) -> str:
    return text_in(line.get("type"))


def _note(kind: str, data: Raw, about: dict[str, str]) -> None:
    context = dict_in(data.get("context"))
    found = {
        "started": data.get("startTime"),
        "version": data.get("copilotVersion"),
        "folder": context.get("cwd"),
        "git_branch": context.get("branch"),
        "model": data.get("newModel") or data.get("selectedModel"),
        "title": data.get("title") if kind == "session.title_changed" else None,
    }
    for key, value in found.items():
        if text_in(value) and (key in ("model", "title") or key not in about):
            about[key] = text_in(value)


def _drafts(
    lines: list[dict[str, Any]], about: dict[str, str], news: Counter[str]
) -> Iterator[Draft]:
    ready: list[Draft] = []
    callers: dict[str, Draft] = {}
    thoughts: list[str] = []  # that the next answer comes from
    for place, line in enumerate(lines):
        kind, data = _kind(line), dict_in(line.get("data"))
        if kind.startswith("session."):
            _note(kind, data, about)
        elif kind in _ROLES:
            draft = _message(place, kind, line, about, callers)
            if draft.role is Role.ASSISTANT:
                draft.asides[:0] = [Aside("reasoning", each) for each in thoughts if each]
                thoughts = []
            ready.append(draft)
        elif kind == "assistant.reasoning":
            thoughts.append(text_in(data.get("content")))
        elif kind in _KNOWN:
            _beside(kind, data, ready, callers)
        elif not kind.startswith(_SILENT):
            news[f"event:{kind or 'none'}"] += 1
    yield from (draft for draft in ready if not draft.is_empty)


def _message(
    place: int,
    kind: str,
    line: Raw,
    about: dict[str, str],
    callers: dict[str, Draft],
) -> Draft:
    data = dict_in(line.get("data"))
    draft = Draft(text_in(line.get("id")) or f"line:{place}", _ROLES[kind])
    draft.created_at = time_in(line.get("timestamp"))
    draft.texts.append(text_in(data.get("content")))
    sent = text_in(data.get("transformedContent"))
    if kind == "user.message" and sent.strip() != draft.text.strip():
        draft.aside("injected", sent)
    if kind == "assistant.message":
        draft.model = text_in(data.get("model")) or about.get("model", "")
    draft.aside("reasoning", text_in(data.get("reasoningText")))
    for request in dicts_in(data.get("toolRequests")):
        given = request.get("arguments")
        text = as_json(given) if isinstance(given, dict) and given else text_in(given)
        draft.aside("tool_call", text, text_in(request.get("name")))
        callers[text_in(request.get("toolCallId"))] = draft
    for item in dicts_in(data.get("attachments")):
        path = text_in(item.get("path")).rsplit("/", 1)[-1]
        draft.attachments.append(Attachment(text_in(item.get("displayName")) or path or "file"))
    if data.get("parentToolCallId"):
        draft.kind = MessageKind.TOOL  # a subagent's words to the agent
    return draft


def _beside(kind: str, data: Raw, ready: list[Draft], callers: dict[str, Draft]) -> None:
    call_id = text_in(data.get("toolCallId"))
    if kind == "tool.execution_complete":
        caller = callers.get(call_id) or (ready[-1] if ready else None)
        result = data.get("result")
        text = text_in(result) or text_in(dict_in(result).get("content"))
        error = text_in(dict_in(data.get("error")).get("message"))
        if caller is not None:
            caller.aside("tool_result", text or error)
    elif call_id and call_id not in callers and ready:
        given = dict_in(data.get("arguments"))
        name = text_in(data.get("toolName"))
        ready[-1].aside("tool_call", as_json(given) if given else "", name)
        callers[call_id] = ready[-1]
