"""Whether anything in an account has changed, at the cost of a few look-ups in indexes."""

from sqlalchemy import func, select

from backread.store.engine import ReadSession
from backread.store.models import AgentSession, Bucket, Conversation, Memory, TeamItem


def account_clock(session: ReadSession, account_id: str) -> tuple[object, ...]:
    """A value that is another one after each change of the account's conversations, memories,
    buckets, agents' sessions, and of what the team shares."""
    parts: list[object] = []
    for query in (
        select(func.count(), func.max(Conversation.changed_at)).where(
            Conversation.account_id == account_id
        ),
        select(func.count(), func.max(Memory.updated_at), func.max(Memory.used_at)).where(
            Memory.account_id == account_id
        ),
        select(func.count(), func.max(Memory.superseded_at)).where(Memory.account_id == account_id),
        select(func.count(), func.max(Bucket.id)).where(Bucket.account_id == account_id),
        select(func.count(), func.max(AgentSession.source_changed_at)).where(
            AgentSession.account_id == account_id
        ),
        select(func.count(), func.max(TeamItem.id)),
    ):
        parts.extend(session.execute(query).one())
    return tuple(parts)
