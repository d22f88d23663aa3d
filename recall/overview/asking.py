"""Asking for an overview to be brought up to date. Apart from the making, so that whatever
changes conversations can ask without loading it."""

from backread.jobs import enqueue
from backread.store.engine import WriteSession

REFRESH_OVERVIEW = "recall.refresh_overview"


def enqueue_overview(session: WriteSession, account_id: str) -> str:
    """Has the account's overview made in the background, after the caller's transaction; returns
    the job's id. Asked for again while it waits, it runs once."""
    return enqueue(
        session,
        REFRESH_OVERVIEW,
        account_id=account_id,
        dedupe_key=f"overview:{account_id}",
    )
