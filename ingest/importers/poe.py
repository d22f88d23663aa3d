"""Poe: shared chats as their page holds them, saved message lists, and a bot's transcript. There
is no official export."""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Any

from backread.domain import Attachment, ParsedConversation, Platform, Role
from backread.errors import UnreadableImport
from ingest.importers.base import Raw, dict_in, dicts_in, text_in, time_in
from ingest.importers.drafts import Draft, digest_id, in_a_line
from ingest.importers.envelopes import TEXT_KEY
from ingest.normalise import clean

_SPEAKER = re.compile(r"^([^\s:#>*`-][^:\n]{0,60}):[ \t]*$", re.MULTILINE)
_RULE = re.compile(r"^---[ \t]*$", re.MULTILINE)
_MICROSECONDS_FROM = 10**14  # as milliseconds the year 5138
_IMAGE = re.compile(r"^\[img\]: \S+\s*$", re.MULTILINE)


class PoeImporter:
    """Guarantees: messages in the order of the page."""

    slug = Platform.POE.value
    version = 1

    def recognises(self, raw: Any) -> bool:
        """A page's data with a `chatShare`; messages of `user` and `bot`; a transcript whose
        parts begin with a speaker and are parted by rules."""
        if not isinstance(raw, dict):
            return False
        if TEXT_KEY in raw:
            return _is_transcript(raw[TEXT_KEY])
        if _share(raw):
            return True
        roles = [message.get("role") for message in dicts_in(raw.get("messages"))]
        has_only = all(role in ("user", "bot", "system") for role in roles)
        return has_only and "bot" in roles and "mapping" not in raw

    def identify(self, raw: Raw) -> str:
        """The share's code; what has none goes by its beginning, question and answer."""
        code = text_in(_share(raw).get("shareCode"))
        if code:
            return code
        first = [draft.text for draft in islice(_drafts(raw, Counter()), 2)]
        return f"first:{digest_id(*first)}" if first else ""

    def parse(self, raw: Raw) -> ParsedConversation:
        external_id = self.identify(raw)
        if not external_id:
            raise UnreadableImport("The chat has no messages.")
        share = _share(raw)
        news: Counter[str] = Counter()
        thread = in_a_line(_drafts(raw, news))
        created_at, updated_at = thread.times
        code = text_in(share.get("shareCode"))
        title = text_in(share.get("chatTitle")) or text_in(share.get("title"))
        return ParsedConversation(
            platform=Platform.POE,
            external_id=external_id,
            title=title.strip() or thread.first_words,
            messages=thread.messages,
            shown_line=thread.shown_line,
            created_at=created_at,
            updated_at=updated_at,
            url=f"https://poe.com/s/{code}" if code else "",
            model=thread.model,
            assistant_name="Poe",
            news=dict(news),
        )


POE = PoeImporter()


def _share(raw: Raw) -> dict[str, Any]:
    page = dict_in(dict_in(raw.get("props")).get("pageProps"))
    query = dict_in(dict_in(page.get("data")).get("mainQuery"))
    return dict_in(query.get("chatShare")) or dict_in(raw.get("chatShare"))


def _drafts(raw: Raw, news: Counter[str]) -> Iterator[Draft]:
    if TEXT_KEY in raw:
        yield from _spoken(text_in(raw.get(TEXT_KEY)))
        return
    share = _share(raw) or raw
    edges = dicts_in(dict_in(share.get("messagesConnection")).get("edges"))
    messages = [dict_in(edge.get("node")) for edge in edges] or dicts_in(share.get("messages"))
    for place, message in enumerate(messages):
        draft = _draft(place, message)
        if draft.is_empty:
            news["message:empty"] += 1
        else:
            yield draft


def _draft(place: int, message: Raw) -> Draft:
    author = text_in(message.get("author")) or text_in(message.get("role"))
    is_human = author in ("human", "user")
    role = Role.USER if is_human else Role.SYSTEM if author == "system" else Role.ASSISTANT
    number = message.get("messageId", message.get("id"))
    draft = Draft(str(number) if number else f"index:{place}", role)
    draft.author = draft.model = "" if role is not Role.ASSISTANT or author == "bot" else author
    draft.created_at = _moment(message.get("creationTime"))
    text = text_in(message.get("text")) or text_in(message.get("content"))
    for item in dicts_in(message.get("attachments")):
        held = dict_in(item.get("file"))
        url = (text_in(item.get("url")) or text_in(held.get("url")))[:400]
        name = text_in(item.get("name")) or url.split("?", 1)[0].rsplit("/", 1)[-1]
        draft.attachments.append(Attachment(name or "file", url, text_in(held.get("mimeType"))))
    draft.texts.append(_IMAGE.sub("", text) if draft.attachments else text)
    return draft


def _moment(value: Any) -> datetime | None:
    """Poe counts microseconds."""
    if isinstance(value, int | float) and value > _MICROSECONDS_FROM:
        return time_in(value / 1_000_000)
    return time_in(value)


def _is_transcript(text: Any) -> bool:
    if not isinstance(text, str):
        return False
    first = _SPEAKER.search(text.lstrip("\ufeff\n"))
    is_first = first is not None and first.start() == 0 and first[1] in ("User", "Human")
    return is_first and len(_parts(text)) > 1


def _parts(text: str) -> list[tuple[str, str]]:
    """Speaker and words; a rule that no speaker follows is part of the words."""
    parts: list[tuple[str, str]] = []
    for piece in _RULE.split(clean(text)):
        speaker = _SPEAKER.match(piece.lstrip("\n"))
        if speaker:
            parts.append((speaker[1].strip(), piece.lstrip("\n")[speaker.end() :].strip()))
        elif parts:
            parts[-1] = (parts[-1][0], f"{parts[-1][1]}\n\n---\n{piece}".strip())
    return parts


def _spoken(text: str) -> Iterator[Draft]:
    for place, (speaker, words) in enumerate(_parts(text)):
        is_human = speaker in ("User", "Human")
        draft = Draft(f"index:{place}", Role.USER if is_human else Role.ASSISTANT, texts=[words])
        draft.author = draft.model = "" if is_human else speaker
        if not draft.is_empty:
            yield draft
