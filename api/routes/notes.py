"""Notes for scripts: what the MCP tools do, and history beside it.

A version is named by its ETag. Whoever sends it back as If-Match changes only that version, and
is refused with 409 when the note has changed since; without If-Match the last writer wins, as it
does over MCP.
"""

from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request, Response, Security
from fastapi import Path as InPath

from api.deps import PERSONAL_TOKEN, Allowed, CsrfDep, KernelDep, MaybeSignedInDep, ReadDep
from api.etags import etag_of, expected_version, names_version
from api.request_limits import STATE, RequestLimit
from api.schemas.notes import (
    DeletedNoteOut,
    DeletedNotes,
    NoteDiff,
    NoteEditIn,
    NoteHistory,
    NoteIn,
    NoteRemoved,
    NoteSaved,
    NoteTag,
    NoteTags,
    RestoreIn,
    RevisionDetail,
    diff_line,
    revision_detail,
    revision_out,
)
from backread.domain import Principal, Scope
from backread.notes.paths import note_path
from backread.store.models import Note
from backread.store.repositories.notes import find_note, list_notes
from recall.differences import difference, unified
from recall.notes import reading, writing
from recall.notes.searching import DEFAULT_RESULTS, MAX_RESULTS, MAX_TAGS, search_notes
from recall.notes.tags import count_tags
from recall.notes.tree import MAX_DEPTH, list_tree
from recall.notes.views import NoteResults, NoteTree, NoteView, moment

_HISTORY_PAGE = 200


class _Limited(Allowed):
    """As `Allowed`, and so many requests a minute."""

    def __call__(  # type: ignore[override]
        self,
        request: Request,
        response: Response,
        kernel: KernelDep,
        somebody: MaybeSignedInDep,
        _described: Annotated[object, Security(PERSONAL_TOKEN)],
    ) -> Principal:
        principal = super().__call__(request, kernel, somebody, _described)
        limit: RequestLimit = request.app.state.notes_limit
        headers, refusal = limit.take(principal)
        setattr(request.state, STATE, headers)
        response.headers.update(headers)
        if refusal is not None:
            raise refusal
        return principal


ReaderDep = Annotated[Principal, Depends(_Limited(Scope.MEMORY_READ))]
WriterDep = Annotated[Principal, Depends(_Limited(Scope.MEMORY_WRITE))]
NotePath = Annotated[str, InPath(description="Such as work/tasks/foo.md.")]
Tags = Annotated[
    list[str], Query(alias="tag", max_length=MAX_TAGS, description="All must be there.")
]
IfMatch = Annotated[str, Header(description="The ETag of the version to change.")]
IfNoneMatch = Annotated[str, Header(description="An ETag; `*` with PUT: only a new note.")]

router = APIRouter(tags=["notes"])


@router.get("/notes")
def get_notes(
    kernel: KernelDep,
    principal: ReaderDep,
    folder: Annotated[str, Query(description="Such as work/tasks; empty for all.")] = "",
    depth: Annotated[int, Query(ge=1, le=MAX_DEPTH)] = MAX_DEPTH,
    tags: Tags = [],  # noqa: B006 - FastAPI copies it
) -> NoteTree:
    """The folder tree, two levels at a time, as memory__list gives it."""
    return list_tree(kernel, principal, folder=folder, depth=depth, tags=tags)


@router.get("/notes/search", response_model_exclude_none=True)
def get_search(
    kernel: KernelDep,
    principal: ReaderDep,
    q: Annotated[str, Query(min_length=1, description="One literal text, in any case.")],
    folder: str = "",
    tags: Tags = [],  # noqa: B006 - FastAPI copies it
    limit: Annotated[int, Query(ge=1, le=MAX_RESULTS)] = DEFAULT_RESULTS,
    cursor: Annotated[str, Query(description="`nextCursor` of a page.")] = "",
) -> NoteResults:
    """Notes that hold the text, those with the most matches first, as memory__search gives them."""
    return search_notes(kernel, principal, q, folder=folder, tags=tags, limit=limit, cursor=cursor)


@router.get("/notes/tags")
def get_tags(session: ReadDep, principal: ReaderDep) -> NoteTags:
    """Every tag with the number of its notes."""
    counted = count_tags(session, principal)
    return NoteTags(items=[NoteTag(tag=tag, notes=count) for tag, count in counted])


@router.get("/notes/deleted")
def get_deleted(session: ReadDep, principal: ReaderDep) -> DeletedNotes:
    """Deleted notes, which can be restored."""
    found = list_notes(session, principal.account_id, is_deleted=True)
    return DeletedNotes(
        items=[
            DeletedNoteOut(path=each.path, title=each.title, deleted=moment(each.updated_at))
            for each in found
        ]
    )


