"""Reading conversations again that an older release has read, once a parser has learnt more.

The raw captures are all here, so nothing has to be uploaded for it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from backread.domain import Principal
from backread.jobs import JobContext, Queue, enqueue, job, one_of_many
from backread.kernel import Kernel
from backread.log import get_logger
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Job
from backread.store.repositories.imports import lock_archive
from backread.store.repositories.jobs import last_with_key
from backread.store.repositories.outdated import (
    count_outdated,
    mark_read,
    outdated_conversations,
)
from ingest.companions.storing import read_companions_again
from ingest.importers import IMPORTERS
from ingest.indexing import enqueue_embedding, enqueue_passages
from ingest.rebuild import rebuild_conversation

READ_AGAIN = "ingest.read_again"
_PER_TRANSACTION = 20

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Rereading:
    """Conversations that can be read better than they were, and the job that does it if one
    waits or runs."""

    outdated: int
    job: Job | None


def rereading_state(session: ReadSession, principal: Principal) -> Rereading:
    """How it stands with the account."""
    outdated = count_outdated(session, principal.account_id, _versions())
    job = last_with_key(session, _key(principal.account_id))
    is_under_way = job is not None and job.state in {"queued", "running"}
    return Rereading(outdated, job if is_under_way else None)


def request_rereading(session: WriteSession, principal: Principal) -> None:
    """Queues it, unless there is nothing to do or it is under way."""
    state = rereading_state(session, principal)
    if state.outdated and state.job is None:
        account_id = principal.account_id
        enqueue(session, READ_AGAIN, account_id=account_id, dedupe_key=_key(account_id))


@job(READ_AGAIN, queue=Queue.BACKGROUND)
def read_again(context: JobContext) -> None:
    """Goes on where it was stopped: what has been read again is not outdated any more."""
    if context.account_id is None:
        raise ValueError("conversations belong to an account")
    reread_outdated(context.kernel, context.account_id, context)


def reread_outdated(kernel: Kernel, account_id: str, context: JobContext | None = None) -> int:
    """Parses the captures of outdated conversations again and writes what differs; returns how
    many were looked at. One that no parser reads, or at which one fails, keeps what it has and is
    not asked for again. Ids stay. Repeatable, and safe to stop anywhere."""
    versions = _versions()
    with kernel.store.read() as session:
        total = count_outdated(session, account_id, versions)
    done, after = 0, ""
    while True:
        with kernel.store.write() as session:
            lock_archive(session, account_id)
            ids = outdated_conversations(
                session, account_id, versions, after=after, limit=_PER_TRANSACTION
            )
            for conversation_id in ids:
                if context is not None:
                    context.check()
                with (
                    one_of_many("read_again", conversation_id, context),
                    session.begin_nested(),
                ):
                    if rebuild_conversation(session, account_id, conversation_id) is None:
                        _log.warning("conversation_not_read_again", conversation_id=conversation_id)
            mark_read(session, ids, versions)
            if ids:
                enqueue_passages(session, account_id)
        if not ids:
            break
        done, after = done + len(ids), ids[-1]
        if context is not None:
            context.report(done, max(done, total))
    with kernel.store.write() as session:
        lock_archive(session, account_id)
        read_companions_again(session, account_id)
        enqueue_embedding(session, account_id)
    return done


def _versions() -> Mapping[str, int]:
    return {slug: importer.version for slug, importer in IMPORTERS.items()}


def _key(account_id: str) -> str:
    return f"read_again:{account_id}"
