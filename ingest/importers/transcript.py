"""Transcripts of no platform in particular: Markdown or plain text whose turns begin with a
speaker, and messages in the shapes of OpenAI, Anthropic and ShareGPT as JSON or as lines.

Asked last, so that a platform's own importer always comes first.
"""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from backread.domain import MessageKind, ParsedConversation, Platform, Role
from backread.errors import UnreadableImport
from ingest.importers.agent_lines import other_lines, plain_messages
from ingest.importers.base import Raw, dict_in, dicts_in, list_in, text_in, time_in
from ingest.importers.drafts import (
    Draft,
    Thread,
    digest_id,
    in_a_line,
    news_of_lines,
    with_work_beside,
)
from ingest.importers.envelopes import LINES_KEY, ROWS_KEY, TEXT_KEY, UNREAD_KEY
from ingest.importers.plain_chats import ROLES, add_call, add_content, role_of
from ingest.importers.transcript_text import is_transcript, read_transcript

_HOMES = (
    (
        Platform.CHATGPT,
        re.compile(r"https://chat(?:gpt|\.openai)\.com/(?:g/[^/\s]+/)?c/([0-9A-Za-z-]{8,})"),
    ),
    (Platform.CLAUDE_AI, re.compile(r"https://claude\.ai/chat/([0-9A-Fa-f-]{36})")),
    (
        Platform.GEMINI_TAKEOUT,
        re.compile(r"https://gemini\.google\.com/app/(?:c/)?([0-9A-Za-z_-]{6,})"),
    ),
    (Platform.GROK, re.compile(r"https://grok\.com/(?:c|chat)/([0-9A-Za-z-]{8,})")),
    (Platform.DEEPSEEK, re.compile(r"https://chat\.deepseek\.com/a/chat/s/([0-9A-Za-z-]{8,})")),
    (Platform.LECHAT, re.compile(r"https://chat\.mistral\.ai/chat/([0-9A-Za-z-]{8,})")),
)
_LISTS = ("messages", "conversations", "conversation")
_IDS = ("id", "conversation_id", "conversationId", "uuid", "session_id", "sessionId")
_TIMES = ("timestamp", "created_at", "createdAt", "create_time", "time", "date")
_TEXTS = ("content", "value", "text")
_ROLE_KEYS = ("role", "from")


class TranscriptImporter:
    """Guarantees: messages in the order of the file, each with an id made of what was said up to
    it. So a file that grew adds messages, and one that was edited gets a branch."""

    slug = Platform.TRANSCRIPT.value
    version = 1

    def recognises(self, raw: Any) -> bool:
        """Text with turns of a person and of an assistant; messages of which each has a known
        role and something said, on both sides."""
        if not isinstance(raw, dict):
            return False
        if TEXT_KEY in raw:
            return isinstance(raw[TEXT_KEY], str) and is_transcript(raw[TEXT_KEY])
        return _are_messages(_messages(raw)) and "mapping" not in raw

    def platform_of(self, raw: Raw) -> str:
        """The platform whose chat it says it is a copy of, by its address."""
        return _home(raw)[0].value

    def identify(self, raw: Raw) -> str:
        """The id of the chat that it is a copy of. Else one of the id that the file gives, if
        any, and of the beginning: the first words with their time, or with the first answer
        where there is no time. Never of its name."""
        if _home(raw)[1]:
            return _home(raw)[1]
        own_id, drafts = _read(raw, Counter())
        said = [draft for draft in drafts if draft.role in (Role.USER, Role.ASSISTANT)]
        if not said:
            return ""
        first = said[0]
        if own_id or first.created_at:
            return digest_id(own_id, str(first.created_at), first.text)
        return digest_id("", first.text, said[1].text if len(said) > 1 else "")

    def parse(self, raw: Raw) -> ParsedConversation:
        external_id = self.identify(raw)
        if not external_id:
            raise UnreadableImport("The transcript has no messages.")
        news: Counter[str] = Counter()
        news_of_lines(list_in(raw.get(UNREAD_KEY)), news)
        _, drafts = _read(raw, news)
        about = _about(raw)
        platform, chat_id = _home(raw)
        if chat_id:
            drafts = list(with_work_beside(drafts))
            for draft in drafts:
                draft.has_weak_id = True
        thread = in_a_line(_chained(drafts))
        started, ended = thread.times
        created_at = _first_time(about) or started
        return ParsedConversation(
            platform=platform,
            external_id=external_id,
            title=text_in(about.get("title")).strip() or thread.first_words,
            messages=thread.messages,
            shown_line=thread.shown_line,
            created_at=created_at,
            updated_at=ended or time_in(about.get("updated_at", about.get("updated"))),
            url=_address(about),
            model=thread.model or text_in(about.get("model")),
            assistant_name=_assistant(thread),
            news=dict(news),
        )


TRANSCRIPT = TranscriptImporter()


