"""What the language model costs: what was spent, what may be, and the estimate to accept."""

import math
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from api.accounts.sessions import SignedIn
from api.deps import CsrfDep, KernelDep, SignedInDep
from api.usage import PURPOSES, set_own_budget, usage_report
from api.web.templating import render
from backread.errors import BackreadError, InvalidInput
from backread.kernel import Kernel
from backread.llm.language.pricing import money
from recall.summarising.planning import (
    accept_estimate,
    pause_summaries,
    resume_summaries,
    summary_status,
)

_DAYS = 30
_NOTICES = {
    "budget": "Saved.",
    "accepted": "Summaries are being made in the background.",
    "paused": "Paused.",
    "resumed": "Going on.",
}
_MOST = 1e9
_MOST_TOKENS = 10**15

router = APIRouter()


@router.get("/settings/usage")
def usage_page(
    request: Request, kernel: KernelDep, signed_in: SignedInDep, done: str = ""
) -> Response:
    return _page(request, kernel, signed_in, notice=_NOTICES.get(done, ""))


@router.post("/settings/usage/budget", dependencies=[CsrfDep])
def save_budget(
    request: Request,
    kernel: KernelDep,
    signed_in: SignedInDep,
    day: Annotated[str, Form()] = "",
    month: Annotated[str, Form()] = "",
    day_tokens: Annotated[str, Form()] = "",
    month_tokens: Annotated[str, Form()] = "",
) -> Response:
    try:
        with kernel.store.write() as session:
            set_own_budget(
                session,
                signed_in.principal,
                day=_amount(day),
                month=_amount(month),
                day_tokens=_tokens(day_tokens),
                month_tokens=_tokens(month_tokens),
            )
    except InvalidInput as error:
        return _page(request, kernel, signed_in, error=error, status_code=400)
    if kernel.language_model is not None:
        resume_after_budget(kernel, signed_in)
    return _to("budget")


def resume_after_budget(kernel: Kernel, signed_in: SignedIn) -> None:
    """What waited for the budget looks again whether it may go on, unless it is paused."""
    status = summary_status(kernel, signed_in.principal)
    if status is not None and status.try_after is not None and not status.is_paused:
        resume_summaries(kernel, signed_in.principal)


@router.post("/settings/usage/accept", dependencies=[CsrfDep])
def accept(
    request: Request, kernel: KernelDep, signed_in: SignedInDep, until: Annotated[str, Form()]
) -> Response:
    try:
        accept_estimate(kernel, signed_in.principal, _moment(until))
    except BackreadError as error:
        return _page(request, kernel, signed_in, error=error, status_code=409)
    return _to("accepted")


@router.post("/settings/usage/pause", dependencies=[CsrfDep])
def pause(kernel: KernelDep, signed_in: SignedInDep) -> Response:
    pause_summaries(kernel, signed_in.principal)
    return _to("paused")


@router.post("/settings/usage/resume", dependencies=[CsrfDep])
def resume(kernel: KernelDep, signed_in: SignedInDep) -> Response:
    resume_summaries(kernel, signed_in.principal)
    return _to("resumed")


def _to(done: str) -> Response:
    return RedirectResponse(f"/settings/usage?done={done}", status_code=303)


def _page(
    request: Request,
    kernel: Kernel,
    signed_in: SignedIn,
    *,
    notice: str = "",
    error: BackreadError | None = None,
    status_code: int = 200,
) -> Response:
    with kernel.store.read() as session:
        report = usage_report(session, kernel.settings, signed_in.principal, days=_DAYS)
    context = {
        "signed_in": signed_in,
        "notice": notice,
        "error": error.message if error else "",
        "hint": error.hint if error else "",
        "report": report,
        "summaries": summary_status(kernel, signed_in.principal),
        "money": money,
        "purposes": PURPOSES,
        "days": _DAYS,
        "most_tokens": max((each.tokens for _, each in report.by_day), default=1),
        "day_of": datetime.fromisoformat,
    }
    return render(request, "settings/usage.html", context, status_code=status_code)


def _amount(text: str) -> float | None:
    """A sum of money; None for an empty field. Raises InvalidInput."""
    text = text.strip().replace(",", ".")
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= _MOST:
        raise InvalidInput("A budget is a number such as 2.50.", hint="Empty means no own limit.")
    return value


def _tokens(text: str) -> int | None:
    text = "".join(text.split()).replace(",", "").replace(".", "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit()) or int(text) > _MOST_TOKENS:
        raise InvalidInput(
            "Tokens are a whole number such as 200000.", hint="Empty means no own limit."
        )
    return int(text)


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise InvalidInput("The estimate is not known.", hint="Load the page again.") from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
