"""Leaving no trace of what was deleted in the database's own files.

SQLite writes over the space of deleted rows (`secure_delete`). Two places keep their words longer:
the write-ahead log, which holds former states of pages, and the full-text index, which notes a
deletion beside the words until it is next merged. PostgreSQL gives such space back by itself, in
its own time.
"""

from contextlib import closing

from backread.jobs.outbox import enqueue
from backread.jobs.registry import UPKEEP, JobContext, Queue, job
from backread.kernel import Kernel
from backread.store.engine import WriteSession
from backread.store.repositories.passages import merge_words

SCRUB = "backread.scrub_database"
_WAIT_MILLISECONDS = 500  # for whoever reads just now


def scrub_later(session: WriteSession) -> None:
    """Asked for by whatever deletes for good, in the same transaction."""
    if session.get_bind().dialect.name == "sqlite":
        enqueue(session, SCRUB, account_id=None, dedupe_key=SCRUB)


@job(SCRUB, queue=Queue.BACKGROUND)
def scrub_database(context: JobContext) -> None:
    """In steps, so that nobody who writes waits for long."""
    store = context.kernel.store
    if not store.is_sqlite:
        return
    is_first = has_more = True
    while has_more:
        with store.write() as session:
            has_more = merge_words(session, is_first=is_first)
        is_first = False
        context.check()
    empty_log(context.kernel)


def empty_log(kernel: Kernel) -> None:
    """Writes the write-ahead log into the database and empties it. Where somebody reads or writes
    for longer it stays for the next time: done with the hourly upkeep, too."""
    if not kernel.store.is_sqlite:
        return
    # The driver's own connection: it works outside of a transaction only. Who begins one on it
    # later sets how long to wait anew.
    with closing(kernel.store.engine.raw_connection()) as connection:
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout={_WAIT_MILLISECONDS}")
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        cursor.close()


UPKEEP.append(empty_log)