@router.get("/notes/{path:path}/history")
def get_history(
    session: ReadDep,
    principal: ReaderDep,
    path: NotePath,
    before: Annotated[int | None, Query(ge=1, description="`next_before` of a page.")] = None,
) -> NoteHistory:
    """Every change of the note, newest first."""
    found = reading.history(session, principal, path, before=before)
    more = len(found) == _HISTORY_PAGE and found[-1].number > 1
    return NoteHistory(
        path=reading.get_note(session, principal, path).path,
        items=[revision_out(each) for each in found],
        next_before=found[-1].number if more else None,
    )


@router.get("/notes/{path:path}/history/{number}")
def get_revision(
    session: ReadDep, principal: ReaderDep, path: NotePath, number: int
) -> RevisionDetail:
    """What the note said after one change."""
    return revision_detail(reading.revision(session, principal, path, number))


@router.get("/notes/{path:path}/diff")
def get_diff(
    session: ReadDep,
    principal: ReaderDep,
    path: NotePath,
    new: Annotated[int | None, Query(ge=1, description="The latest revision if left out.")] = None,
    old: Annotated[int | None, Query(ge=0, description="The one before `new` if left out.")] = None,
) -> NoteDiff:
    """What changed from one revision to another."""
    note = reading.get_note(session, principal, path)
    new = new or note.number
    old = new - 1 if old is None else old
    after = reading.revision(session, principal, path, new).text
    before = reading.revision(session, principal, path, old).text if old else ""
    return NoteDiff(
        path=note.path,
        old=old,
        new=new,
        lines=[diff_line(each) for each in difference(before, after)],
        patch=unified(before, after, f"a/{note.path}", f"b/{note.path}"),
    )


@router.post("/notes/{path:path}/restore", dependencies=[CsrfDep])
def post_restore(
    kernel: KernelDep,
    response: Response,
    principal: WriterDep,
    path: NotePath,
    wanted: RestoreIn,
    if_match: IfMatch = "",
) -> NoteSaved:
    """Makes the note say again what a revision says. Brings a deleted note back."""
    note = writing.restore_note(
        kernel, principal, path, number=wanted.revision, expected=expected_version(if_match)
    )
    return _saved(response, note)


@router.get(
    "/notes/{path:path}",
    response_model=NoteView,
    responses={304: {"description": "Not changed."}},
)
def get_note(
    request: Request,
    session: ReadDep,
    response: Response,
    principal: ReaderDep,
    path: NotePath,
    if_none_match: IfNoneMatch = "",
) -> NoteView | Response:
    """One note, also a deleted one, with its version as ETag."""
    note = reading.get_note(session, principal, path)
    etag = etag_of(reading.version_of(note))
    if names_version(if_none_match, reading.version_of(note)):
        return Response(status_code=304, headers={"ETag": etag} | getattr(request.state, STATE))
    response.headers["ETag"] = etag
    return reading.note_view(note)


@router.put(
    "/notes/{path:path}",
    dependencies=[CsrfDep],
    responses={201: {"description": "A new note.", "model": NoteSaved}},
)
def put_note(
    kernel: KernelDep,
    response: Response,
    principal: WriterDep,
    path: NotePath,
    wanted: NoteIn,
    if_match: IfMatch = "",
    if_none_match: IfNoneMatch = "",
) -> NoteSaved:
    """Makes the note or replaces all of it."""
    expected = writing.NONE if if_none_match.strip() == "*" else expected_version(if_match)
    with kernel.store.read() as session:
        was_there = find_note(session, principal.account_id, note_path(path)) is not None
    note = writing.write_note(
        kernel, principal, path, wanted.body, wanted.frontmatter, expected=expected
    )
    response.status_code = 200 if was_there else 201
    return _saved(response, note)


@router.patch("/notes/{path:path}", dependencies=[CsrfDep])
def patch_note(
    kernel: KernelDep,
    response: Response,
    principal: WriterDep,
    path: NotePath,
    wanted: NoteEditIn,
    if_match: IfMatch = "",
) -> NoteSaved:
    """Changes a part, as memory__edit does."""
    note = writing.edit_note(
        kernel,
        principal,
        path,
        body=wanted.body,
        values=wanted.frontmatter,
        mode=wanted.mode,
        old=wanted.old_str,
        new=wanted.new_str,
        expected=expected_version(if_match),
    )
    return _saved(response, note)


@router.delete("/notes/{path:path}", dependencies=[CsrfDep])
def delete_note(
    kernel: KernelDep,
    principal: WriterDep,
    path: NotePath,
    permanently: Annotated[
        bool, Query(description="Takes a note that is deleted already away, with its history.")
    ] = False,
    if_match: IfMatch = "",
) -> NoteRemoved:
    """Deletes the note, so that it can be restored; or, a second time, for good."""
    if permanently:
        writing.purge_note(kernel, principal, path, expected=expected_version(if_match))
        return NoteRemoved(path=path, permanently=True)
    note = writing.delete_note(kernel, principal, path, expected=expected_version(if_match))
    return NoteRemoved(path=note.path, permanently=False)


def _saved(response: Response, note: Note) -> NoteSaved:
    response.headers["ETag"] = f'"{reading.version_of(note)}"'
    return NoteSaved(path=note.path, updated=moment(note.updated_at), revision=note.number)
