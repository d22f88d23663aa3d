"""What the buttons of the Files page do."""

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from api.deps import CsrfDep, KernelDep, SignedInDep, WriteDep
from api.web.pages.files import show_files
from backread.errors import InvalidInput
from backread.store.repositories.file_buckets import named_file_bucket
from ingest.documents.keeping import (
    checked_name,
    read_again,
    remove_bucket,
    remove_file,
    rename_bucket,
)

router = APIRouter(include_in_schema=False)


@router.post("/files/{file_id}/delete", dependencies=[CsrfDep])
def delete_file(
    request: Request, kernel: KernelDep, signed_in: SignedInDep, file_id: str
) -> Response:
    receipt = remove_file(kernel, signed_in.principal, file_id)
    return show_files(request, kernel, signed_in, receipt=receipt)


@router.post("/files/{file_id}/read-again", dependencies=[CsrfDep])
def read_file_again(session: WriteDep, signed_in: SignedInDep, file_id: str) -> Response:
    read_again(session, signed_in.principal, file_id)
    return RedirectResponse("/files", status_code=303)


@router.post("/file-buckets", dependencies=[CsrfDep])
def make_bucket(
    request: Request,
    kernel: KernelDep,
    signed_in: SignedInDep,
    name: Annotated[str, Form()] = "",
) -> Response:
    try:
        with kernel.store.write() as session:
            named_file_bucket(session, signed_in.account_id, checked_name(name))
    except InvalidInput as error:
        return show_files(request, kernel, signed_in, problem=(error.message, error.hint))
    return RedirectResponse("/files", status_code=303)


@router.post("/file-buckets/{bucket_id}/rename", dependencies=[CsrfDep])
def name_bucket(
    request: Request,
    kernel: KernelDep,
    signed_in: SignedInDep,
    bucket_id: int,
    name: Annotated[str, Form()] = "",
) -> Response:
    try:
        with kernel.store.write() as session:
            rename_bucket(session, signed_in.principal, bucket_id, name)
    except InvalidInput as error:
        return show_files(request, kernel, signed_in, problem=(error.message, error.hint))
    return RedirectResponse("/files", status_code=303)


@router.post("/file-buckets/{bucket_id}/delete", dependencies=[CsrfDep])
def delete_bucket(
    request: Request, kernel: KernelDep, signed_in: SignedInDep, bucket_id: int
) -> Response:
    receipt = remove_bucket(kernel, signed_in.principal, bucket_id)
    return show_files(request, kernel, signed_in, receipt=receipt)
