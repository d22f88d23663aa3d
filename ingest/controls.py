"""What an import's owner can do with it once it is accepted: stop it, pause it, go on with it, and
carry out what a trial run has shown."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from sqlalchemy import select

from backread.domain import Principal
from backread.errors import Conflict
from backread.jobs import cancel
from backread.store.base import utcnow
from backread.store.engine import WriteSession, after_commit
from backread.store.models import Import, Job
from backread.store.repositories.imports import lock_import
from backread.store.repositories.jobs import find_job, update_job
from ingest.accept import FINISHED_STATES, accept_files, enqueue_run, job_key
from ingest.containers.sources import SourceFile
from ingest.indexing import enqueue_embedding
from ingest.run import INTERNAL
from ingest.uploads import KEPT_SECONDS


def cancel_import(session: WriteSession, principal: Principal, import_id: str) -> str:
    """Calls an import off and returns its state afterwards.

    One that waits or is paused is cancelled at once; one that runs stops within seconds and keeps
    what it has stored. A finished one stays as it is. Raises NotFound.
    """
    row = lock_import(session, principal.account_id, import_id)
    if row.state in FINISHED_STATES:
        return row.state
    if row.state == "paused" or _call_off(session, principal, import_id) != "running":
        row.state = "cancelled"
        row.finished_at = utcnow()
        if row.owns_files:
            paths = [Path(file["path"]) for file in row.files]
            after_commit(session, lambda: _remove(paths))
    return row.state


def pause_import(session: WriteSession, principal: Principal, import_id: str) -> str:
    """Holds an import back until `resume_import`, across restarts; returns its state afterwards.

    It is `paused` at once and stores nothing more; its job ends within seconds. Uploaded files
    are kept. A finished import stays as it is. Raises NotFound.
    """
    row = lock_import(session, principal.account_id, import_id)
    if row.state in {"queued", "running"}:
        row.state = "paused"
        _call_off(session, principal, import_id)
        if row.new or row.updated:
            enqueue_embedding(session, principal.account_id)  # of what is stored so far
    return row.state


def resume_import(session: WriteSession, principal: Principal, import_id: str) -> str:
    """Queues a paused import again, to go on after what is stored; returns its state afterwards.
    One that is not paused stays as it is. Raises NotFound."""
    row = lock_import(session, principal.account_id, import_id)
    if row.state == "paused":
        row.state = "queued"
        job_id = enqueue_run(session, principal.account_id, import_id)
        job = find_job(session, principal.account_id, job_id)
        if job.cancel_requested_at is not None:
            # The server went down just after the pause, so the job that was called off waits.
            update_job(session, job, cancel_requested_at=None)
    return row.state


def is_open_trial(row: Import) -> bool:
    """Whether it is a trial run that can be carried out without its files being sent again."""
    since = utcnow() - timedelta(seconds=KEPT_SECONDS)
    return (
        row.is_dry_run
        and row.state == "readable"
        and row.owns_files
        and row.finished_at is not None
        and row.finished_at > since
    )


def carry_out(session: WriteSession, principal: Principal, import_id: str) -> str:
    """Imports the files of a trial run for real; returns the new import's id. Raises NotFound,
    and Conflict when it is no trial run or its files are gone."""
    row = lock_import(session, principal.account_id, import_id)
    files = [SourceFile(file["name"], Path(file["path"]), file["size"]) for file in row.files]
    if not is_open_trial(row) or not all(file.path.exists() for file in files):
        raise Conflict(
            "The files of this import are not here any more.",
            hint="They were imported for real already, or a day has passed. Look among your "
            "imports, or choose them again.",
        )
    row.owns_files = False
    return accept_files(session, principal, files, route=row.route, owns_files=True)


def reopen_import(session: WriteSession, account_id: str, import_id: str) -> None:
    """Has an import whose job failed go on after what is stored, when the job is tried again.
    Raises NotFound, and Conflict when its files are gone or it did not fail that way."""
    row = lock_import(session, account_id, import_id)
    if row.state not in FINISHED_STATES:
        return
    is_whole = all(Path(file["path"]).exists() for file in row.files)
    if row.state != "failed" or row.error_code != INTERNAL or not is_whole:
        raise Conflict(
            "The files of this import are not here any more.",
            hint="Choose them again on the Import page; what was stored is not stored twice.",
        )
    row.state = "queued"
    row.error_code = row.error_message = ""
    row.finished_at = None


def _call_off(session: WriteSession, principal: Principal, import_id: str) -> str:
    """The state of the import's job after asking it to end."""
    query = select(Job.id).where(Job.dedupe_key == job_key(import_id), Job.state != "done")
    job_id = session.scalars(query.order_by(Job.id.desc())).first()
    return cancel(session, principal.account_id, job_id) if job_id else "cancelled"


def _remove(paths: Sequence[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)
