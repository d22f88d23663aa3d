"""Uploads that become documents: each by itself, so that one that is refused spoils no other."""

from pathlib import Path

from api.routes.uploads import Upload
from api.schemas.files import FileProblem, FilesKept, KeptFileOut, UploadsToKeep
from backread.domain import Principal
from backread.errors import BackreadError, Conflict, InvalidInput, NotFound
from backread.kernel import Kernel
from backread.store.repositories.file_buckets import get_file_bucket
from ingest.documents.keeping import keep_file
from ingest.uploads import discard_upload, read_upload, upload_paths


def keep_received(
    kernel: Kernel,
    principal: Principal,
    upload: Upload,
    *,
    bucket_id: int | None,
    bucket: str,
) -> FilesKept:
    """The files of a form. They are gone from the disk afterwards. Raises NotFound for an unknown
    bucket."""
    try:
        _check_bucket(kernel, principal, bucket_id)
        return FilesKept(
            items=[
                _keep(kernel, principal, file.name, file.path, bucket_id, bucket)
                for file in upload.files
            ]
        )
    finally:
        upload.discard()


def keep_uploaded(kernel: Kernel, principal: Principal, wanted: UploadsToKeep) -> FilesKept:
    """Files that were uploaded by tus. Each is discarded there once it is kept."""
    _check_bucket(kernel, principal, wanted.bucket_id)
    items = []
    for upload_id in dict.fromkeys(wanted.uploads):
        items.append(_keep_upload(kernel, principal, upload_id, wanted))
    return FilesKept(items=items)


def _check_bucket(kernel: Kernel, principal: Principal, bucket_id: int | None) -> None:
    if bucket_id is not None:
        with kernel.store.read() as session:
            get_file_bucket(session, principal.account_id, bucket_id)


def _keep_upload(
    kernel: Kernel, principal: Principal, upload_id: str, wanted: UploadsToKeep
) -> KeptFileOut:
    try:
        state = read_upload(kernel, principal, upload_id)
        if not state.is_complete:
            raise Conflict(f"{state.name} is not uploaded completely.", hint="Finish its upload.")
    except (NotFound, Conflict) as error:
        return _refused("", error)
    (path,) = upload_paths(kernel.settings, [upload_id])
    kept = _keep(kernel, principal, state.name, Path(path), wanted.bucket_id, wanted.bucket)
    with kernel.store.write() as session:
        discard_upload(session, kernel.settings, principal, upload_id)
    return kept


def _keep(
    kernel: Kernel, principal: Principal, name: str, path: Path, bucket_id: int | None, bucket: str
) -> KeptFileOut:
    try:
        kept = keep_file(
            kernel, principal, name=name, path=path, bucket_id=bucket_id, bucket_name=bucket
        )
    except InvalidInput as error:
        return _refused(name, error)
    return KeptFileOut(name=kept.name, outcome=kept.outcome, file_id=kept.file_id, problem=None)


def _refused(name: str, error: BackreadError) -> KeptFileOut:
    problem = FileProblem(code=error.code, message=error.message, hint=error.hint)
    return KeptFileOut(name=name, outcome="refused", file_id=None, problem=problem)
