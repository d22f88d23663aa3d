"""Messages of one conversation: the shown line, other branches, and single messages."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, select

from backread.domain import MessageKind
from backread.errors import NotFound
from backread.store.engine import ReadSession
from backread.store.models import Conversation, Message

# A tree deeper than this is cut: the longest real chats have a few thousand messages.
_MAX_DEPTH = 200_000


def get_conversation(session: ReadSession, account_id: str, conversation_id: str) -> Conversation:
    """Raises NotFound for an id that does not exist and for another account's alike."""
    conversation = session.get(Conversation, conversation_id)
    if conversation is None or conversation.account_id != account_id:
        raise NotFound(
            "There is no conversation with this id.",
            hint="Use a conversationId from the sources of recall_chat_history.",
        )
    return conversation


def shown_line(
    session: ReadSession,
    account_id: str,
    conversation_id: str,
    *,
    dialogue_only: bool = True,
    offset: int = 0,
    limit: int | None = None,
) -> list[Message]:
    """The messages that the platform shows, in order. Empty for an unknown or foreign id."""
    query = (
        select(Message)
        .where(
            Message.conversation_id == conversation_id,
            Message.account_id == account_id,
            Message.on_shown_line.is_(True),
        )
        .order_by(Message.position)
        .offset(offset)
        .limit(limit)
    )
    if dialogue_only:
        query = query.where(Message.kind == MessageKind.DIALOGUE)
    return list(session.scalars(query))


@dataclass(frozen=True, slots=True)
class LineMessage:
    """A message of one line through the tree, with the branches that leave at its place.

    `siblings` are the ids of all messages with the same parent, itself among them, in order.
    """

    message: Message
    siblings: Sequence[str]


def line_through(
    session: ReadSession, account_id: str, conversation_id: str, message_id: str | None = None
) -> list[LineMessage]:
    """The whole line, root to end, that holds `message_id`; the shown line without one.

    Below the given message the line goes on with the shown child, or else the newest one. Raises
    NotFound when the message is not in this conversation or the conversation not in this account.
    """
    conversation = get_conversation(session, account_id, conversation_id)
    messages = session.scalars(
        select(Message)
        .where(Message.conversation_id == conversation.id, Message.account_id == account_id)
        .order_by(Message.position)
    ).all()
    by_id = {message.id: message for message in messages}
    children: dict[str | None, list[Message]] = {}
    for message in messages:
        parent = message.parent_id if message.parent_id in by_id else None
        children.setdefault(parent, []).append(message)
    if message_id is None:
        line = [message for message in messages if message.on_shown_line]
    elif message_id not in by_id:
        raise NotFound("There is no message with this id in the conversation.")
    else:
        line = _line(by_id, children, by_id[message_id])
    return [
        LineMessage(
            message,
            tuple(
                sibling.id
                for sibling in children[message.parent_id if message.parent_id in by_id else None]
            ),
        )
        for message in line
    ]


def _line(
    by_id: dict[str, Message], children: dict[str | None, list[Message]], start: Message
) -> list[Message]:
    above: list[Message] = []
    node: Message | None = start
    while node is not None and len(above) < _MAX_DEPTH:
        above.append(node)
        node = by_id.get(node.parent_id or "")
    line = above[::-1]
    while (below := children.get(line[-1].id)) and len(line) < _MAX_DEPTH:
        line.append(next((each for each in below if each.on_shown_line), below[-1]))
    return line


def count_dialogue(session: ReadSession, account_id: str, conversation_id: str) -> int:
    """Dialogue messages on the shown line."""
    return (
        session.scalar(
            select(func.count())
            .select_from(Message)
            .where(
                Message.conversation_id == conversation_id,
                Message.account_id == account_id,
                Message.on_shown_line.is_(True),
                Message.kind == MessageKind.DIALOGUE,
            )
        )
        or 0
    )
