"""What agents' sessions leave behind: digests of them, the graph, and what a team shares."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backread.identity import new_id
from backread.store.base import Base, utcnow
from backread.store.models.conversation import BigId


class AgentSession(Base):
    """What a project's profile needs of one conversation of a coding agent. Derived; goes with
    its conversation."""

    __tablename__ = "agent_sessions"
    __table_args__ = (Index(None, "account_id", "project"),)

    conversation_id: Mapped[str] = mapped_column(
        ForeignKey("conversations.id", ondelete="CASCADE"), primary_key=True
    )
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    made_with: Mapped[str] = mapped_column(String(64))
    source_changed_at: Mapped[datetime]  # the conversation's `changed_at` when it was read
    project: Mapped[str] = mapped_column(String(500))  # the folder it ran in; "" = not known
    is_subagent: Mapped[bool] = mapped_column(default=False)  # no session of its own
    body: Mapped[dict[str, Any]] = mapped_column(default=dict)  # see `recall.agents.digesting`


class GraphEntity(Base):
    """Something that a session is about. One row for each session that names it. Derived."""

    __tablename__ = "graph_entities"
    __table_args__ = (
        UniqueConstraint("conversation_id", "type", "name"),
        Index(None, "account_id", "type", "name"),
    )

    id: Mapped[int] = mapped_column(BigId, primary_key=True, autoincrement=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    conversation_id: Mapped[str] = mapped_column(
        ForeignKey("agent_sessions.conversation_id", ondelete="CASCADE")
    )
    type: Mapped[str] = mapped_column(String(16))  # file concept decision person tool
    name: Mapped[str] = mapped_column(String(300))
    count: Mapped[int] = mapped_column(default=1)
    message_id: Mapped[str] = mapped_column(String(26), default="")  # where it is named first


class GraphRelation(Base):
    """How two of them go together, as one session has it. Derived."""

    __tablename__ = "graph_relations"
    __table_args__ = (
        UniqueConstraint(
            "conversation_id",
            "relation",
            "source_type",
            "source",
            "target_type",
            "target",
            name="uq_graph_relations_once",  # PostgreSQL's names have 63 characters at most
        ),
        Index(None, "account_id", "relation"),
    )

    id: Mapped[int] = mapped_column(BigId, primary_key=True, autoincrement=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    conversation_id: Mapped[str] = mapped_column(
        ForeignKey("agent_sessions.conversation_id", ondelete="CASCADE")
    )
    relation: Mapped[str] = mapped_column(String(16))
    source_type: Mapped[str] = mapped_column(String(16))
    source: Mapped[str] = mapped_column(String(300))
    target_type: Mapped[str] = mapped_column(String(16))
    target: Mapped[str] = mapped_column(String(300))
    count: Mapped[int] = mapped_column(default=1)
    message_id: Mapped[str] = mapped_column(String(26), default="")


class TeamItem(Base):
    """A memory that somebody shares with the team of this installation. Canonical: a copy, so it
    stays when the memory changes, until who shared it takes it back."""

    __tablename__ = "team_items"
    __table_args__ = (
        UniqueConstraint("team_id", "account_id", "text_hash"),
        Index(None, "team_id", "shared_at"),
    )

    id: Mapped[str] = mapped_column(String(26), primary_key=True, default=new_id)
    team_id: Mapped[str] = mapped_column(String(200))
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    text: Mapped[str] = mapped_column(Text)
    text_hash: Mapped[str] = mapped_column(String(64))
    memory_id: Mapped[str | None] = mapped_column(String(26))
    client_id: Mapped[str | None] = mapped_column(String(512))
    shared_at: Mapped[datetime] = mapped_column(default=utcnow)
