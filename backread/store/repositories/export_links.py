"""Short-lived addresses of exported conversations."""

from datetime import datetime

from sqlalchemy import delete, func, select, update

from backread.store.engine import ReadSession, WriteSession
from backread.store.models import ExportLink


def add_link(session: WriteSession, link: ExportLink) -> None:
    session.add(link)
    session.flush()


def count_live(session: ReadSession, account_id: str, *, now: datetime) -> int:
    """Links of the account that have not ended."""
    query = select(func.count()).select_from(ExportLink)
    query = query.where(ExportLink.account_id == account_id, ExportLink.expires_at > now)
    return session.scalars(query).one()


def find_live(
    session: ReadSession, token_hash: str, *, now: datetime, most_downloads: int
) -> ExportLink | None:
    """None for a token that was never given, has ended or is used up: nobody can tell which."""
    return session.scalar(
        select(ExportLink).where(
            ExportLink.token_hash == token_hash,
            ExportLink.expires_at > now,
            ExportLink.downloads < most_downloads,
        )
    )


def use_link(
    session: WriteSession, token_hash: str, *, now: datetime, most_downloads: int
) -> ExportLink | None:
    """Counts a download; None as for `find_live`. Two at once never share the last one."""
    counted = session.execute(
        update(ExportLink)
        .where(
            ExportLink.token_hash == token_hash,
            ExportLink.expires_at > now,
            ExportLink.downloads < most_downloads,
        )
        .values(downloads=ExportLink.downloads + 1)
        .returning(ExportLink.id)
        .execution_options(synchronize_session=False)
    )
    if counted.first() is None:
        return None
    return session.scalar(select(ExportLink).where(ExportLink.token_hash == token_hash))


def delete_ended(session: WriteSession, *, now: datetime) -> int:
    """Of all accounts."""
    ended = delete(ExportLink).where(ExportLink.expires_at <= now).returning(ExportLink.id)
    return len(session.scalars(ended).all())
