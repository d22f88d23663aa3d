"""Memories by bucket: to search, add, edit, move and delete."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from api.accounts.sessions import SignedIn
from api.deps import CsrfDep, KernelDep, SignedInDep
from api.errors import http_status
from api.web.filters import plural
from api.web.forms import unix_lines
from api.web.templating import render
from backread.domain import Principal
from backread.errors import BackreadError, Conflict, InvalidInput, LimitExceeded, NotFound
from backread.kernel import Kernel
from backread.store.repositories.forgettings import list_forgettings, memories_of
from recall.memories import (
    MAX_BUCKET_NAME,
    MAX_CHARACTERS,
    MAX_QUERY_CHARACTERS,
    MAX_RESULTS,
    MOST_AT_ONCE,
    ShownMemory,
    create_bucket,
    current_memories,
    delete_bucket,
    edit_memory,
    forget_memories,
    former_versions,
    list_buckets,
    move_memories,
    purge_now,
    search_memories,
    store_memory,
    undo_forget,
)

PAGE_SIZE = 50
_ADDRESS = "/memories"
_FORGOTTEN = "/memories/forgotten"
_NEW_BUCKET = "new"
_MOST_DELETIONS = 200
_MOST_PREVIEWED = 50  # deletions whose texts are shown
_MOST_PREVIEWS = 3  # of one deletion
_REFUSALS = (InvalidInput, LimitExceeded, NotFound, Conflict)

router = APIRouter(include_in_schema=False)

_Text = Annotated[str, Form(max_length=20_000)]
_Bucket = Annotated[str, Form(max_length=32)]
_BucketName = Annotated[str, Form(max_length=1000)]
_Id = Annotated[str, Form(max_length=64)]


@dataclass(frozen=True, slots=True)
class MemoriesView:
    """Which memories the page shows."""

    bucket: str = ""
    query: str = ""
    cursor: str = ""

    def address(self, **more: str) -> str:
        values = {"bucket": self.bucket, "q": self.query, "cursor": self.cursor, **more}
        text = urlencode({name: value for name, value in values.items() if value})
        return f"{_ADDRESS}?{text}" if text else _ADDRESS


@router.get(_ADDRESS)
def memories_page(
    request: Request,
    kernel: KernelDep,
    signed_in: SignedInDep,
    bucket: Annotated[str, Query(max_length=32)] = "",
    q: Annotated[str, Query(max_length=MAX_QUERY_CHARACTERS)] = "",
    cursor: Annotated[str, Query(max_length=64)] = "",
    edit: Annotated[str, Query(max_length=64)] = "",
    done: Annotated[str, Query(max_length=20)] = "",
    count: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    undo: Annotated[str, Query(max_length=26)] = "",
) -> Response:
    """`done`, `count` and `undo` say what the form that led here has done."""
    view = MemoriesView(bucket, q.strip(), cursor)
    notice = _notice(done, count)
    try:
        return _page(request, kernel, signed_in, view, edit=edit, notice=notice, undo=undo)
    except NotFound as error:
        raise NotFound(
            "There is no such bucket.", hint="It may have been deleted. Memories shows all buckets."
        ) from error


@router.post(f"{_ADDRESS}/add", dependencies=[CsrfDep])
def add(
    request: Request,
    kernel: KernelDep,
    signed_in: SignedInDep,
    text: _Text = "",
    bucket: _Bucket = "",
    bucket_name: _BucketName = "",
) -> Response:
    """Keeps a memory in the person's own words."""
    principal = signed_in.principal
    try:
        target = _bucket(kernel, principal, bucket, bucket_name)
        stored = store_memory(kernel, principal, unix_lines(text), bucket_id=target or None)
    except _REFUSALS as error:
        view = MemoriesView(bucket if bucket.isdigit() else "")
        return _page(request, kernel, signed_in, view, error=error, draft=text)
    view = MemoriesView(str(stored.bucket_id))
    return _redirect(view.address(done="added" if stored.stored else "known"))


