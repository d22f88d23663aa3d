"""The door for files: writes an import down and asks for its job. Nothing is read yet."""

from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import select

from backread.domain import Principal
from backread.errors import InvalidInput
from backread.jobs import cancel, enqueue
from backread.store.base import utcnow
from backread.store.engine import WriteSession, after_commit
from backread.store.models import Import, Job
from backread.store.repositories.imports import add_import, get_import
from ingest.containers.looks import CHOOSE
from ingest.containers.sources import SourceFile
from ingest.normalise import clean

RUN_JOB = "ingest.run_import"
ROUTES = frozenset({"web", "api", "cli"})
FINISHED_STATES = frozenset({"readable", "failed", "cancelled"})
_MOST_FILES = 1000

__all__ = ["FINISHED_STATES", "ROUTES", "RUN_JOB", "SourceFile", "accept_files", "cancel_import"]


def accept_files(
    session: WriteSession,
    principal: Principal,
    files: Sequence[SourceFile],
    *,
    route: str,
    owns_files: bool = False,
    dry_run: bool = False,
) -> str:
    """Queues an import of files or folders and returns its id; `ingest.report` follows it.

    `owns_files`: the paths are uploaded copies below the uploads folder and are removed when the
    import ends. `dry_run`: only reports what an import would do. Raises InvalidInput when no file
    is given; what is wrong inside the files is told by the report.
    """
    if not files:
        raise InvalidInput("No file was chosen.", hint=CHOOSE)
    if len(files) > _MOST_FILES:
        raise InvalidInput(
            f"{len(files):,} files were chosen; {_MOST_FILES:,} can be imported at once.",
            hint="Choose the folder that they are in, or a zip of it.",
        )
    if route not in ROUTES:
        raise ValueError(f"unknown route {route!r}")
    import_id = add_import(
        session,
        Import(
            account_id=principal.account_id,
            route=route,
            files=[
                {"name": clean(file.name), "path": str(file.path), "size": file.size}
                for file in files
            ],
            owns_files=owns_files,
            is_dry_run=dry_run,
            bytes_total=sum(file.size for file in files),
        ),
    )
    enqueue(
        session,
        RUN_JOB,
        account_id=principal.account_id,
        dedupe_key=job_key(import_id),
        import_id=import_id,
    )
    return import_id


def job_key(import_id: str) -> str:
    """The dedupe key of an import's job."""
    return f"import:{import_id}"


def cancel_import(session: WriteSession, principal: Principal, import_id: str) -> str:
    """Calls an import off and returns its state afterwards.

    One that waits is cancelled at once; one that runs stops within seconds and keeps what it has
    stored. A finished one stays as it is. Raises NotFound.
    """
    row = get_import(session, principal.account_id, import_id)
    if row.state in FINISHED_STATES:
        return row.state
    query = select(Job.id).where(Job.dedupe_key == job_key(import_id), Job.state != "done")
    job_id = session.scalars(query.order_by(Job.id.desc())).first()
    if job_id is None or cancel(session, principal.account_id, job_id) == "cancelled":
        row.state = "cancelled"
        row.finished_at = utcnow()
        if row.owns_files:
            paths = [Path(file["path"]) for file in row.files]
            after_commit(session, lambda: _remove(paths))
    return row.state


def _remove(paths: Sequence[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)
