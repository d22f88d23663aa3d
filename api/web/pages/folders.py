"""Folders: records that agents share, and the keys that let them in."""

from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from api.accounts.sessions import SignedIn
from api.deps import CsrfDep, KernelDep, SignedInDep, WriteDep
from api.errors import http_status
from api.oauth.resources import FOLDER_PATH
from api.web.forms import unix_lines
from api.web.templating import render
from backread.errors import BackreadError, Conflict, InvalidInput, LimitExceeded, Unavailable
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.repositories.folders import keys_of
from backread.store.repositories.record_chunks import count_not_indexed
from recall.folders import catalogue, keys
from recall.folders.access import get_folder, owner_access
from recall.folders.reading import deleted_records, list_records
from recall.folders.searching import vector_search

_NOTICES = {
    "made": "The folder is there. Make a key below to let an agent in.",
    "changed": "Saved.",
    "revoked": "The key is revoked; whoever used it is shut out.",
    "deleted": "The record is deleted. It can be restored below.",
    "purged": "The record and its history are deleted for good.",
}
_LIVES = {
    "": "until I revoke it",
    "7": "a week",
    "30": "a month",
    "90": "three months",
    "365": "a year",
}
_LOOSE = 0.3  # people see loosely related parts too, with their score
_Text = Annotated[str, Form(max_length=5000)]

router = APIRouter(include_in_schema=False)


@router.get("/folders")
def folders_page(
    request: Request, kernel: KernelDep, signed_in: SignedInDep, gone: str = ""
) -> Response:
    return _list(request, kernel, signed_in, gone=gone)


@router.post("/folders", dependencies=[CsrfDep])
def make_folder(
    request: Request,
    kernel: KernelDep,
    signed_in: SignedInDep,
    name: _Text = "",
    vector_description: _Text = "",
    generate_embeddings: Annotated[bool, Form()] = False,
) -> Response:
    try:
        with kernel.store.write() as session:
            folder = catalogue.create_folder(
                session,
                signed_in.principal,
                name,
                generate_embeddings=generate_embeddings,
                vector_description=unix_lines(vector_description),
            )
    except (InvalidInput, Conflict, LimitExceeded) as error:
        return _list(request, kernel, signed_in, error=error, name=name)
    return RedirectResponse(f"/folders/{folder.id}?done=made", status_code=303)


@router.get("/folders/{folder_id}")
def folder_page(
    request: Request,
    kernel: KernelDep,
    signed_in: SignedInDep,
    folder_id: str,
    q: Annotated[str, Query(max_length=4000)] = "",
    cursor: Annotated[str, Query(max_length=64)] = "",
    done: str = "",
) -> Response:
    return _folder(
        request,
        kernel,
        signed_in,
        folder_id,
        query=q.strip(),
        cursor=cursor,
        notice=_NOTICES.get(done, ""),
    )


@router.post("/folders/{folder_id}", dependencies=[CsrfDep])
def change_folder(
    request: Request,
    kernel: KernelDep,
    signed_in: SignedInDep,
    folder_id: str,
    name: _Text = "",
    vector_description: _Text = "",
    generate_embeddings: Annotated[bool, Form()] = False,
) -> Response:
    try:
        with kernel.store.write() as session:
            catalogue.change_folder(
                session,
                signed_in.principal,
                folder_id,
                name=name,
                generate_embeddings=generate_embeddings,
                vector_description=unix_lines(vector_description),
            )
    except (InvalidInput, Conflict) as error:
        return _folder(request, kernel, signed_in, folder_id, error=error)
    return RedirectResponse(f"/folders/{folder_id}?done=changed", status_code=303)


@router.post("/folders/{folder_id}/delete", dependencies=[CsrfDep])
def delete_folder(
    request: Request, kernel: KernelDep, signed_in: SignedInDep, folder_id: str, name: _Text = ""
) -> Response:
    try:
        count = catalogue.delete_folder(kernel, signed_in.principal, folder_id, name=name)
    except InvalidInput as error:
        return _folder(request, kernel, signed_in, folder_id, error=error)
    return RedirectResponse(f"/folders?gone={count}", status_code=303)


