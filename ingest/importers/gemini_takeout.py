"""Gemini's web chats from Google Takeout: *My Activity*, as JSON or as a page.

A row is one prompt with its answer. Rows that link to the same chat are one conversation; a row
without a link stays an exchange by itself, as no thread can be told for certain.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from backread.domain import Attachment, MessageKind, ParsedConversation, Platform, Role
from backread.errors import UnreadableImport
from ingest.importers.activity_rows import Row, chat_id, is_gemini, is_page_of_gemini, rows_in
from ingest.importers.base import Raw, dicts_in, list_in, text_in
from ingest.importers.drafts import Draft, digest_id, in_a_line
from ingest.importers.envelopes import PAGE_KEY, ROWS_KEY


class GeminiTakeoutImporter:
    """Guarantees: rows oldest first, each prompt before its answer; the JSON and the page form of
    one activity come to the same conversations and messages."""

    slug = Platform.GEMINI_TAKEOUT.value
    version = 2

    def recognises(self, raw: Any) -> bool:
        """Rows of one chat, brought together, of which one is Gemini's."""
        if not isinstance(raw, dict):
            return False
        if any(is_gemini(row) for row in dicts_in(raw.get(ROWS_KEY))):
            return True
        cells = list_in(raw.get(PAGE_KEY))
        return any(isinstance(cell, str) and is_page_of_gemini(cell) for cell in cells)

    def identify(self, raw: Raw) -> str:
        """The chat's id; of a row without one its time and prompt."""
        for row in dicts_in(raw.get(ROWS_KEY)):
            if chat_id(text_in(row.get("titleUrl"))):
                return chat_id(text_in(row.get("titleUrl")))
        for cell in list_in(raw.get(PAGE_KEY)):
            if isinstance(cell, str) and chat_id(cell):
                return chat_id(cell)
        rows = _rows(raw)
        return f"row:{_row_id(rows[0])}" if rows else ""

    def parse(self, raw: Raw) -> ParsedConversation:
        external_id = self.identify(raw)
        if not external_id:
            raise UnreadableImport("The activity has no rows.")
        news: Counter[str] = Counter()
        thread = in_a_line(_drafts(_rows(raw), news))
        if all(message.kind is not MessageKind.DIALOGUE for message in thread.messages):
            thread = in_a_line(())  # something that was done, not said
        created_at, updated_at = thread.times
        has_address = not external_id.startswith("row:")
        return ParsedConversation(
            platform=Platform.GEMINI_TAKEOUT,
            external_id=external_id,
            title=thread.first_words,
            messages=thread.messages,
            shown_line=thread.shown_line,
            created_at=created_at,
            updated_at=updated_at,
            url=f"https://gemini.google.com/app/{external_id}" if has_address else "",
            assistant_name="Gemini",
            news=dict(news),
        )


GEMINI_TAKEOUT = GeminiTakeoutImporter()


def _rows(raw: Raw) -> list[Row]:
    """Oldest first. Times are not unique, so the file's order, turned round, decides first."""
    is_page = PAGE_KEY in raw
    rows = rows_in(raw.get(PAGE_KEY if is_page else ROWS_KEY), is_page=is_page)
    rows.reverse()
    if all(row.at for row in rows):
        rows.sort(key=lambda row: row.at.timestamp() if row.at else 0)
    return rows


def _row_id(row: Row) -> str:
    """The same for both forms: pages show whole seconds."""
    moment = row.at.replace(microsecond=0).isoformat() if row.at else ""
    return digest_id(moment, " ".join(row.prompt.split()))


def _drafts(rows: list[Row], news: Counter[str]) -> Iterator[Draft]:
    for row in rows:
        if row.is_date_unread:
            news["date:not understood"] += 1
        if not row.has_known_verb:
            news["row:unknown verb"] += 1
        own_id = _row_id(row)
        asked = Draft(f"{own_id}:q", Role.USER, texts=[row.prompt], created_at=row.at)
        asked.attachments = [Attachment(name) for name in row.files]
        if not row.is_chat:
            asked.kind = MessageKind.HIDDEN
        if not asked.is_empty:
            yield asked
        answer = Draft(f"{own_id}:a", Role.ASSISTANT, texts=[row.answer], created_at=row.at)
        for url, name in row.links.items():
            answer.cite(url, name)
        if not answer.is_empty:
            yield answer
