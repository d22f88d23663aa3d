"""Le Chat (Mistral): a list of messages per chat, in no order, without a title."""

from collections import Counter
from typing import Any

from backread.domain import (
    ArtifactCommand,
    ArtifactStep,
    Aside,
    Attachment,
    ParsedConversation,
    Platform,
)
from backread.errors import UnreadableImport
from ingest.importers.base import Raw, dict_in, dicts_in, list_in, size_in, text_in, time_in
from ingest.importers.claude_blocks import as_json
from ingest.importers.drafts import Draft, in_a_line
from ingest.importers.envelopes import ROWS_KEY
from ingest.importers.plain_chats import role_of


class LeChatImporter:
    """Guarantees: messages in the order of their times; each chunk's text once."""

    slug = Platform.LECHAT.value
    version = 3

    def recognises(self, raw: Any) -> bool:
        """Messages of one chat, brought together, with `chatId` and chunks."""
        if not isinstance(raw, dict):
            return False
        return any(is_lechat_message(row) for row in dicts_in(raw.get(ROWS_KEY)))

    def identify(self, raw: Raw) -> str:
        for row in dicts_in(raw.get(ROWS_KEY)):
            if text_in(row.get("chatId")):
                return text_in(row.get("chatId"))
        return ""

    def parse(self, raw: Raw) -> ParsedConversation:
        external_id = self.identify(raw)
        if not external_id:
            raise UnreadableImport("The messages do not say which chat they belong to.")
        news: Counter[str] = Counter()
        messages = dicts_in(raw.get(ROWS_KEY))
        messages.sort(key=_moment)
        thread = in_a_line(_draft(message, news) for message in messages)
        created_at, updated_at = thread.times
        return ParsedConversation(
            platform=Platform.LECHAT,
            external_id=external_id,
            title=thread.first_words,
            messages=thread.messages,
            shown_line=thread.shown_line,
            created_at=created_at,
            updated_at=updated_at,
            url=f"https://chat.mistral.ai/chat/{external_id}",
            model=thread.model,
            assistant_name="Le Chat",
            news=dict(news),
        )


LECHAT = LeChatImporter()


def is_lechat_message(message: Any) -> bool:
    if not isinstance(message, dict) or "chatId" not in message:
        return False
    return "role" in message and ("contentChunks" in message or "content" in message)


def _moment(message: Raw) -> tuple[float, float]:
    """By time; of equals a question before its answer."""
    at = time_in(message.get("createdAt"))
    return (at.timestamp() if at else 0.0, 0 if message.get("role") == "user" else 1)


def _draft(message: Raw, news: Counter[str]) -> Draft:
    draft = Draft(text_in(message.get("id")) or "message", role_of(message.get("role"), news))
    draft.created_at = time_in(message.get("createdAt"))
    draft.model = text_in(message.get("model"))
    for chunk in dicts_in(message.get("contentChunks")):
        _chunk(draft, chunk, news)
    if not draft.text:
        draft.texts.append(text_in(message.get("content")))
    for item in list_in(message.get("files")):
        holder = dict_in(item)
        name = text_in(item) or text_in(holder.get("name")) or "file"
        size = size_in(holder.get("size"))
        draft.attachments.append(Attachment(name, text_in(holder.get("id")), "", size))
    return draft


def _element(draft: Draft, chunk: Raw) -> None:
    """A document that Le Chat shows in a frame of its own; written anew, it keeps its id."""
    title = text_in(chunk.get("title")) or text_in(chunk.get("name"))
    text = text_in(chunk.get("content"))
    step = ArtifactStep(
        text_in(chunk.get("id")) or title,
        ArtifactCommand.CREATE,
        title,
        text_in(chunk.get("elementType")),
        text_in(chunk.get("language")),
    )
    if text.strip():
        draft.asides.append(Aside("artifact", text, title, step))


def _chunk(draft: Draft, chunk: Raw, news: Counter[str]) -> None:
    kind = text_in(chunk.get("type"))
    if kind == "text":
        # Chunks are pieces of one text, cut where a reference stands.
        piece = text_in(chunk.get("text"))
        draft.texts = ["".join((*draft.texts, piece))]
    elif kind == "tool_call":
        given = chunk.get("arguments", chunk.get("publicArguments", chunk.get("input")))
        text = as_json(given) if isinstance(given, dict) else text_in(given)
        draft.aside("tool_call", text, text_in(chunk.get("name")))
    elif kind == "image_url":
        url = chunk.get("imageUrl", chunk.get("image_url"))
        address = text_in(url) or text_in(dict_in(url).get("url"))
        draft.attachments.append(Attachment("image", address if address.startswith("http") else ""))
    elif kind == "thinking":
        parts = dicts_in(chunk.get("thinking"))
        text = text_in(chunk.get("thinking"))
        draft.aside("reasoning", text or "".join(text_in(part.get("text")) for part in parts))
    elif kind == "custom_element":
        _element(draft, chunk)
    elif kind != "reference":
        news[f"chunk:{kind or 'none'}"] += 1
        draft.aside("unknown", text_in(chunk.get("text")), kind)
