"""Deleting notes and having them back."""

from typing import Annotated

from fastapi import APIRouter, Form, Response
from fastapi.responses import RedirectResponse

from api.deps import CsrfDep, KernelDep, SignedInDep
from api.web.pages.notes.addresses import folder_address, note_address
from backread.notes.paths import folder_of
from recall.notes.writing import delete_note, purge_note, restore_note

router = APIRouter(include_in_schema=False)


@router.post("/notes/{path:path}/delete", dependencies=[CsrfDep])
def delete(kernel: KernelDep, signed_in: SignedInDep, path: str) -> Response:
    note = delete_note(kernel, signed_in.principal, path)
    return RedirectResponse(folder_address(folder_of(note.path)), status_code=303)


@router.post("/notes/{path:path}/restore", dependencies=[CsrfDep])
def restore(
    kernel: KernelDep,
    signed_in: SignedInDep,
    path: str,
    revision: Annotated[int | None, Form(ge=1)] = None,
) -> Response:
    note = restore_note(kernel, signed_in.principal, path, number=revision)
    return RedirectResponse(note_address(note.path), status_code=303)


@router.post("/notes/{path:path}/purge", dependencies=[CsrfDep])
def purge(kernel: KernelDep, signed_in: SignedInDep, path: str) -> Response:
    purge_note(kernel, signed_in.principal, path)
    return RedirectResponse("/notes/deleted", status_code=303)
