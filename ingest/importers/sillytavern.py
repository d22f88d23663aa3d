"""SillyTavern: chats as lines, and the chats of other tools that it takes in (text-generation-
webui, Agnai, Chub)."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from backread.domain import ParsedConversation, Platform, Role
from backread.errors import UnreadableImport
from ingest.importers.base import Raw, dicts_in, list_in, text_in, time_in
from ingest.importers.drafts import Draft, Thread, digest_id, in_a_line, news_of_lines
from ingest.importers.envelopes import LINES_KEY, UNREAD_KEY
from ingest.importers.tavern import (
    is_tavern_message,
    pair_drafts,
    tavern_id,
    tavern_thread,
    tavern_time,
)


class SillyTavernImporter:
    """Guarantees: what was shown is the line; answers that were swiped away are branches."""

    slug = Platform.SILLYTAVERN.value
    version = 3

    def recognises(self, raw: Any) -> bool:
        """Lines with `mes`; pairs under `data_visible`; Agnai's messages with `msg`."""
        if not isinstance(raw, dict):
            return False
        if any(map(is_tavern_message, dicts_in(raw.get(LINES_KEY)))):
            return True
        if isinstance(raw.get("data_visible"), list):
            return True
        return any("msg" in each for each in dicts_in(raw.get("messages")))

    def identify(self, raw: Raw) -> str:
        """Chats have no ids: the beginning of one stays as it grows."""
        if LINES_KEY in raw:
            return tavern_id(dicts_in(raw.get(LINES_KEY)))
        if text_in(raw.get("_id")):
            return text_in(raw.get("_id"))
        # Two, because all chats with a character begin with the same greeting.
        first = [*list_in(raw.get("data_visible")), *dicts_in(raw.get("messages"))][:2]
        return f"first:{digest_id(*map(str, first))}" if first else ""

    def parse(self, raw: Raw) -> ParsedConversation:
        external_id = self.identify(raw)
        if not external_id:
            raise UnreadableImport("The chat has no messages.")
        news: Counter[str] = Counter()
        news_of_lines(list_in(raw.get(UNREAD_KEY)), news)
        lines = dicts_in(raw.get(LINES_KEY))
        header = lines[0] if lines and not is_tavern_message(lines[0]) else {}
        thread = _thread(raw, lines, news)
        character = text_in(header.get("character_name")) or _character(thread)
        created_at, updated_at = thread.times
        return ParsedConversation(
            platform=Platform.SILLYTAVERN,
            external_id=external_id,
            title=character or thread.first_words,
            messages=thread.messages,
            shown_line=thread.shown_line,
            created_at=tavern_time(header.get("create_date")) or created_at,
            updated_at=updated_at,
            model=thread.model,
            assistant_name=character,
            news=dict(news),
        )


SILLYTAVERN = SillyTavernImporter()


def _thread(raw: Raw, lines: list[dict[str, Any]], news: Counter[str]) -> Thread:
    if lines:
        return tavern_thread(lines, news)
    if isinstance(raw.get("data_visible"), list):
        return in_a_line(pair_drafts(raw.get("data_visible")))
    return in_a_line(_agnai(raw))


def _character(thread: Thread) -> str:
    authors = [m.author for m in thread.messages if m.role is Role.ASSISTANT and m.author]
    return authors[0] if authors else ""


def _agnai(raw: Raw) -> Iterator[Draft]:
    for place, message in enumerate(dicts_in(raw.get("messages"))):
        role = Role.USER if message.get("userId") else Role.ASSISTANT
        draft = Draft(text_in(message.get("_id")) or f"index:{place}", role)
        draft.texts.append(text_in(message.get("msg")))
        draft.author = text_in(message.get("handle")) or text_in(message.get("name"))
        draft.created_at = time_in(message.get("createdAt"))
        yield draft
