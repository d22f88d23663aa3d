"""Asking for a bucket to be sorted. Apart from the sorting, so that whatever changes memories can
ask without loading it."""

from backread.jobs import enqueue
from backread.store.engine import WriteSession

CATEGORISE_BUCKET = "recall.categorise_bucket"


def enqueue_categorising(session: WriteSession, account_id: str, *bucket_ids: int) -> None:
    """Has the buckets sorted in the background, after the caller's transaction. However many
    memories change while the job waits, it runs once."""
    for bucket_id in dict.fromkeys(bucket_ids):
        enqueue(
            session,
            CATEGORISE_BUCKET,
            account_id=account_id,
            dedupe_key=f"categories:{bucket_id}",
            bucket_id=bucket_id,
        )
