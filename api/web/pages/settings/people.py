"""Who has an account on this server. For owners alone."""

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from api.accounts import people
from api.accounts.sessions import SignedIn
from api.deps import CsrfDep, KernelDep, OwnerDep, WriteDep
from api.errors import http_status
from api.web.templating import render
from backread.errors import BackreadError, Conflict, InvalidInput, LimitExceeded
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.models import Account
from backread.store.repositories.people import list_invites, list_people

router = APIRouter()

_NOTICES = {
    "disabled": "The account is disabled. Its data is kept.",
    "enabled": "The account is enabled again.",
    "removed": "The account is closed, and its data is being erased.",
    "revoked": "The invite is revoked.",
    "owner": "They are an owner now, and can manage this server as you can.",
    "member": "They are a member now. Their archive is as it was.",
}


@router.get("/settings/people")
def people_page(request: Request, kernel: KernelDep, owner: OwnerDep, done: str = "") -> Response:
    return _page(request, kernel, owner, notice=_NOTICES.get(done, ""))


@router.post("/settings/people/invites", dependencies=[CsrfDep])
def invite_person(
    request: Request, kernel: KernelDep, owner: OwnerDep, name: Annotated[str, Form()] = ""
) -> Response:
    try:
        with kernel.store.write() as session:
            link = people.invite(session, kernel.settings, invited_by=owner.account_id, name=name)
    except (InvalidInput, LimitExceeded) as error:
        return _page(request, kernel, owner, refusal=error)
    return _page(request, kernel, owner, link=link, invited=name)


@router.post("/settings/people/invites/{invite_id}/revoke", dependencies=[CsrfDep])
def revoke_invite(session: WriteDep, owner: OwnerDep, invite_id: str) -> Response:
    people.revoke_invite(session, invite_id)
    return RedirectResponse("/settings/people?done=revoked", status_code=303)


@router.post("/settings/people/{account_id}/disable", dependencies=[CsrfDep])
def disable_person(
    request: Request, kernel: KernelDep, owner: OwnerDep, account_id: str
) -> Response:
    try:
        with kernel.store.write() as session:
            _check_other(owner, account_id)
            people.disable(session, account_id)
    except Conflict as error:
        return _page(request, kernel, owner, refusal=error)
    return RedirectResponse("/settings/people?done=disabled", status_code=303)


@router.post("/settings/people/{account_id}/enable", dependencies=[CsrfDep])
def enable_person(session: WriteDep, owner: OwnerDep, account_id: str) -> Response:
    people.enable(session, account_id)
    return RedirectResponse("/settings/people?done=enabled", status_code=303)


@router.post("/settings/people/{account_id}/make-owner", dependencies=[CsrfDep])
def make_owner(request: Request, kernel: KernelDep, owner: OwnerDep, account_id: str) -> Response:
    try:
        with kernel.store.write() as session:
            people.make_owner(session, account_id)
    except Conflict as error:
        return _page(request, kernel, owner, refusal=error)
    return RedirectResponse("/settings/people?done=owner", status_code=303)


@router.post("/settings/people/{account_id}/make-member", dependencies=[CsrfDep])
def make_member(request: Request, kernel: KernelDep, owner: OwnerDep, account_id: str) -> Response:
    try:
        with kernel.store.write() as session:
            _check_other(owner, account_id)
            people.make_member(session, account_id)
    except Conflict as error:
        return _page(request, kernel, owner, refusal=error)
    return RedirectResponse("/settings/people?done=member", status_code=303)


@router.post("/settings/people/{account_id}/remove", dependencies=[CsrfDep])
def remove_person(
    request: Request,
    kernel: KernelDep,
    owner: OwnerDep,
    account_id: str,
    email: Annotated[str, Form()] = "",
) -> Response:
    try:
        with kernel.store.write() as session:
            _check_other(owner, account_id)
            account = session.get(Account, account_id)
            if account is not None and account.email != email.strip().lower():
                raise InvalidInput(
                    "The email address does not match, so nothing was removed.",
                    hint="Type the address of the account that you want to remove.",
                )
            people.remove(session, account_id)
    except (Conflict, InvalidInput) as error:
        return _page(request, kernel, owner, refusal=error)
    return RedirectResponse("/settings/people?done=removed", status_code=303)


def _check_other(owner: SignedIn, account_id: str) -> None:
    if owner.account_id == account_id:
        raise Conflict(
            "You cannot take that from your own account here.",
            hint="Another owner can, or the command line.",
        )


def _page(
    request: Request,
    kernel: Kernel,
    owner: SignedIn,
    *,
    notice: str = "",
    refusal: BackreadError | None = None,
    link: str = "",
    invited: str = "",
) -> Response:
    with kernel.store.read() as session:
        context = {
            "signed_in": owner,
            "notice": notice,
            "error": refusal.message if refusal else "",
            "hint": refusal.hint if refusal else "",
            "link": link,
            "invited": " ".join(invited.split()),
            "people": list_people(session),
            "invites": list_invites(session, now=utcnow()),
            "invite_days": people.INVITE_DAYS,
        }
    status = http_status(refusal) if refusal else 200
    return render(request, "settings/people.html", context, status_code=status)
