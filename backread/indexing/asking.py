"""Asking for what the index lacks."""

from backread.jobs import enqueue
from backread.store.engine import WriteSession
from backread.store.repositories.indexed import KINDS


def embed_job(collection: str) -> str:
    """The name of the job that puts rows of this kind into the index."""
    return f"ingest.embed_{collection}"


def enqueue_embedding(session: WriteSession, account_id: str, *collections: str) -> None:
    """Asks for whatever the index lacks of the account, words and vectors, and for what it has
    too much. Without collections: of all kinds."""
    for collection in collections or KINDS:
        enqueue(
            session,
            embed_job(collection),
            account_id=account_id,
            dedupe_key=f"embed_{collection}:{account_id}",
        )
