from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from backread.identity import new_id
from backread.store.base import Base, utcnow


class Upload(Base):
    """A file on its way in, until an import takes it over. How much of it is here is the size of
    the file on disk, so the two cannot disagree after a crash."""

    __tablename__ = "uploads"
    __table_args__ = (Index(None, "account_id"),)

    id: Mapped[str] = mapped_column(String(26), primary_key=True, default=new_id)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(Text)  # shown to people, never used as a path
    size: Mapped[int] = mapped_column(BigInteger)  # bytes it will have
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
