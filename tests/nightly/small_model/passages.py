"""A conversation's passages as recall finds them."""

from sqlalchemy import select

from backread.domain import Principal
from backread.kernel import Kernel
from backread.store.models import Passage
from backread.store.repositories.retrieval import FoundPassage


def passages_of(kernel: Kernel, principal: Principal, conversation_id: str) -> list[FoundPassage]:
    with kernel.store.read() as session:
        rows = session.scalars(
            select(Passage)
            .where(
                Passage.account_id == principal.account_id,
                Passage.conversation_id == conversation_id,
            )
            .order_by(Passage.position)
        )
        return [
            FoundPassage(
                id=row.id,
                conversation_id=row.conversation_id,
                message_id=row.message_id,
                position=row.position,
                role=row.role,
                heading=row.heading,
                text=row.text,
                token_count=row.token_count,
                occurred_at=row.occurred_at,
                title="",
                platform="",
                url="",
                first_message_at=None,
                last_message_at=None,
            )
            for row in rows
        ]
