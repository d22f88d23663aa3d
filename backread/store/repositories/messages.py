"""One conversation and the line of messages that its platform shows."""

from sqlalchemy import select

from backread.domain import MessageKind
from backread.errors import NotFound
from backread.store.engine import ReadSession
from backread.store.models import Conversation, Message


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


def has_message(
    session: ReadSession, account_id: str, conversation_id: str, message_id: str
) -> bool:
    """Whether the conversation holds the message, on any branch."""
    query = select(Message.id).where(
        Message.id == message_id,
        Message.conversation_id == conversation_id,
        Message.account_id == account_id,
    )
    return session.scalar(query) is not None
