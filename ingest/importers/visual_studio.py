"""GitHub Copilot in Visual Studio, as its traces tell of it: a span for each call of the model,
which repeats all that was said before, and one for each use of a tool.

Names of the attributes: https://opentelemetry.io/docs/specs/semconv/gen-ai/
"""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import orjson

from backread.domain import Role
from ingest.importers.base import Raw, dict_in, dicts_in, list_in, text_in, time_in
from ingest.importers.claude_blocks import as_json
from ingest.importers.drafts import Draft, Thread, digest_id, in_a_line
from ingest.importers.plain_chats import role_of

_CHAT = "gen_ai.conversation.id"
_NANOSECONDS = 10**9
_MOST_DIGITS = 24


def is_copilot_span(span: Any) -> bool:
    return isinstance(span, dict) and "spanId" in span and bool(chat_of(span))


def chat_of(span: Raw) -> str:
    """The id of the chat that a span belongs to."""
    return text_in(attributes(span).get(_CHAT))


def attributes(span: Raw) -> dict[str, Any]:
    """A span's attributes by their names; of each value the one form that it has."""
    found: dict[str, Any] = {}
    for each in dicts_in(span.get("attributes")):
        value = dict_in(each.get("value"))
        found[text_in(each.get("key"))] = next(iter(value.values()), None)
    return found


def traced(spans: list[dict[str, Any]], news: Counter[str]) -> Thread:
    """Everything said, once: what a call of the model got in addition to the call before, and
    what it answered. Tools stand between as they ran."""
    drafts: list[Draft] = []
    asked: list[str] = []  # the person's messages so far, as the last call repeated them
    for span in sorted(spans, key=_start):
        told = attributes(span)
        name = text_in(told.get("gen_ai.operation.name"))
        if name == "chat" or "gen_ai.input.messages" in told:
            given = _messages(told.get("gen_ai.input.messages"), news)
            said = [each for each in given if each.role is Role.USER and each.text]
            texts = [each.text for each in said]
            new = said[len(asked) :] if texts[: len(asked)] == asked else _after(said, asked)
            asked = texts or asked
            answers = _messages(told.get("gen_ai.output.messages"), news)
            for draft in (*new, *(each for each in answers if each.role is Role.ASSISTANT)):
                draft.created_at = _time(span, "startTimeUnixNano")
                if draft.role is Role.ASSISTANT:
                    draft.created_at = _time(span, "endTimeUnixNano") or draft.created_at
                    model = told.get("gen_ai.response.model", told.get("gen_ai.request.model"))
                    draft.model = text_in(model)
                drafts.append(draft)
        elif name == "execute_tool":
            drafts.append(_tool(span, told))
        elif name and name != "invoke_agent":
            news[f"operation:{name}"] += 1
    return in_a_line(draft for draft in _named(drafts) if not draft.is_empty)


def _after(said: list[Draft], asked: list[str]) -> list[Draft]:
    """What is new in a history whose beginning was left out or changed."""
    last = asked[-1] if asked else None
    places = [place for place, each in enumerate(said) if each.text == last]
    return said[places[-1] + 1 :] if places else said


def _named(drafts: list[Draft]) -> list[Draft]:
    """With ids that follow from what was said up to each, as calls have none of their own."""
    link = ""
    for draft in drafts:
        if not draft.external_id:
            asides = "\x00".join(aside.text for aside in draft.asides)
            draft.external_id = digest_id(link, draft.role.value, draft.text, asides)
        link = draft.external_id
    return drafts


def _tool(span: Raw, told: Mapping[str, Any]) -> Draft:
    draft = Draft(text_in(span.get("spanId")), Role.TOOL)
    draft.created_at = _time(span, "startTimeUnixNano")
    name = text_in(told.get("gen_ai.tool.name"))
    draft.aside("tool_call", text_in(told.get("gen_ai.tool.call.arguments")), name)
    draft.aside("tool_result", text_in(told.get("gen_ai.tool.call.result")), name)
    return draft


def _messages(value: Any, news: Counter[str]) -> list[Draft]:
    """The messages in an attribute, which holds them as JSON text."""
    try:
        listed = orjson.loads(value) if isinstance(value, str) else value
    except orjson.JSONDecodeError:
        news["messages:unreadable"] += 1
        return []
    drafts = []
    for message in dicts_in(listed):
        draft = Draft("", role_of(message.get("role"), news))
        for part in list_in(message.get("parts")):
            _add_part(draft, dict_in(part), news)
        if isinstance(message.get("content"), str):
            draft.texts.append(text_in(message.get("content")))
        drafts.append(draft)
    return drafts


def _add_part(draft: Draft, part: Raw, news: Counter[str]) -> None:
    kind = text_in(part.get("type"))
    if kind == "text":
        draft.texts.append(text_in(part.get("content")))
    elif kind in ("reasoning", "thinking"):
        draft.aside("reasoning", text_in(part.get("content")))
    elif kind == "tool_call":
        given = part.get("arguments")
        text = as_json(given) if isinstance(given, dict) else text_in(given)
        draft.aside("tool_call", text, text_in(part.get("name")))
    elif kind != "tool_call_response":  # the tool's own span has it
        news[f"part:{kind or 'none'}"] += 1
        draft.aside("unknown", text_in(part.get("content")), kind)


def _start(span: Raw) -> int:
    return _nanoseconds(span.get("startTimeUnixNano")) or 0


def _time(span: Raw, key: str) -> datetime | None:
    count = _nanoseconds(span.get(key))
    return time_in(count / _NANOSECONDS) if count is not None else None


def _nanoseconds(value: Any) -> int | None:
    """A count, which JSON of this kind writes as text."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value if abs(value) < 10**_MOST_DIGITS else None
    text = text_in(value)
    return int(text) if text.isdecimal() and len(text) <= _MOST_DIGITS else None
