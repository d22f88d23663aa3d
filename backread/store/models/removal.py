from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from backread.store.base import Base
from backread.store.models.conversation import BigId


class IndexRemoval(Base):
    """A point that the database no longer has and the search index still may: written in the
    transaction that removes the row, deleted once the index has confirmed."""

    __tablename__ = "index_removals"

    collection: Mapped[str] = mapped_column(String(16), primary_key=True)
    point_id: Mapped[int] = mapped_column(BigId, primary_key=True, autoincrement=False)
    account_id: Mapped[str] = mapped_column(
        ForeignKey("accounts.id", ondelete="CASCADE"), index=True
    )
