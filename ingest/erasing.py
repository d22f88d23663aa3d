"""Erasing an account: everything that was ever stored for it, in the database, the search index
and the uploads folder. In small steps, and again from the start after a crash."""

import time
from functools import partial
from pathlib import Path

from backread.jobs import UPKEEP, JobContext, Queue, enqueue, job
from backread.jobs.scrubbing import scrub_later
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.engine import WriteSession, after_commit
from backread.store.repositories import accounts, erasing
from backread.store.repositories.passages import delete_passages
from ingest.uploads import discard_all_uploads

ERASE_ACCOUNT = "ingest.erase_account"
_CONVERSATIONS = "conversations"
_WITH_FILES = {"uploads", "imports"}
_ACCOUNT_FIRST = ("note", "file")  # whoever writes into these tables holds the account before a row
_CONVERSATIONS_AT_A_TIME = 50
_LOOK_AGAIN_SECONDS = 0.2


def enqueue_erasing(session: WriteSession, account_id: str) -> str:
    """Has the account erased once the transaction commits; returns the job's id. Calls all other
    work for the account off."""
    erasing.call_off_jobs(session, account_id)
    key = f"{ERASE_ACCOUNT}:{account_id}"
    return enqueue(session, ERASE_ACCOUNT, account_id=None, dedupe_key=key, erased_id=account_id)


def resume_erasing(kernel: Kernel) -> None:
    """Takes up again what an error ended. Done once an hour."""
    with kernel.store.write() as session:
        for account_id in erasing.accounts_to_erase(session):
            enqueue_erasing(session, account_id)


UPKEEP.append(resume_erasing)


@job(ERASE_ACCOUNT, queue=Queue.BACKGROUND)
def erase_account_job(context: JobContext, *, erased_id: str) -> None:
    erase_account(context, erased_id)


def erase_account(context: JobContext, account_id: str) -> None:
    """Idempotent. Does nothing to an account whose removal nobody asked for."""
    kernel = context.kernel
    with kernel.store.read() as session:
        if not erasing.is_to_be_erased(session, account_id):
            return
    while not _is_erased(context, account_id):
        pass  # a request that had begun before the removal brought something new


def _is_erased(context: JobContext, account_id: str) -> bool:
    """Erases what is there. False when more came meanwhile."""
    kernel = context.kernel
    with kernel.store.write() as session:
        erasing.call_off_jobs(session, account_id)
    _wait_for_jobs(context, account_id)
    done = 0
    while ids := _some_conversations(kernel, account_id):
        with kernel.store.write() as session:
            # By way of their words: SQLite's full-text table forgets no row by itself.
            delete_passages(session, account_id, ids)
            erasing.delete_conversations(session, account_id, ids)
        done += len(ids)
        context.report(done, 0)
    # One table at a time, and the account last: whoever writes for it meanwhile holds a folder or
    # bucket and asks for the account, and would be waited for by who holds the account.
    for name in erasing.owned_tables():
        if name == _CONVERSATIONS:
            continue  # one that came meanwhile has words in the full text: next time
        with kernel.store.write() as session:
            if name.startswith(_ACCOUNT_FIRST):
                accounts.lock_account(session, account_id)
            if name in _WITH_FILES:
                _remove_files(session, kernel.settings, account_id)
            erasing.delete_owned(session, account_id, name)
        context.check()
    # The account's row last, so that a crash before it comes here again.
    kernel.index.delete_account(account_id)
    kernel.index.flush()
    with kernel.store.write() as session:
        accounts.lock_account(session, account_id)  # from here on nothing new can refer to it
        if erasing.has_newcomers(session, account_id):
            return False
        erasing.delete_account(session, account_id)
        scrub_later(session)
    return True


def _wait_for_jobs(context: JobContext, account_id: str) -> None:
    """What runs for the account was called off and ends at its next report. A worker that died
    keeps its job until the lease ends, and no longer."""
    while True:
        with context.kernel.store.read() as session:
            if not erasing.has_running_jobs(session, account_id):
                return
        context.check()
        time.sleep(_LOOK_AGAIN_SECONDS)


def _some_conversations(kernel: Kernel, account_id: str) -> list[str]:
    with kernel.store.read() as session:
        return erasing.conversation_ids(session, account_id, limit=_CONVERSATIONS_AT_A_TIME)


def _remove_files(session: WriteSession, settings: Settings, account_id: str) -> None:
    discard_all_uploads(session, settings, account_id)
    for path in erasing.owned_files(session, account_id):
        after_commit(session, partial(_remove_upload, settings, Path(path)))


def _remove_upload(settings: Settings, path: Path) -> None:
    """Nothing that does not lie in the uploads folder."""
    if path.resolve().is_relative_to(settings.uploads_dir.resolve()):
        path.unlink(missing_ok=True)
