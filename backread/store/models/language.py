from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from backread.identity import new_id
from backread.store.base import Base, utcnow


class LanguageCall(Base):
    """One request to a language model: what it was to take, then what it took. Canonical: it is
    what budgets are counted from."""

    __tablename__ = "language_calls"
    __table_args__ = (Index(None, "account_id", "day"),)

    id: Mapped[str] = mapped_column(String(26), primary_key=True, default=new_id)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    conversation_id: Mapped[str] = mapped_column(String(26), default="")  # "" = about none
    purpose: Mapped[str] = mapped_column(String(64))
    model: Mapped[str] = mapped_column(String(200))
    day: Mapped[str] = mapped_column(String(10))  # YYYY-MM-DD in the account's time zone
    state: Mapped[str] = mapped_column(String(16), default="reserved")  # reserved | settled
    tokens_in: Mapped[int] = mapped_column(BigInteger)
    tokens_out: Mapped[int] = mapped_column(BigInteger)
    is_estimated: Mapped[bool] = mapped_column(default=True)
    # Millionths of the currency; None when the model's price is unknown.
    cost_micros: Mapped[int | None] = mapped_column(BigInteger)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)


class LanguageBudget(Base):
    """What an account's owner allows, below what the server does. None = as the server."""

    __tablename__ = "language_budgets"

    account_id: Mapped[str] = mapped_column(
        ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True
    )
    day_micros: Mapped[int | None] = mapped_column(BigInteger)
    month_micros: Mapped[int | None] = mapped_column(BigInteger)
    day_tokens: Mapped[int | None] = mapped_column(BigInteger)
    month_tokens: Mapped[int | None] = mapped_column(BigInteger)
    changed_at: Mapped[datetime] = mapped_column(default=utcnow)
