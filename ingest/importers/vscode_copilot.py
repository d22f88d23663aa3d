"""GitHub Copilot Chat in VS Code: session files, newer sessions as a log of changes, and
*Export Chat*. A request is a question with its answer. Also the traces of Visual Studio."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from backread.domain import Attachment, ParsedConversation, Platform, Role
from backread.errors import UnreadableImport
from ingest.importers.base import Raw, dict_in, dicts_in, list_in, text_in, time_in
from ingest.importers.change_log import is_change_log, replayed
from ingest.importers.drafts import Draft, digest_id, in_a_line
from ingest.importers.envelopes import LINES_KEY, ROWS_KEY
from ingest.importers.visual_studio import chat_of, is_copilot_span, traced

_SILENT = {
    "clearToPreviousToolInvocation",
    "codeblockUri",
    "command",
    "confirmation",
    "elicitation",
    "elicitationSerialized",
    "extensions",
    "mcpServersStarting",
    "prepareToolInvocation",
    "progressMessage",
    "progressTask",
    "progressTaskSerialized",
    "pullRequest",
    "questionCarousel",
    "undoStop",
    "workspaceEdit",
}


class VsCodeCopilotImporter:
    """Guarantees: each question before its answer; pieces of an answer joined as they are shown."""

    slug = Platform.VSCODE_COPILOT.value
    version = 3

    def recognises(self, raw: Any) -> bool:
        """`requests` with `response`s and VS Code's names for both sides; a log that begins
        with such an object; spans that name a chat."""
        if isinstance(raw, dict) and any(map(is_copilot_span, dicts_in(raw.get(ROWS_KEY)))):
            return True
        session = _session(raw) if isinstance(raw, dict) else {}
        requests = session.get("requests")
        if not isinstance(requests, list):
            return False
        own = ("responderUsername", "requesterUsername", "initialLocation")
        return any(key in session for key in own) or any(
            "response" in r for r in dicts_in(requests)
        )

    def identify(self, raw: Raw) -> str:
        """The session's id; *Export Chat* leaves it out, and its first request stands for it."""
        chat = next((chat_of(span) for span in dicts_in(raw.get(ROWS_KEY)) if chat_of(span)), "")
        if chat:
            return chat
        session = _session(raw)
        if text_in(session.get("sessionId")):
            return text_in(session.get("sessionId"))
        for request in dicts_in(session.get("requests")):
            named = text_in(request.get("requestId"))
            asked = (str(request.get("timestamp")), str(request.get("message")))
            return f"request:{named}" if named else f"first:{digest_id(*asked)}"
        return ""

    def parse(self, raw: Raw) -> ParsedConversation:
        external_id = self.identify(raw)
        if not external_id:
            raise UnreadableImport("The session has neither an id nor a request.")
        session = _session(raw)
        news: Counter[str] = Counter()
        spans = dicts_in(raw.get(ROWS_KEY))
        requests = dicts_in(session.get("requests"))
        thread = traced(spans, news) if spans else in_a_line(_drafts(requests, news))
        created_at, updated_at = thread.times
        return ParsedConversation(
            platform=Platform.VSCODE_COPILOT,
            external_id=external_id,
            title=text_in(session.get("customTitle")).strip() or thread.first_words,
            messages=thread.messages,
            shown_line=thread.shown_line,
            created_at=time_in(session.get("creationDate")) or created_at,
            updated_at=time_in(session.get("lastMessageDate")) or updated_at,
            model=thread.model,
            assistant_name=text_in(session.get("responderUsername")) or "GitHub Copilot",
            news=dict(news),
            extra={"app": "Visual Studio"} if spans else {},
        )


VSCODE_COPILOT = VsCodeCopilotImporter()


def _session(raw: Raw) -> dict[str, Any]:
    lines = dicts_in(raw.get(LINES_KEY))
    if lines:
        return dict_in(replayed(lines)) if is_change_log(lines) else {}
    return dict(raw)


def _drafts(requests: list[dict[str, Any]], news: Counter[str]) -> Iterator[Draft]:
    for place, request in enumerate(requests):
        own_id = text_in(request.get("requestId")) or f"index:{place}"
        at = time_in(request.get("timestamp"))
        asked = Draft(f"{own_id}:q", Role.USER, created_at=at)
        message = request.get("message")
        asked.texts.append(text_in(message) or _asked(dict_in(message)))
        for item in dicts_in(dict_in(request.get("variableData")).get("variables")):
            name = text_in(item.get("name")) or "file"
            asked.attachments.append(Attachment(name, text_in(item.get("id"))))
        answer = Draft(f"{own_id}:a", Role.ASSISTANT, created_at=at)
        answer.model = text_in(request.get("modelId")).removeprefix("copilot/")
        for part in list_in(request.get("response")):
            _part(answer, part, news)
        result = dict_in(request.get("result"))
        answer.aside("tool_result", text_in(dict_in(result.get("errorDetails")).get("message")))
        yield from (draft for draft in (asked, answer) if not draft.is_empty)


def _asked(message: Raw) -> str:
    """The question's text, or that of its parts when it has none as a whole."""
    parts = [text_in(part.get("text")) for part in dicts_in(message.get("parts"))]
    return text_in(message.get("text")) or "".join(parts)


def _part(answer: Draft, part: Any, news: Counter[str]) -> None:
    if isinstance(part, str):
        _join(answer, text_in(part))
        return
    held = dict_in(part)
    kind = text_in(held.get("kind"))
    if not kind:
        _join(answer, _words(held.get("value")))
    elif kind == "markdownContent":
        _join(answer, _words(held.get("content")))
    elif kind == "inlineReference":
        _join(answer, _reference(held))
    elif kind == "thinking":
        answer.aside("reasoning", _words(held.get("value")))
    elif kind in ("toolInvocationSerialized", "toolInvocation"):
        said = _words(held.get("pastTenseMessage")) or _words(held.get("invocationMessage"))
        answer.aside("tool_call", said, text_in(held.get("toolId")))
    elif kind in ("textEditGroup", "notebookEditGroup"):
        answer.aside("artifact", _edits(held), text_in(dict_in(held.get("uri")).get("path")))
    elif kind == "warning":
        answer.aside("tool_result", _words(held.get("content")), "warning")
    elif kind not in _SILENT:
        news[f"response:{kind}"] += 1
        answer.aside("unknown", _words(held.get("value")) or _words(held.get("content")), kind)


def _words(value: Any) -> str:
    """Text, a Markdown object, or a list of either."""
    if isinstance(value, list):
        return "\n".join(words for words in map(_words, value) if words)
    return text_in(value) or text_in(dict_in(value).get("value"))


def _join(answer: Draft, text: str) -> None:
    answer.texts = ["".join((*answer.texts, text))]


def _reference(held: Raw) -> str:
    """A file or symbol that stands in a sentence, by its name."""
    name = text_in(held.get("name"))
    reference = dict_in(held.get("inlineReference"))
    place = dict_in(reference.get("location")) or reference
    path = text_in(place.get("path")) or text_in(dict_in(place.get("uri")).get("path"))
    shown = name or text_in(reference.get("name")) or path.rsplit("/", 1)[-1]
    return f"`{shown}`" if shown else ""


def _edits(held: Raw) -> str:
    texts = []
    for group in list_in(held.get("edits")):
        for edit in dicts_in(group) or [dict_in(group)]:
            texts.append(text_in(edit.get("text")))
    return "\n".join(text for text in texts if text)