@router.post("/folders/{folder_id}/keys", dependencies=[CsrfDep])
def make_key(
    request: Request,
    kernel: KernelDep,
    signed_in: SignedInDep,
    folder_id: str,
    name: _Text = "",
    read_only: Annotated[bool, Form()] = False,
    days: Annotated[str, Form(pattern=r"^\d{0,4}$")] = "",
) -> Response:
    try:
        with kernel.store.write() as session:
            _, key = keys.make_key(
                session,
                signed_in.principal,
                folder_id,
                name=name,
                is_read_only=read_only,
                days=int(days) if days else None,
            )
    except (InvalidInput, LimitExceeded) as error:
        return _folder(request, kernel, signed_in, folder_id, error=error)
    return _folder(request, kernel, signed_in, folder_id, new_key=key)


@router.post("/folders/{folder_id}/keys/{key_id}/revoke", dependencies=[CsrfDep])
def revoke_key(session: WriteDep, signed_in: SignedInDep, folder_id: str, key_id: str) -> Response:
    keys.revoke_key(session, signed_in.principal, folder_id, key_id)
    return RedirectResponse(f"/folders/{folder_id}?done=revoked", status_code=303)


def _list(
    request: Request,
    kernel: Kernel,
    signed_in: SignedIn,
    *,
    gone: str = "",
    error: BackreadError | None = None,
    name: str = "",
) -> Response:
    with kernel.store.read() as session:
        found = catalogue.list_folders(session, signed_in.principal)
    context = {
        "signed_in": signed_in,
        "folders": found,
        "gone": int(gone) if gone.isdecimal() and len(gone) < 8 else None,
        "error": error,
        "name": name,
        "max_name": catalogue.MAX_NAME,
        "max_description": catalogue.MAX_DESCRIPTION,
    }
    status = http_status(error) if error else 200
    return render(request, "folders.html", context, status_code=status)


def _folder(
    request: Request,
    kernel: Kernel,
    signed_in: SignedIn,
    folder_id: str,
    *,
    query: str = "",
    cursor: str = "",
    notice: str = "",
    new_key: str = "",
    error: BackreadError | None = None,
) -> Response:
    principal = signed_in.principal
    with kernel.store.read() as session:
        folder = get_folder(session, principal.account_id, folder_id)
        access = owner_access(session, principal, folder_id)
        folder_keys = keys_of(session, principal.account_id, folder_id)
    context: dict[str, Any] = {
        "signed_in": signed_in,
        "folder": folder,
        "keys": folder_keys,
        "listed": list_records(kernel, access, cursor=cursor, limit=100),
        "is_first_page": not cursor,
        "deleted": deleted_records(kernel, access),
        "query": query,
        "found": None,
        "waiting": _waiting(kernel, signed_in, folder_id) if folder.generate_embeddings else 0,
        "notice": notice,
        "new_key": new_key,
        "now": utcnow(),
        "endpoint": kernel.settings.origin + FOLDER_PATH,
        "lives": _LIVES,
        "max_name": catalogue.MAX_NAME,
        "max_description": catalogue.MAX_DESCRIPTION,
        "max_key_name": keys.MAX_NAME,
    }
    if query:
        try:
            context["found"] = vector_search(
                kernel, access, query, limit=30, similarity_threshold=_LOOSE
            )
        except (InvalidInput, Unavailable) as problem:
            error = problem
    context["error"] = error
    status = http_status(error) if error else 200
    return render(request, "folder.html", context, status_code=status)


def _waiting(kernel: Kernel, signed_in: SignedIn, folder_id: str) -> int:
    """Parts that are not indexed yet; 0 when the index cannot say."""
    try:
        lexical, dense = kernel.index.lexical_signature, kernel.dense_signature
    except Unavailable:
        return 0
    with kernel.store.read() as session:
        return count_not_indexed(
            session, signed_in.account_id, folder_id, lexical=lexical, dense=dense
        )
