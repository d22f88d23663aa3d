"""Chatbot UI: `{version: 4, history, folders, prompts}`. It knows no times."""

from collections import Counter
from typing import Any

from backread.domain import ParsedConversation, Platform
from backread.errors import UnreadableImport
from ingest.importers.base import Raw, dict_in, dicts_in, text_in
from ingest.importers.drafts import Draft, in_a_line
from ingest.importers.envelopes import FOLDER_KEY
from ingest.importers.plain_chats import add_content, role_of

_OWN = ("folderId", "prompt", "temperature")


class ChatbotUiImporter:
    """Guarantees: messages in the order of the chat; no time is made up."""

    slug = Platform.CHATBOTUI.value
    version = 2

    def recognises(self, raw: Any) -> bool:
        """`messages` of `role` and `content` with a `name` and Chatbot UI's settings."""
        if not isinstance(raw, dict) or not {"id", "name", "messages"} <= raw.keys():
            return False
        messages = dicts_in(raw["messages"])
        has_roles = all("role" in each and "content" in each for each in messages)
        return has_roles and "model" in raw and any(key in raw for key in _OWN)

    def identify(self, raw: Raw) -> str:
        value = raw.get("id")
        is_number = isinstance(value, int) and not isinstance(value, bool)
        return str(value) if is_number else text_in(value)

    def parse(self, raw: Raw) -> ParsedConversation:
        external_id = self.identify(raw)
        if not external_id:
            raise UnreadableImport("The conversation has no id.")
        news: Counter[str] = Counter()
        messages = dicts_in(raw.get("messages"))
        thread = in_a_line(_draft(n, message, news) for n, message in enumerate(messages))
        model = raw.get("model")
        prompt = text_in(raw.get("prompt")).strip()
        return ParsedConversation(
            platform=Platform.CHATBOTUI,
            external_id=external_id,
            title=text_in(raw.get("name")).strip() or thread.first_words,
            messages=thread.messages,
            shown_line=thread.shown_line,
            model=text_in(model) or text_in(dict_in(model).get("id")),
            project=text_in(raw.get(FOLDER_KEY)),
            assistant_name="Assistant",
            news=dict(news),
            extra={"system_prompt": prompt} if prompt else {},
        )


CHATBOTUI = ChatbotUiImporter()


def _draft(place: int, message: Raw, news: Counter[str]) -> Draft:
    draft = Draft(f"index:{place}", role_of(message.get("role"), news))
    add_content(draft, message.get("content"), news)
    return draft
