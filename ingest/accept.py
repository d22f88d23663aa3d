"""The door for files: writes an import down and asks for its job. Nothing is read yet."""

from collections.abc import Sequence

from backread.domain import Principal
from backread.errors import InvalidInput
from backread.jobs import enqueue
from backread.settings import Settings
from backread.store.engine import WriteSession
from backread.store.models import Import
from backread.store.repositories.imports import add_import, latest_imports
from ingest.containers.looks import CHOOSE
from ingest.containers.sources import SourceFile
from ingest.normalise import clean
from ingest.uploads import claim_uploads, upload_paths

RUN_JOB = "ingest.run_import"
ROUTES = frozenset({"web", "api", "cli"})
FINISHED_STATES = frozenset({"readable", "failed", "cancelled"})
_MOST_FILES = 1000
_LATEST_ASKED = 20

__all__ = ["FINISHED_STATES", "ROUTES", "RUN_JOB", "SourceFile", "accept_files", "accept_uploads"]


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
                | ({"version": file.version} if file.version else {})
                for file in files
            ],
            owns_files=owns_files,
            is_dry_run=dry_run,
            bytes_total=sum(file.size for file in files),
        ),
    )
    enqueue_run(session, principal.account_id, import_id)
    return import_id


def accept_uploads(
    session: WriteSession,
    settings: Settings,
    principal: Principal,
    ids: Sequence[str],
    *,
    dry_run: bool = False,
) -> str:
    """Queues one import of complete uploads, which it owns from then on, and returns its id.

    Asked again for the same uploads, as after an answer that got lost, it returns the same id.
    Raises what `claim_uploads` and `accept_files` raise.
    """
    paths = upload_paths(settings, ids)
    for row in latest_imports(session, principal.account_id, limit=_LATEST_ASKED):
        if paths and [file["path"] for file in row.files] == paths and row.is_dry_run == dry_run:
            return row.id
    files = claim_uploads(session, settings, principal, ids)
    return accept_files(session, principal, files, route="web", owns_files=True, dry_run=dry_run)


def enqueue_run(session: WriteSession, account_id: str, import_id: str) -> str:
    """Asks for the job of an import; returns the job's id."""
    return enqueue(
        session,
        RUN_JOB,
        account_id=account_id,
        dedupe_key=job_key(import_id),
        import_id=import_id,
    )


def job_key(import_id: str) -> str:
    """The dedupe key of an import's job."""
    return f"import:{import_id}"
