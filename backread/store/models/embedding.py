from datetime import datetime

from sqlalchemy import String, Text
from sqlalchemy.orm import Mapped, mapped_column

from backread.store.base import Base, utcnow


class EmbeddingModel(Base):
    """An embedding model of this installation, by the part it plays. There is one row a role, so
    a change of roles is one transaction.

    `serving` answers questions. `next` has its vectors made beside it, or could not: `error`.
    `former` served before and can serve again until `until`. `setting` is what
    BACKREAD_EMBEDDING_MODEL was when it was last looked at.
    """

    __tablename__ = "embedding_models"

    role: Mapped[str] = mapped_column(String(16), primary_key=True)
    name: Mapped[str] = mapped_column(String(300))  # as the setting takes it
    signature: Mapped[str] = mapped_column(String(120), default="")
    error: Mapped[str] = mapped_column(Text, default="")  # why it cannot serve; "" for no reason
    since: Mapped[datetime] = mapped_column(default=utcnow)  # in this role
    until: Mapped[datetime | None]
