"""The line format of SillyTavern chats, which other tools write as well, and its dates."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from backread.domain import Attachment, MessageKind, Role
from ingest.importers.base import Raw, dict_in, dicts_in, list_in, size_in, text_in, time_in
from ingest.importers.drafts import Draft, Thread, digest_id, in_a_tree

_OWN_DATE = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})\s*@\s*(\d{1,2})h\s*(\d{1,2})m\s*(\d{1,2})s(?:\s*(\d{1,3})ms)?"
)
_SPOKEN_DATES = ("%B %d, %Y %I:%M%p", "%B %d, %Y %I:%M:%S%p", "%b %d, %Y %I:%M%p")


def is_tavern_message(line: Any) -> bool:
    return isinstance(line, dict) and "mes" in line and ("is_user" in line or "name" in line)


def tavern_time(value: Any) -> datetime | None:
    """All forms seen: epoch in seconds or milliseconds, ISO, `2024-9-28@14h 03m 22s 118ms` and
    "September 28, 2024 2:03pm". They name no zone; read as UTC, which is at most a day off."""
    if not isinstance(value, str):
        return time_in(value)
    text = " ".join(value.split())
    found = _OWN_DATE.search(text)
    try:
        if found:
            *parts, milliseconds = found.groups()
            year, month, day, hour, minute, second = map(int, parts)
            micro = int(milliseconds or 0) * 1000
            return datetime(year, month, day, hour, minute, second, micro, tzinfo=UTC)
    except ValueError:
        return None
    for form in _SPOKEN_DATES:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return time_in(text)


def tavern_id(lines: Sequence[Raw]) -> str:
    """Of the beginning, which stays as a chat grows."""
    header = next((line for line in lines if "mes" not in line), {})
    first = next((line for line in lines if is_tavern_message(line)), None)
    if first is None:
        return ""
    named = text_in(dict_in(header.get("chat_metadata")).get("integrity"))
    if named:
        return named
    parts = (header.get("character_name"), header.get("create_date"), first.get("send_date"))
    return f"first:{digest_id(*map(str, parts), str(first.get('mes')))}"


def tavern_thread(lines: Sequence[Raw], news: Counter[str]) -> Thread:
    """`mes` is what is shown; the other `swipes` are answers that were not chosen, and so other
    branches."""
    drafts: list[Draft] = []
    parent: str | None = None
    for place, line in enumerate(each for each in lines if is_tavern_message(each)):
        draft = _draft(f"index:{place}", parent, line)
        drafts.append(draft)
        shown = text_in(line.get("mes"))
        for number, swipe in enumerate(list_in(line.get("swipes"))):
            text = text_in(swipe)
            if text.strip() and text != shown:
                other = Draft(f"index:{place}:{number}", draft.role, parent, [text])
                other.author = draft.author
                _about_swipe(other, list_in(line.get("swipe_info")), number)
                drafts.append(other)
        parent = draft.external_id
    known = sum(map(is_tavern_message, lines))
    if len(lines) - known > 1:
        news["line:none"] += len(lines) - known - 1
    return in_a_tree(drafts, leaf=parent)


def _about_swipe(draft: Draft, infos: list[Any], number: int) -> None:
    """When and by what a swipe was written, where the line keeps that."""
    info = dict_in(infos[number]) if number < len(infos) else {}
    extra = dict_in(info.get("extra"))
    draft.created_at = tavern_time(info.get("send_date"))
    draft.model = text_in(extra.get("model"))
    draft.aside("reasoning", text_in(extra.get("reasoning")))


def _draft(own_id: str, parent: str | None, line: Raw) -> Draft:
    is_user = line.get("is_user") is True
    draft = Draft(own_id, Role.USER if is_user else Role.ASSISTANT, parent)
    draft.created_at = tavern_time(line.get("send_date"))
    draft.author = text_in(line.get("name"))
    message = line.get("mes")
    draft.texts.append(text_in(message) or text_in(dict_in(message).get("message")))
    extra = dict_in(line.get("extra"))
    draft.aside("reasoning", text_in(extra.get("reasoning")))
    draft.model = "" if is_user else text_in(extra.get("model"))
    if text_in(extra.get("image")):
        name = text_in(extra.get("image")).rsplit("/", 1)[-1]
        # Of a picture that was made, the title is its prompt.
        draft.attachments.append(Attachment(name, text=text_in(extra.get("title"))))
    for file in [dict_in(extra.get("file")), *dicts_in(extra.get("files"))]:
        if text_in(file.get("name")):
            size, text = size_in(file.get("size")), text_in(file.get("text"))
            draft.attachments.append(Attachment(text_in(file.get("name")), "", "", size, text))
    if line.get("is_system") is True:
        draft.kind = MessageKind.HIDDEN
    return draft


def pair_drafts(pairs: Any) -> Iterator[Draft]:
    """The format of text-generation-webui: pairs of what was said and what was answered."""
    for place, pair in enumerate(list_in(pairs)):
        for role, text in zip((Role.USER, Role.ASSISTANT), list_in(pair), strict=False):
            if text_in(text).strip() and not text_in(text).startswith("<|BEGIN-VISIBLE-CHAT|>"):
                yield Draft(f"{place}:{role.value}", role, texts=[text_in(text)])