@router.post(f"{_ADDRESS}/change", dependencies=[CsrfDep])
def change(
    request: Request,
    kernel: KernelDep,
    signed_in: SignedInDep,
    memory: _Id,
    text: _Text = "",
    bucket: _Bucket = "",
    bucket_name: _BucketName = "",
    keep_former: Annotated[bool, Form()] = False,
    from_bucket: _Bucket = "",
    q: Annotated[str, Form(max_length=MAX_QUERY_CHARACTERS)] = "",
) -> Response:
    """Edits a memory; with `keep_former` the old text stays as a former version."""
    principal = signed_in.principal
    view = MemoriesView(from_bucket, q)
    try:
        target = _bucket(kernel, principal, bucket, bucket_name)
        if keep_former:
            stored = store_memory(
                kernel, principal, unix_lines(text), bucket_id=target or None, supersedes=memory
            )
            memory = stored.memory_id
        else:
            edit_memory(kernel, principal, memory, text=unix_lines(text), bucket_id=target or None)
    except _REFUSALS as error:
        return _page(request, kernel, signed_in, view, edit=memory, error=error, draft=text)
    return _redirect(f"{view.address(done='changed')}#m-{memory}")


@router.post(f"{_ADDRESS}/decide", dependencies=[CsrfDep])
def decide(
    request: Request,
    kernel: KernelDep,
    signed_in: SignedInDep,
    action: Annotated[str, Form(pattern="^(move|forget)$")],
    ids: Annotated[list[str] | None, Form(alias="id", max_length=MOST_AT_ONCE)] = None,
    bucket: _Bucket = "",
    bucket_name: _BucketName = "",
    from_bucket: _Bucket = "",
    q: Annotated[str, Form(max_length=MAX_QUERY_CHARACTERS)] = "",
) -> Response:
    """Moves or deletes the chosen ones, all or none."""
    principal = signed_in.principal
    view = MemoriesView(from_bucket, q)
    try:
        if not ids:
            raise InvalidInput("No memory was chosen.", hint="Tick at least one.")
        if action == "forget":
            gone = forget_memories(kernel, principal, ids)
            done = {"done": "forgotten", "count": str(gone.memory_count), "undo": gone.undo_id}
        else:
            target = _bucket(kernel, principal, bucket, bucket_name)
            moved = move_memories(kernel, principal, ids, bucket_id=target or None)
            done = {"done": "moved", "count": str(moved.moved)}
    except _REFUSALS as error:
        return _page(request, kernel, signed_in, view, error=error)
    return _redirect(view.address(**done))


@router.post(f"{_ADDRESS}/bucket", dependencies=[CsrfDep])
def change_bucket(
    request: Request,
    kernel: KernelDep,
    signed_in: SignedInDep,
    action: Annotated[str, Form(pattern="^(create|delete)$")],
    bucket: _Bucket = "",
    bucket_name: _BucketName = "",
) -> Response:
    """Makes a bucket, or deletes one with its memories."""
    principal = signed_in.principal
    try:
        if action == "create":
            made = create_bucket(kernel, principal, bucket_name)
            address = MemoriesView(str(made.bucket_id)).address(
                done="made" if made.created else "there"
            )
        else:
            gone = delete_bucket(kernel, principal, bucket)
            address = MemoriesView().address(
                done="bucket", count=str(gone.memory_count), undo=gone.undo_id
            )
    except _REFUSALS as error:
        return _page(request, kernel, signed_in, MemoriesView(), error=error)
    return _redirect(address)


@router.post(f"{_ADDRESS}/undo", dependencies=[CsrfDep])
def undo_deletion(
    request: Request, kernel: KernelDep, signed_in: SignedInDep, undo: _Id
) -> Response:
    """Brings back what one deletion took away."""
    try:
        restored = undo_forget(kernel, signed_in.principal, undo)
    except _REFUSALS as error:
        return _page(request, kernel, signed_in, MemoriesView(), error=error)
    bucket = str(restored.bucket_ids[0]) if len(restored.bucket_ids) == 1 else ""
    return _redirect(MemoriesView(bucket).address(done="restored", count=str(restored.restored)))


