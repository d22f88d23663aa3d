"""Writing a note: a form with its whole text, front matter included, and a preview."""

from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from api.accounts.sessions import SignedIn
from api.deps import CsrfDep, KernelDep, ReadDep, SignedInDep
from api.web.pages.notes.addresses import crumbs, note_address, text_of_form
from api.web.templating import render
from backread.errors import BackreadError, Conflict, InvalidInput
from backread.notes import frontmatter
from backread.notes.paths import folder_path
from backread.store.repositories.notes import find_note
from recall.notes.reading import get_note, version_of
from recall.notes.writing import NONE, write_file

_MOST = 4 * 1024**2  # characters in a form; the note's own limit is smaller

router = APIRouter(include_in_schema=False)

_Text = Annotated[str, Form(max_length=_MOST)]
_Action = Annotated[str, Form(pattern="^(save|preview)$")]


@router.get("/notes/new")
def new_page(
    request: Request, signed_in: SignedInDep, folder: Annotated[str, Query(max_length=600)] = ""
) -> Response:
    folder = folder_path(folder)
    return _form(request, signed_in, path=f"{folder}/" if folder else "", text="", is_new=True)


@router.post("/notes/new", dependencies=[CsrfDep])
def make_note(
    request: Request,
    kernel: KernelDep,
    signed_in: SignedInDep,
    path: Annotated[str, Form(max_length=2_000)] = "",
    text: _Text = "",
    action: _Action = "save",
) -> Response:
    path, text = path.strip(), text_of_form(text, None)
    if path and not path.endswith((".md", "/")):
        path += ".md"  # people leave it out
    if action == "preview":
        return _form(request, signed_in, path=path, text=text, is_new=True, is_preview=True)
    try:
        note = write_file(kernel, signed_in.principal, path, text, expected=NONE)
    except (InvalidInput, Conflict) as error:
        return _form(request, signed_in, path=path, text=text, is_new=True, error=error)
    return RedirectResponse(note_address(note.path), status_code=303)


@router.get("/notes/{path:path}/edit")
def edit_page(request: Request, session: ReadDep, signed_in: SignedInDep, path: str) -> Response:
    note = get_note(session, signed_in.principal, path)
    text = frontmatter.join(note.front, note.body)
    return _form(request, signed_in, path=note.path, text=text, version=version_of(note))


@router.post("/notes/{path:path}/edit", dependencies=[CsrfDep])
def change_note(
    request: Request,
    kernel: KernelDep,
    signed_in: SignedInDep,
    path: str,
    text: _Text = "",
    version: Annotated[str, Form(max_length=100)] = "",
    action: _Action = "save",
) -> Response:
    """Saves what was written over the version that the form was made for. When there is another
    by now the form comes back with that version, so that saving again is a decision."""
    principal = signed_in.principal
    with kernel.store.read() as session:
        note = find_note(session, principal.account_id, path)
    text = text_of_form(text, note)
    shown: dict[str, Any] = {"path": path, "text": text, "version": version}
    if action == "preview":
        return _form(request, signed_in, **shown, is_preview=True)
    try:
        saved = write_file(kernel, principal, path, text, expected=version)
    except Conflict as error:
        latest = version_of(note) if note is not None else ""
        return _form(request, signed_in, **(shown | {"version": latest}), error=error)
    except InvalidInput as error:
        return _form(request, signed_in, **shown, error=error)
    return RedirectResponse(note_address(saved.path), status_code=303)


def _form(
    request: Request,
    signed_in: SignedIn,
    *,
    path: str,
    text: str,
    version: str = "",
    is_new: bool = False,
    is_preview: bool = False,
    error: BackreadError | None = None,
) -> Response:
    context = {
        "signed_in": signed_in,
        "note_path": path,
        "crumbs": [] if is_new else crumbs(path),
        "text": text,
        "version": version,
        "is_new": is_new,
        "preview": frontmatter.split(text)[1] if is_preview else None,
        "is_conflict": isinstance(error, Conflict) and not is_new,
        "error": error,
        "action": "/notes/new" if is_new else note_address(path, "/edit"),
        "back": "/notes" if is_new else note_address(path),
        "history": "" if is_new else note_address(path, "/history"),
    }
    status = 409 if isinstance(error, Conflict) else 422 if error else 200
    return render(request, "notes/edit.html", context, status_code=status)
