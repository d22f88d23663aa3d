"""Notes: the tree, a list, a search, one note, and what was deleted."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from markupsafe import Markup

from api.accounts.sessions import SignedIn
from api.deps import KernelDep, ReadDep, SignedInDep
from api.web.pages.notes.addresses import crumbs, folder_address, note_address
from api.web.pages.notes.content import addresses_from, render_note
from api.web.snippets import marked_text
from api.web.templating import render
from backread.errors import BackreadError
from backread.kernel import Kernel
from backread.notes.paths import folder_path, stem_of
from backread.store.repositories.notes import ListedNote, list_notes
from recall.notes.reading import get_note
from recall.notes.searching import MAX_QUERY, search_notes
from recall.notes.tags import tags_counted
from recall.notes.tree import Folder, grown
from recall.notes.views import NoteResults

_MOST_LISTED = 500
_MOST_TAGS = 40
_RESULTS = 30
_MOST_SHOWN = 200_000  # characters; a browser takes seconds to lay out more

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Branch:
    """A folder of the side bar's tree. Open above the place that is shown."""

    name: str
    href: str
    files: int
    is_open: bool
    is_here: bool
    branches: "list[Branch]"


@dataclass(frozen=True, slots=True)
class ShownHit:
    title: str
    path: str
    href: str
    snippet: Markup
    score: int


@router.get("/notes")
def notes_page(
    request: Request,
    kernel: KernelDep,
    session: ReadDep,
    signed_in: SignedInDep,
    folder: Annotated[str, Query(max_length=600)] = "",
    tag: Annotated[str, Query(max_length=200)] = "",
    q: Annotated[str, Query(max_length=MAX_QUERY)] = "",
    cursor: Annotated[str, Query(max_length=500)] = "",
) -> Response:
    folder = folder_path(folder)
    notes = list_notes(session, signed_in.principal.account_id)
    tagged = [each for each in notes if not tag or tag in each.tags]
    inside = grown(tagged, folder)
    listed = _all_below(inside) if tag else inside.notes
    if not folder and not tag:
        listed = notes
    listed = sorted(listed, key=lambda each: each.updated_at, reverse=True)
    result, error = _search(kernel, signed_in, q.strip(), folder, tag, cursor)
    context: dict[str, Any] = {
        "signed_in": signed_in,
        "total": len(notes),
        "tree": branches(grown(notes, ""), folder),
        "folder": folder,
        "crumbs": crumbs(f"{folder}/x") if folder else [],
        "folders": [
            (name, folder_address(f"{folder}/{name}" if folder else name), each.files)
            for name, each in sorted(inside.folders.items())
            if folder and not tag
        ],
        "listed": [(each, note_address(each.path)) for each in listed[:_MOST_LISTED]],
        "not_listed": max(0, len(listed) - _MOST_LISTED),
        "tags": [
            (name, count, folder_address(folder, tag=name))
            for name, count in tags_counted(grown_notes(notes, folder))[:_MOST_TAGS]
        ],
        "tag": tag,
        "without_tag": folder_address(folder),
        "asked": q.strip(),
        "hits": _shown(result, q) if result else [],
        "next": folder_address(folder, tag=tag, q=q, cursor=result.next_cursor)
        if result and result.next_cursor
        else "",
        "error": error,
        "deleted": len(list_notes(session, signed_in.principal.account_id, is_deleted=True)),
    }
    return render(request, "notes/notes.html", context)


@router.get("/notes/deleted")
def deleted_page(request: Request, session: ReadDep, signed_in: SignedInDep) -> Response:
    found = list_notes(session, signed_in.principal.account_id, is_deleted=True)
    found.sort(key=lambda each: each.updated_at, reverse=True)
    context = {
        "signed_in": signed_in,
        "listed": [(each, note_address(each.path)) for each in found],
    }
    return render(request, "notes/deleted.html", context)


@router.get("/notes/{path:path}")
def note_page(request: Request, session: ReadDep, signed_in: SignedInDep, path: str) -> Response:
    note = get_note(session, signed_in.principal, path)
    notes = list_notes(session, signed_in.principal.account_id)
    context = {
        "signed_in": signed_in,
        "note": note,
        "facts": [
            (key, value) for key, value in note.frontmatter.items() if key not in {"tags", "title"}
        ],
        "tags": [(each, folder_address("", tag=each)) for each in note.tags],
        "tree": branches(grown(notes, ""), note.path.rpartition("/")[0], note),
        "crumbs": crumbs(note.path),
        "name": stem_of(note.path),
        "body": render_note(
            note.body[:_MOST_SHOWN], addresses_from(note.path, (each.path for each in notes))
        ),
        "is_cut": len(note.body) > _MOST_SHOWN,
        "address": note_address(note.path),
    }
    return render(request, "notes/note.html", context)


def branches(root: Folder, here: str, note: Any = None, above: str = "") -> list[Branch]:
    """The folders as the side bar shows them."""
    found = []
    for name, each in sorted(root.folders.items()):
        path = f"{above}/{name}" if above else name
        found.append(
            Branch(
                name=name,
                href=folder_address(path),
                files=each.files,
                is_open=f"{here}/".startswith(f"{path}/"),
                is_here=here == path and note is None,
                branches=branches(each, here, note, path),
            )
        )
    return found


def grown_notes(notes: list[ListedNote], folder: str) -> list[ListedNote]:
    """Those in the folder and below."""
    start = f"{folder}/" if folder else ""
    return [each for each in notes if each.path.startswith(start)]


def _all_below(folder: Folder) -> list[ListedNote]:
    found = list(folder.notes)
    for inner in folder.folders.values():
        found += _all_below(inner)
    return found


def _search(
    kernel: Kernel, signed_in: SignedIn, query: str, folder: str, tag: str, cursor: str
) -> tuple[NoteResults | None, BackreadError | None]:
    if not query:
        return None, None
    try:
        result = search_notes(
            kernel,
            signed_in.principal,
            query,
            folder=folder,
            tags=[tag] if tag else (),
            limit=_RESULTS,
            cursor=cursor,
        )
    except BackreadError as error:
        return None, error
    return result, None


def _shown(result: NoteResults, query: str) -> list[ShownHit]:
    return [
        ShownHit(
            title=each.title,
            path=each.path,
            href=note_address(each.path),
            snippet=marked_text(each.snippet, query.strip()),
            score=each.score,
        )
        for each in result.results
    ]
