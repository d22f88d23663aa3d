"""One record of a folder: read, written, and everything it was."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from api.accounts.sessions import SignedIn
from api.deps import CsrfDep, KernelDep, SignedInDep
from api.errors import http_status
from api.web.content import render_markdown
from api.web.forms import unix_lines
from api.web.metadata_lines import from_lines, to_lines
from api.web.templating import render
from backread.errors import BackreadError, Conflict, InvalidInput, LimitExceeded
from backread.kernel import Kernel
from backread.store.models import Folder
from recall.differences import difference
from recall.folders import reading, records
from recall.folders.access import FolderAccess, get_folder, owner_access
from recall.folders.views import RecordOut, RevisionOut

_PATH = "/folders/{folder_id}/records"
_Content = Annotated[str, Form(max_length=1_000_000)]
_Line = Annotated[str, Form(max_length=5000)]
_Metadata = Annotated[str, Form(max_length=300_000)]

_LATEST = 10  # revisions beside a record
_WORDS = {
    "create": "made",
    "replace": "changed",
    "append": "added to",
    "restore": "restored",
    "delete": "deleted",
    "import": "imported",
}

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Draft:
    """What the form holds."""

    name: str = ""
    content: str = ""
    metadata: str = ""
    vector_description: str = ""
    revision: int = 0


@router.get("/folders/{folder_id}/new")
def new_record_page(
    request: Request, kernel: KernelDep, signed_in: SignedInDep, folder_id: str
) -> Response:
    return _form(request, kernel, signed_in, folder_id, Draft())


@router.post(_PATH, dependencies=[CsrfDep])
def make_record(
    request: Request,
    kernel: KernelDep,
    signed_in: SignedInDep,
    folder_id: str,
    name: _Line = "",
    content: _Content = "",
    metadata: _Metadata = "",
    vector_description: _Line = "",
) -> Response:
    draft = Draft(name, unix_lines(content), metadata, unix_lines(vector_description))
    _, access = _opened(kernel, signed_in, folder_id)
    try:
        record = records.create_record(
            kernel,
            access,
            draft.name,
            draft.content,
            metadata=from_lines(metadata),
            vector_description=draft.vector_description,
        )
    except (InvalidInput, LimitExceeded) as error:
        return _form(request, kernel, signed_in, folder_id, draft, error=error)
    return RedirectResponse(f"/folders/{folder_id}/records/{record.id}", status_code=303)


@router.get(_PATH + "/{record_id}")
def record_page(
    request: Request,
    kernel: KernelDep,
    signed_in: SignedInDep,
    folder_id: str,
    record_id: str,
    start: Annotated[int | None, Query(ge=0)] = None,
    end: Annotated[int | None, Query(ge=0)] = None,
) -> Response:
    """`start` and `end` name the characters that a search found."""
    folder, access = _opened(kernel, signed_in, folder_id)
    record, _ = reading.find_record(kernel, access, record_id=record_id)
    context = {
        "signed_in": signed_in,
        "folder": folder,
        "record": record,
        "content": render_markdown(record.content),
        "found": record.content[start:end] if start is not None and end is not None else "",
        "facts": reading.get_propositions(kernel, access, record_id).propositions,
        "revisions": reading.history(kernel, access, record_id).items[:_LATEST],
        "words": _WORDS,
    }
    return render(request, "record.html", context)


@router.get(_PATH + "/{record_id}/edit")
def edit_page(
    request: Request, kernel: KernelDep, signed_in: SignedInDep, folder_id: str, record_id: str
) -> Response:
    _, access = _opened(kernel, signed_in, folder_id)
    record, _ = reading.find_record(kernel, access, record_id=record_id)
    return _form(request, kernel, signed_in, folder_id, _draft(record), record_id=record_id)


@router.post(_PATH + "/{record_id}", dependencies=[CsrfDep])
def save_record(
    request: Request,
    kernel: KernelDep,
    signed_in: SignedInDep,
    folder_id: str,
    record_id: str,
    name: _Line = "",
    content: _Content = "",
    metadata: _Metadata = "",
    vector_description: _Line = "",
    revision: Annotated[int, Form(ge=0, le=2**31)] = 0,
) -> Response:
    draft = Draft(name, unix_lines(content), metadata, unix_lines(vector_description), revision)
    _, access = _opened(kernel, signed_in, folder_id)
    try:
        records.replace_record(
            kernel,
            access,
            record_id,
            name=draft.name,
            content=draft.content,
            metadata=from_lines(metadata),
            vector_description=draft.vector_description,
            expected_revision=revision or None,
        )
    except (InvalidInput, LimitExceeded, Conflict) as error:
        return _form(request, kernel, signed_in, folder_id, draft, record_id=record_id, error=error)
    return RedirectResponse(f"/folders/{folder_id}/records/{record_id}", status_code=303)


@router.post(_PATH + "/{record_id}/delete", dependencies=[CsrfDep])
def delete_record(
    kernel: KernelDep, signed_in: SignedInDep, folder_id: str, record_id: str
) -> Response:
    _, access = _opened(kernel, signed_in, folder_id)
    records.delete_record(kernel, access, record_id)
    return RedirectResponse(f"/folders/{folder_id}?done=deleted", status_code=303)


@router.post(_PATH + "/{record_id}/purge", dependencies=[CsrfDep])
def purge_record(
    kernel: KernelDep, signed_in: SignedInDep, folder_id: str, record_id: str
) -> Response:
    _, access = _opened(kernel, signed_in, folder_id)
    records.purge_record(kernel, access, record_id)
    return RedirectResponse(f"/folders/{folder_id}?done=purged", status_code=303)


@router.post(_PATH + "/{record_id}/restore", dependencies=[CsrfDep])
def restore_record(
    kernel: KernelDep,
    signed_in: SignedInDep,
    folder_id: str,
    record_id: str,
    number: Annotated[int, Form(ge=0, le=2**31)] = 0,
) -> Response:
    """Number 0: a deleted record, as it was last."""
    _, access = _opened(kernel, signed_in, folder_id)
    records.restore_record(kernel, access, record_id, number or None)
    return RedirectResponse(f"/folders/{folder_id}/records/{record_id}", status_code=303)


@router.get(_PATH + "/{record_id}/history")
def history_page(
    request: Request,
    kernel: KernelDep,
    signed_in: SignedInDep,
    folder_id: str,
    record_id: str,
    at: Annotated[int | None, Query(ge=1)] = None,
    before: Annotated[int | None, Query(ge=1)] = None,
) -> Response:
    """`at` is the revision that is compared with the one before it; the latest if left out."""
    folder, access = _opened(kernel, signed_in, folder_id)
    listed = reading.history(kernel, access, record_id, before=before)
    latest, _ = reading.revision(kernel, access, record_id)
    shown, former = reading.revision(kernel, access, record_id, at)
    address = f"/folders/{folder_id}/records/{record_id}"
    context = {
        "signed_in": signed_in,
        "folder": folder,
        "address": address,
        "latest": latest,
        "shown": shown,
        "lines": difference(_whole(former) if former else "", _whole(shown)),
        "revisions": [(each, _link(address, each.number, before)) for each in listed.items],
        "older": _link(address, shown.number, listed.next_before) if listed.next_before else "",
        "words": _WORDS,
    }
    return render(request, "record_history.html", context)


def _opened(kernel: Kernel, signed_in: SignedIn, folder_id: str) -> tuple[Folder, FolderAccess]:
    with kernel.store.read() as session:
        folder = get_folder(session, signed_in.account_id, folder_id)
        return folder, owner_access(session, signed_in.principal, folder_id)


def _form(
    request: Request,
    kernel: Kernel,
    signed_in: SignedIn,
    folder_id: str,
    draft: Draft,
    *,
    record_id: str = "",
    error: BackreadError | None = None,
) -> Response:
    folder, _ = _opened(kernel, signed_in, folder_id)
    context: dict[str, Any] = {
        "signed_in": signed_in,
        "folder": folder,
        "record_id": record_id,
        "draft": draft,
        "error": error,
        "max_name": records.MAX_NAME,
        "max_content": records.MAX_CONTENT,
        "max_description": records.MAX_DESCRIPTION,
    }
    status = http_status(error) if error else 200
    return render(request, "record_form.html", context, status_code=status)


def _draft(record: RecordOut) -> Draft:
    return Draft(
        record.name,
        record.content,
        to_lines(record.metadata),
        record.vector_description,
        record.revision,
    )


def _link(address: str, number: int, before: int | None) -> str:
    return f"{address}/history?at={number}" + (f"&before={before}" if before else "")


def _whole(revision: RevisionOut) -> str:
    head = [f"name: {revision.name}"]
    head += [f"metadata: {line}" for line in to_lines(revision.metadata).splitlines()]
    if revision.vector_description:
        head.append(f"description: {revision.vector_description}")
    return "\n".join([*head, "", revision.content])