@router.get(_FORGOTTEN)
def forgotten_page(
    request: Request,
    kernel: KernelDep,
    signed_in: SignedInDep,
    purged: Annotated[bool, Query()] = False,
) -> Response:
    """What was deleted lately and can still be had back."""
    account_id = signed_in.principal.account_id
    with kernel.store.read() as session:
        rows = list_forgettings(session, account_id, limit=_MOST_DELETIONS)
        texts = {
            row.id: [
                each.text for each in memories_of(session, account_id, row.id, limit=_MOST_PREVIEWS)
            ]
            for row in rows[:_MOST_PREVIEWED]
        }
    context = {
        "signed_in": signed_in,
        "deletions": rows,
        "texts": texts,
        "purged": purged,
        "undo_days": kernel.settings.forget_undo_days,
    }
    return render(request, "memories_forgotten.html", context)


@router.post(_FORGOTTEN, dependencies=[CsrfDep])
def purge(request: Request, kernel: KernelDep, signed_in: SignedInDep, undo: _Id) -> Response:
    """Deletes for good, without waiting."""
    purge_now(kernel, signed_in.principal, undo)
    return _redirect(f"{_FORGOTTEN}?purged=true")


def _page(
    request: Request,
    kernel: Kernel,
    signed_in: SignedIn,
    view: MemoriesView,
    *,
    edit: str = "",
    notice: str = "",
    undo: str = "",
    error: BackreadError | None = None,
    draft: str = "",
) -> Response:
    principal = signed_in.principal
    bucket = view.bucket or None
    shown: Sequence[ShownMemory]
    if view.query:
        found = search_memories(kernel, principal, view.query, bucket_id=bucket, limit=MAX_RESULTS)
        shown, total, following = found.memories, len(found.memories), ""
    else:
        shown, total, following = current_memories(
            kernel, principal, bucket_id=bucket, cursor=view.cursor, limit=PAGE_SIZE
        )
    buckets = list_buckets(kernel, principal).buckets
    here = next((each for each in buckets if str(each.bucket_id) == view.bucket), None)
    context: dict[str, Any] = {
        "signed_in": signed_in,
        "memories": shown,
        "former": {} if view.query else former_versions(kernel, principal, shown),
        "matching": total,
        "buckets": buckets,
        "here": here,
        "memory_total": sum(each.memory_count for each in buckets),
        "view": view,
        "bucket_links": {
            each.bucket_id: MemoriesView(str(each.bucket_id)).address() for each in buckets
        },
        "first": MemoriesView(view.bucket).address() if view.cursor else "",
        "next": MemoriesView(view.bucket, cursor=following).address() if following else "",
        "edit": edit,
        "notice": notice,
        "undo": undo,
        "error": error,
        "draft": draft,
        "max_bucket_name": MAX_BUCKET_NAME,
        "max_characters": MAX_CHARACTERS,
    }
    status = http_status(error) if error else 200
    return render(request, "memories.html", context, status_code=status)


def _bucket(kernel: Kernel, principal: Principal, bucket: str, name: str) -> str:
    """The id of the chosen bucket, which is made if its name was given; "" for the default."""
    if bucket != _NEW_BUCKET:
        return bucket
    return str(create_bucket(kernel, principal, name).bucket_id)


def _redirect(address: str) -> RedirectResponse:
    return RedirectResponse(address, status_code=303)


def _notice(done: str, count: int) -> str:
    several = plural(count, "memory", "memories")
    return {
        "added": "Kept. Every connected client can recall it now.",
        "known": "This bucket says that already, so nothing was added.",
        "changed": "Changed.",
        "moved": f"Moved {several}.",
        "forgotten": f"Deleted {several}.",
        "bucket": f"Deleted the bucket with {several}.",
        "restored": f"Brought back {several}.",
        "made": "The bucket is there.",
        "there": "There was a bucket of this name already; here it is.",
    }.get(done, "")