def _home(raw: Raw) -> tuple[Platform, str]:
    """The platform and the chat that the file's address names; ("transcript", "") without one."""
    address = _address(_about(raw))
    for platform, pattern in _HOMES:
        found = pattern.match(address)
        if found:
            return platform, found[1]
    return Platform.TRANSCRIPT, ""


def is_plain_message(value: Any) -> bool:
    """Whether it is a message by itself: somebody in some role says something."""
    if not isinstance(value, dict) or _role(value) is None:
        return False
    return any(isinstance(value.get(key), str | list) for key in _TEXTS) or (
        "content" in value and ("tool_calls" in value or "function_call" in value)
    )


def _inner(raw: Raw) -> Raw:
    """The object that holds the messages: some tools put one more around it."""
    for key in ("session", "chat"):
        if isinstance(raw.get(key), dict) and not any(each in raw for each in _LISTS):
            return dict_in(raw[key])
    return raw


def _messages(raw: Raw) -> list[Any]:
    raw = _inner(raw)
    if isinstance(raw.get(LINES_KEY), list):
        return plain_messages(list_in(raw[LINES_KEY]))
    for key in (ROWS_KEY, *_LISTS):
        if isinstance(raw.get(key), list):
            return list_in(raw[key])
    return []


def _are_messages(values: list[Any]) -> bool:
    if not values or not all(map(is_plain_message, values)):
        return False
    roles = {ROLES.get(str(_role(value)).lower()) for value in values}
    return {Role.USER, Role.ASSISTANT} <= roles


def _role(message: Raw) -> str | None:
    return next((message[key] for key in _ROLE_KEYS if isinstance(message.get(key), str)), None)


def _read(raw: Raw, news: Counter[str]) -> tuple[str, list[Draft]]:
    """The file's own id for the chat, and its messages."""
    if TEXT_KEY in raw:
        page = read_transcript(text_in(raw.get(TEXT_KEY)))
        return text_in(page.about.get("id")), page.drafts
    holder = _inner(raw)
    ids = (holder[key] for key in _IDS if isinstance(holder.get(key), str | int))
    own_id = str(next(ids, ""))
    return own_id, [draft for draft in _said(raw, news) if not draft.is_empty]


def _about(raw: Raw) -> dict[str, Any]:
    """What is known of the conversation as a whole."""
    if TEXT_KEY in raw:
        return read_transcript(text_in(raw.get(TEXT_KEY))).about
    raw = _inner(raw)
    keys = ("title", "model", "url", "updated_at", *_TIMES)
    about = {key: raw[key] for key in keys if key in raw}
    about.setdefault("title", raw.get("name", raw.get("topic")))
    return about | {
        key: value for key, value in dict_in(raw.get("metadata")).items() if key in keys
    }


def _said(raw: Raw, news: Counter[str]) -> Iterator[Draft]:
    news.update(other_lines(list_in(raw.get(LINES_KEY))))
    prompt = _inner(raw).get("system", _inner(raw).get("system_prompt"))
    if prompt:
        draft = Draft("", Role.SYSTEM)
        add_content(draft, prompt, news)
        yield draft
    for message in dicts_in(_messages(raw)):
        draft = Draft("", role_of(_role(message), news))
        draft.created_at = _first_time(message)
        draft.author = text_in(message.get("name"))
        if draft.role is Role.ASSISTANT:
            draft.model = text_in(message.get("model"))
        add_content(draft, next((message[key] for key in _TEXTS if key in message), None), news)
        for key in ("reasoning_content", "reasoning", "thinking"):
            draft.aside("reasoning", text_in(message.get(key)))
        calls = [*dicts_in(message.get("tool_calls")), dict_in(message.get("function_call"))]
        for call in filter(None, calls):
            add_call(draft, call)
        yield draft


def _chained(drafts: list[Draft]) -> Iterator[Draft]:
    """Gives each message an id that follows from all that was said up to it."""
    link = ""
    for draft in drafts:
        asides = "\x00".join(aside.text for aside in draft.asides)
        files = "\x00".join(file.name for file in draft.attachments)
        draft.external_id = link = digest_id(link, draft.role.value, draft.text, asides, files)
        yield draft


def _first_time(holder: Raw) -> datetime | None:
    return next((found for key in _TIMES if (found := time_in(holder.get(key)))), None)


def _address(about: Raw) -> str:
    for key in ("url", "source", "link"):
        if text_in(about.get(key)).startswith(("https://", "http://")):
            return text_in(about.get(key)).strip()
    return ""


def _assistant(thread: Thread) -> str:
    """The name by which the other side goes, if it is one and the same."""
    names = {
        message.author
        for message in thread.messages
        if message.role is Role.ASSISTANT and message.kind is MessageKind.DIALOGUE
    }
    return next(iter(names)) if len(names) == 1 and names != {""} else "Assistant"
