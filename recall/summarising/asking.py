"""Asking for summaries to be made in the background."""

from backread.jobs import enqueue
from backread.store.engine import WriteSession

SUMMARISE = "recall.summarise_conversations"


def enqueue_summaries(session: WriteSession, account_id: str) -> None:
    """Has the account's summaries made, as far as that was agreed to."""
    enqueue(session, SUMMARISE, account_id=account_id, dedupe_key=f"summarise:{account_id}")
