"""The overview as it is handed out.

What is told is true of the conversations that are there: once one is gone that the portrait was
made from, the portrait is made again before anybody sees it.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from backread.domain import Principal
from backread.kernel import Kernel
from backread.store.engine import ReadSession
from backread.store.models import Conversation, Overview
from backread.store.repositories import overview as store
from recall.links import reader_link
from recall.overview.asking import enqueue_overview
from recall.overview.digests import digests_made_with
from recall.overview.inventory import take_inventory
from recall.overview.results import (
    ChatHistoryOverview,
    Cited,
    MonthlyConversations,
    OwnWords,
    PortraitSentence,
    PortraitView,
    Recurring,
    StyleTrait,
    Topic,
)
from recall.overview.updating import overview_made_with, portray, refresh_overview

SOON = 32  # so many conversations are read while somebody waits


def chat_history_overview(kernel: Kernel, principal: Principal) -> ChatHistoryOverview:
    """Portrait and inventory. What is new is taken in at once when it is little, else in the
    background; the answer says how much is waiting. Raises Unavailable when the embedding model
    is away and a portrait has to be made."""
    account_id = principal.account_id
    way = digests_made_with(kernel)
    with kernel.store.read() as session:
        waiting = store.count_to_digest(session, account_id, way)
        is_true = _is_true(kernel, session, account_id)
        is_begun = store.has_digests(session, account_id)
    if 0 < waiting <= SOON:
        refresh_overview(kernel, account_id)
    elif is_begun and not is_true:
        portray(kernel, account_id)
    with kernel.store.read() as session:
        waiting = store.count_to_digest(session, account_id, way)
        overview = store.overview_of(session, account_id)
        if overview is not None and not _is_true(kernel, session, account_id):
            overview = None  # something went this moment
        portrait = _portrait(session, account_id, overview, waiting, kernel.settings.origin)
        inventory = take_inventory(session, account_id)
    if waiting or (overview is not None and overview.is_pending):
        with kernel.store.write() as session:
            enqueue_overview(session, account_id)
    return ChatHistoryOverview(portrait=portrait, inventory=inventory)


def _is_true(kernel: Kernel, session: ReadSession, account_id: str) -> bool:
    """Whether there is a portrait of the present way whose conversations are all there as they
    were."""
    overview = store.overview_of(session, account_id)
    return (
        overview is not None
        and overview.made_with == overview_made_with(kernel)
        and store.count_in_overview(session, account_id) == overview.conversation_count
    )


def _portrait(
    session: ReadSession, account_id: str, overview: Overview | None, waiting: int, origin: str
) -> PortraitView:
    if overview is None:
        return PortraitView(state="being_made" if waiting else "empty", waiting=waiting)
    body = overview.portrait
    ids = {
        place[0] for found in body.values() if isinstance(found, list) for place in _cited(found)
    }
    there = store.conversations_cited(session, account_id, sorted(ids))
    citing = _Citing(there, origin)
    view = PortraitView(
        state="being_made" if waiting else "ready",
        made_at=overview.made_at,
        waiting=waiting,
        written_by=body.get("written_by", ""),
        sentences=[
            PortraitSentence(text=each["text"], cited=citing.of(each)) for each in body["prose"]
        ],
        topics=[_topic(each, citing) for each in body["topics"]],
        people=[_recurring(each, citing) for each in body["people"]],
        projects=[_recurring(each, citing) for each in body["projects"]],
        tools=[_recurring(each, citing) for each in body["tools"]],
        style=[
            StyleTrait(text=each["text"], conversation_count=each["count"], cited=citing.of(each))
            for each in body["style"]
        ],
        own_words=[
            OwnWords(text=each["text"], said_at=_time(each["at"]), cited=citing.of(each))
            for each in body["said"]
        ],
    )
    if view.is_empty and not waiting:
        return view.model_copy(update={"state": "empty"})
    return view


def _cited(found: Sequence[Mapping[str, Any]]) -> list[Sequence[str]]:
    return [place for each in found for place in each.get("cited", ())]


class _Citing:
    """Makes citations out of ids."""

    def __init__(self, conversations: Mapping[str, Conversation], origin: str) -> None:
        self._conversations = conversations
        self._origin = origin

    def of(self, entry: Mapping[str, Any]) -> list[Cited]:
        return [
            self._one(self._conversations[conversation_id], message_id)
            for conversation_id, message_id in entry["cited"]
            if conversation_id in self._conversations
        ]

    def _one(self, conversation: Conversation, message_id: str) -> Cited:
        return Cited(
            conversation_id=conversation.id,
            message_id=message_id,
            title=conversation.title,
            platform=conversation.platform,
            date=conversation.last_message_at,
            reader_url=reader_link(self._origin, conversation.id, message_id),
        )


def _topic(entry: Mapping[str, Any], citing: _Citing) -> Topic:
    return Topic(
        name=entry["name"],
        phrases=entry["phrases"],
        conversation_count=entry["count"],
        first_at=_time(entry["first"]),
        last_at=_time(entry["last"]),
        months=[
            MonthlyConversations(month=month, conversations=count)
            for month, count in entry["months"].items()
        ],
        cited=citing.of(entry),
    )


def _recurring(entry: Mapping[str, Any], citing: _Citing) -> Recurring:
    return Recurring(name=entry["name"], conversation_count=entry["count"], cited=citing.of(entry))


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
