"""LibreChat: one conversation a file; messages flat with parents, or nested as `children`."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from backread.domain import Attachment, ParsedConversation, Platform, Role
from backread.errors import UnreadableImport
from ingest.importers.base import Raw, dict_in, dicts_in, size_in, text_in, time_in
from ingest.importers.drafts import Draft, free_id, in_a_tree
from ingest.importers.plain_chats import add_content

_NO_PARENT = "00000000-0000-0000-0000-000000000000"


class LibreChatImporter:
    """Guarantees: parents before children, whichever way they are written; the shown line ends
    with the newest message, as LibreChat opens a chat."""

    slug = Platform.LIBRECHAT.value
    version = 3

    def recognises(self, raw: Any) -> bool:
        """`conversationId` with `messages` that say who created them."""
        if not isinstance(raw, dict) or "conversationId" not in raw:
            return False
        messages = dicts_in(raw.get("messages"))
        own = ("isCreatedByUser", "messageId", "parentMessageId")
        return any(key in message for message in messages for key in own) or (
            not messages and "endpoint" in raw and isinstance(raw.get("messages"), list)
        )

    def identify(self, raw: Raw) -> str:
        return text_in(raw.get("conversationId"))

    def parse(self, raw: Raw) -> ParsedConversation:
        external_id = self.identify(raw)
        if not external_id:
            raise UnreadableImport("The conversation has no id.")
        news: Counter[str] = Counter()
        drafts = _drafts(raw, news)
        thread = in_a_tree(drafts)
        created_at, updated_at = thread.times
        endpoint = text_in(raw.get("endpoint"))
        return ParsedConversation(
            platform=Platform.LIBRECHAT,
            external_id=external_id,
            title=text_in(raw.get("title")).strip() or thread.first_words,
            messages=thread.messages,
            shown_line=thread.shown_line,
            created_at=time_in(raw.get("createdAt")) or created_at,
            updated_at=time_in(raw.get("updatedAt")) or updated_at,
            model=thread.model or text_in(dict_in(raw.get("options")).get("model")),
            assistant_name="Assistant",
            news=dict(news),
            extra={"endpoint": endpoint} if endpoint else {},
        )


LIBRECHAT = LibreChatImporter()


def _flat(messages: Sequence[Raw]) -> Iterator[tuple[Raw, Raw | None]]:
    """Every message with the one that it is nested in, parents first."""
    waiting: list[tuple[Raw, Raw | None]] = [(each, None) for each in reversed(messages)]
    while waiting:
        message, outer = waiting.pop()
        yield message, outer
        waiting += [(child, message) for child in reversed(dicts_in(message.get("children")))]


def _drafts(raw: Raw, news: Counter[str]) -> list[Draft]:
    taken: set[str] = set()
    drafts: list[Draft] = []
    ids: dict[int, str] = {}
    pairs = list(_flat(dicts_in(raw.get("messages"))))
    has_links = any(outer or message.get("parentMessageId") for message, outer in pairs)
    for place, (message, outer) in enumerate(pairs):
        own_id = free_id(text_in(message.get("messageId")) or f"index:{place}", taken)
        ids[id(message)] = own_id
        draft = _draft(own_id, message, news)
        named = text_in(message.get("parentMessageId"))
        if named and named != _NO_PARENT:
            draft.parent = named
        elif outer is not None:
            draft.parent = ids[id(outer)]
        elif not has_links and drafts:
            draft.parent = drafts[-1].external_id
        drafts.append(draft)
    return drafts


def _draft(own_id: str, message: Raw, news: Counter[str]) -> Draft:
    is_user = message.get("isCreatedByUser") is True or text_in(message.get("sender")) == "user"
    draft = Draft(own_id, Role.USER if is_user else Role.ASSISTANT)
    draft.created_at = time_in(message.get("createdAt"))
    if not is_user:
        draft.author = text_in(message.get("sender"))
        draft.model = text_in(message.get("model"))
    add_content(draft, message.get("content"), news)
    if not draft.text:
        draft.texts.append(text_in(message.get("text")))
    for item in dicts_in(message.get("files")) + dicts_in(message.get("attachments")):
        name = text_in(item.get("filename")) or "file"
        size = size_in(item.get("bytes"))
        mime_type = text_in(item.get("type"))
        own = text_in(item.get("file_id"))
        draft.attachments.append(Attachment(name, own, mime_type, size, text_in(item.get("text"))))
    return draft
