"""Microsoft Copilot: the CSV files of the privacy dashboard.

Rows are newest first, and a question has the same time as its answer, so they are turned round
and never sorted. A chat is known by its name alone. Some files hold only prompts.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from backread.domain import ParsedConversation, Platform, Role
from backread.errors import UnreadableImport
from ingest.importers.base import Raw, dicts_in, text_in, time_in
from ingest.importers.drafts import Draft, digest_id, in_a_line
from ingest.importers.envelopes import ROWS_KEY

_CHATS = ("Conversation", "ChatName")
_TIMES = ("Time", "CreatedAt", "Timestamp")
_TEXTS = ("Message", "MessageContent", "Prompt")
_AUTHORS = {
    "ai": Role.ASSISTANT,
    "copilot": Role.ASSISTANT,
    "assistant": Role.ASSISTANT,
    "bot": Role.ASSISTANT,
    "human": Role.USER,
    "user": Role.USER,
}


class MsCopilotImporter:
    """Guarantees: a chat's rows oldest first, a question before its answer."""

    slug = Platform.MS_COPILOT.value
    version = 1

    def recognises(self, raw: Any) -> bool:
        """Rows of one chat, brought together, with Copilot's columns."""
        rows = dicts_in(raw.get(ROWS_KEY)) if isinstance(raw, dict) else []
        return any(is_copilot_row(row) for row in rows)

    def identify(self, raw: Raw) -> str:
        rows = dicts_in(raw.get(ROWS_KEY))
        if not rows:
            return ""
        name = _cell(rows[0], _CHATS).strip()
        if name:
            return f"name:{digest_id(name)}"
        return f"row:{digest_id(_cell(rows[-1], _TIMES), _cell(rows[-1], _TEXTS))}"

    def parse(self, raw: Raw) -> ParsedConversation:
        external_id = self.identify(raw)
        if not external_id:
            raise UnreadableImport("The chat has no rows.")
        rows = dicts_in(raw.get(ROWS_KEY))
        news: Counter[str] = Counter()
        thread = in_a_line(_drafts(rows, news))
        created_at, updated_at = thread.times
        app = text_in(rows[0].get("ClientApp")).strip()
        return ParsedConversation(
            platform=Platform.MS_COPILOT,
            external_id=external_id,
            title=_cell(rows[0], _CHATS).strip() or thread.first_words,
            messages=thread.messages,
            shown_line=thread.shown_line,
            created_at=created_at,
            updated_at=updated_at,
            assistant_name="Copilot",
            news=dict(news),
            extra={"app": app} if app else {},
        )


MS_COPILOT = MsCopilotImporter()


def is_copilot_row(row: Mapping[str, Any]) -> bool:
    has_chat = any(key in row for key in _CHATS) and "Author" in row
    has_prompt = "ClientApp" in row and "Prompt" in row
    has_text = any(key in row for key in _TEXTS) and any(key in row for key in _TIMES)
    return has_text and (has_chat or has_prompt)


def chat_of(row: Mapping[str, str]) -> str:
    """What rows of one chat have in common: its name, else the time of question and answer."""
    name = _cell(row, _CHATS).strip()
    if name:
        return f"name:{name}"
    return f"time:{_cell(row, _TIMES)}" if "Author" in row else ""


def _cell(row: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((text_in(row[name]) for name in names if text_in(row.get(name))), "")


def _drafts(rows: list[dict[str, Any]], news: Counter[str]) -> Iterator[Draft]:
    for row in reversed(rows):
        text, at = _cell(row, _TEXTS), _cell(row, _TIMES)
        author = text_in(row.get("Author")).strip().lower() if "Author" in row else "user"
        if author not in _AUTHORS:
            news[f"author:{author}"] += 1
        role = _AUTHORS.get(author, Role.SYSTEM)
        draft = Draft(digest_id(at, author, text), role, texts=[text], created_at=time_in(at))
        if not draft.is_empty:
            yield draft
