"""Puts small invented chats into the store the way an import does."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from backread.domain import (
    MessageKind,
    ParsedConversation,
    ParsedMessage,
    Platform,
    Principal,
    Role,
)
from backread.identity import conversation_id
from backread.jobs import run_pending
from backread.kernel import Kernel
from ingest.indexing import enqueue_embedding, index_lexical
from ingest.merge import first_copy
from ingest.storing import write_merged

NOON = datetime(2024, 3, 5, 12, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Chat:
    """A conversation whose turns alternate, the person first. None = no time is known."""

    title: str
    turns: Sequence[str]
    at: datetime | None = NOON
    platform: Platform = Platform.CHATGPT


def keep(kernel: Kernel, principal: Principal, *chats: Chat, index: bool = True) -> list[str]:
    """Stores the chats, and indexes them unless told not to; returns their ids in order."""
    merged = []
    for number, chat in enumerate(chats):
        external_id = f"{chat.title}-{number}"
        identifier = conversation_id(principal.account_id, chat.platform, external_id, chat.at)
        messages = [
            ParsedMessage(
                external_id=f"m{place}",
                parent_external_id=f"m{place - 1}" if place else None,
                role=Role.ASSISTANT if place % 2 else Role.USER,
                kind=MessageKind.DIALOGUE,
                text=text,
                created_at=chat.at + timedelta(minutes=place) if chat.at else None,
            )
            for place, text in enumerate(chat.turns)
        ]
        parsed = ParsedConversation(
            platform=chat.platform,
            external_id=external_id,
            title=chat.title,
            messages=messages,
            shown_line=[message.external_id for message in messages],
            created_at=chat.at,
            url=f"https://chat.example/{number}",
        )
        merged.append(
            first_copy(
                parsed,
                account_id=principal.account_id,
                conversation_id=identifier,
                capture_id="",
                parser_version=1,
            )
        )
    with kernel.store.write() as session:
        write_merged(session, principal.account_id, merged)
    if index:
        index_lexical(kernel, principal.account_id)
        with kernel.store.write() as session:
            enqueue_embedding(session, principal.account_id)
        run_pending(kernel)
    return [each.conversation["id"] for each in merged]


GARDEN = Chat(
    "Raised beds",
    [
        "I want to build two raised beds for tomatoes behind the shed.",
        "Cedar planks of 4 cm last longest. Each bed needs about 600 litres of soil.",
        "We decided on cedar, and the soil comes from Hollis Nursery on Friday.",
        "Good choice. Water the soil two days before planting.",
    ],
    datetime(2024, 3, 5, 9, 0, tzinfo=UTC),
)
TRAVEL = Chat(
    "Night train to Vienna",
    [
        "Is there a night train from Zurich to Vienna with a bicycle place?",
        "The Nightjet takes bicycles if you reserve early. It leaves at 21:40.",
        "Booked it for 14 June, coach 263, with both bicycles.",
        "Enjoy the ride. Bring earplugs.",
    ],
    datetime(2024, 5, 20, 18, 0, tzinfo=UTC),
    Platform.CLAUDE_AI,
)
CODE = Chat(
    "Slow query",
    [
        "My invoices query takes nine seconds on PostgreSQL.",
        "Add an index on invoices (customer_id, issued_on) and analyse the table.",
        "That brought it down to 40 milliseconds.",
        "A covering index would avoid the heap fetches too.",
    ],
    datetime(2024, 7, 2, 8, 0, tzinfo=UTC),
)
