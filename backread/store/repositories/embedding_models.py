"""Which embedding model plays which part, for the whole installation."""

import hashlib
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from sqlalchemy import delete, select

from backread.store.base import utcnow
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import EmbeddingModel


class Role(StrEnum):
    """See `EmbeddingModel`."""

    SERVING = "serving"
    NEXT = "next"
    FORMER = "former"
    SETTING = "setting"


_GONE = "gone-"


def model_of(session: ReadSession, role: Role) -> EmbeddingModel | None:
    return session.scalar(select(EmbeddingModel).where(EmbeddingModel.role == role.value))


def all_models(session: ReadSession) -> Mapping[Role, EmbeddingModel]:
    rows = session.scalars(select(EmbeddingModel).where(EmbeddingModel.role.in_(list(Role))))
    return {Role(row.role): row for row in rows}


def set_model(
    session: WriteSession,
    role: Role,
    name: str,
    *,
    signature: str = "",
    error: str = "",
    until: datetime | None = None,
) -> None:
    """Gives the role to the model, whoever had it."""
    values = {"name": name, "signature": signature, "error": error[:2000]}
    session.merge(EmbeddingModel(role=role.value, since=utcnow(), until=until, **values))
    session.flush()


def end_role(session: WriteSession, role: Role) -> None:
    session.execute(delete(EmbeddingModel).where(EmbeddingModel.role == role.value))
    session.expire_all()


def note_gone(session: WriteSession, name: str, signature: str) -> None:
    """Notes that the model plays no part any more, and that its vectors are still there."""
    role = _GONE + hashlib.blake2b(signature.encode(), digest_size=5).hexdigest()
    session.merge(EmbeddingModel(role=role, name=name, signature=signature, since=utcnow()))
    session.flush()


def gone_models(session: ReadSession) -> list[str]:
    """Signatures of models whose vectors are to be removed."""
    query = select(EmbeddingModel.signature).where(EmbeddingModel.role.startswith(_GONE))
    return sorted(session.scalars(query))


def confirm_gone(session: WriteSession, signature: str) -> None:
    session.execute(
        delete(EmbeddingModel).where(
            EmbeddingModel.role.startswith(_GONE), EmbeddingModel.signature == signature
        )
    )
