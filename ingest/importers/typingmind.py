"""TypingMind: a full export, a cloud backup, or chats alone."""

from collections import Counter
from typing import Any

from backread.domain import ParsedConversation, Platform
from backread.errors import UnreadableImport
from ingest.importers.base import Raw, dict_in, dicts_in, text_in, time_in
from ingest.importers.drafts import Draft, digest_id, in_a_line
from ingest.importers.envelopes import FOLDER_KEY
from ingest.importers.plain_chats import add_call, add_content, role_of


class TypingMindImporter:
    """Guarantees: messages in the order of the chat, with one id each."""

    slug = Platform.TYPINGMIND.value
    version = 2

    def recognises(self, raw: Any) -> bool:
        """`messages` with TypingMind's own `chatID` or `chatTitle`."""
        if not isinstance(raw, dict) or not isinstance(raw.get("messages"), list):
            return False
        return "chatID" in raw or "chatTitle" in raw

    def identify(self, raw: Raw) -> str:
        for key in ("chatID", "id"):
            if text_in(raw.get(key)):
                return text_in(raw.get(key))
        first = next(iter(dicts_in(raw.get("messages"))), None)
        return f"first:{digest_id(str(raw.get('createdAt')), str(first))}" if first else ""

    def parse(self, raw: Raw) -> ParsedConversation:
        external_id = self.identify(raw)
        if not external_id:
            raise UnreadableImport("The conversation has neither an id nor a message.")
        news: Counter[str] = Counter()
        model = _model(raw)
        messages = dicts_in(raw.get("messages"))
        thread = in_a_line(_draft(n, message, news) for n, message in enumerate(messages))
        created_at, updated_at = thread.times
        return ParsedConversation(
            platform=Platform.TYPINGMIND,
            external_id=external_id,
            title=text_in(raw.get("chatTitle")).strip() or thread.first_words,
            messages=thread.messages,
            shown_line=thread.shown_line,
            created_at=time_in(raw.get("createdAt")) or created_at,
            updated_at=time_in(raw.get("updatedAt")) or updated_at,
            model=thread.model or model,
            project=text_in(raw.get(FOLDER_KEY)),
            assistant_name=_character(raw) or "Assistant",
            is_starred=bool(raw.get("pinned") or raw.get("isPinned")),
            is_archived=raw.get("archived") is True,
            news=dict(news),
        )


TYPINGMIND = TypingMindImporter()


def _character(raw: Raw) -> str:
    """The name of the character (agent) that the chat is with."""
    for key in ("character", "agent"):
        held = dict_in(raw.get(key))
        if held:
            return text_in(held.get("title")) or text_in(held.get("name"))
    return ""


def _model(holder: Raw) -> str:
    value = holder.get("model", holder.get("modelID"))
    return text_in(value) or text_in(dict_in(value).get("id"))


def _draft(place: int, message: Raw, news: Counter[str]) -> Draft:
    own_id = text_in(message.get("uuid")) or f"index:{place}"
    draft = Draft(own_id, role_of(message.get("role"), news))
    draft.created_at = time_in(message.get("createdAt"))
    draft.model = _model(message)
    add_content(draft, message.get("content"), news)
    draft.aside("reasoning", text_in(message.get("reasoning_content")))
    for call in dicts_in(message.get("tool_calls")):
        add_call(draft, call)
    return draft
