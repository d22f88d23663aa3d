import re
from collections.abc import Iterator
from datetime import timedelta

import httpx2
import pytest
from fastapi import FastAPI
from sqlalchemy import select, update
from starlette.testclient import TestClient

from api.accounts import people
from api.accounts.limits import SignInLimits
from api.accounts.people import NewAccount, accept_invite
from api.accounts.personal_tokens import make_token
from backread.errors import Conflict, NotFound
from backread.jobs import run_pending
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.models import Account, Invite
from ingest import tasks
from tests.api.accounts.forms import send, shown_secret
from tests.api.conftest import PASSWORD, sign_in
from tests.api.web.test_entry import form_token

__all__ = ["tasks"]  # importing the module registers the jobs

PEOPLE = "/settings/people"
LINK = r"http://127\.0\.0\.1:8787/join\?token=bri_[A-Za-z0-9_-]{43}"


@pytest.fixture(autouse=True)
def _without_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SignInLimits, "take", lambda self, address: None)


@pytest.fixture
def guest(app: FastAPI, browser: TestClient, settings: Settings) -> Iterator[TestClient]:
    """Another browser at the same server, signed out."""
    other = TestClient(app, base_url=settings.origin, follow_redirects=False)
    other.headers["Accept"] = "text/html"
    yield other
    other.close()


def new_member(kernel: Kernel, email: str = "boris@example.org", role: str = "member") -> Account:
    with kernel.store.write() as session:
        account = Account(email=email, password_hash="unused", role=role)
        session.add(account)
        return account


def invite(browser: TestClient, name: str = "Boris") -> str:
    page = send(browser, PEOPLE, "/settings/people/invites", name=name)
    return shown_secret(page.text, LINK)


def join(guest: TestClient, link: str, **changes: str) -> httpx2.Response:
    path = link.removeprefix("http://127.0.0.1:8787")
    page = guest.get(path)
    if page.status_code != 200:
        return page
    form = {
        "csrf_token": form_token(page.text),
        "token": path.partition("token=")[2],
        "email": "boris@example.org",
        "password": PASSWORD,
        "display_name": "Boris",
        "timezone": "Europe/Lisbon",
        **changes,
    }
    return guest.post("/join", data=form)


def test_an_invited_person_makes_a_members_account_once(
    signed_in: TestClient, guest: TestClient, kernel: Kernel
) -> None:
    link = invite(signed_in)
    listed = signed_in.get(PEOPLE).text
    assert "Boris" in listed
    assert link.partition("token=")[2] not in listed
    with kernel.store.read() as session:
        assert link.partition("token=")[2] not in session.scalars(select(Invite.token_hash)).one()

    assert join(guest, link).headers["location"] == "/"
    assert guest.get("/").status_code == 200
    with kernel.store.read() as session:
        made = session.scalars(select(Account).where(Account.email == "boris@example.org")).one()
    assert (made.role, made.display_name, made.timezone) == ("member", "Boris", "Europe/Lisbon")

    guest.cookies.clear()
    again = join(guest, link, email="carla@example.org")
    assert (again.status_code, "not valid" in again.text) == (404, True)


def test_a_mistake_on_the_form_does_not_use_the_invite_up(
    signed_in: TestClient, guest: TestClient, owner: Account
) -> None:
    link = invite(signed_in)
    for changes in ({"password": "short"}, {"email": "no address"}, {"timezone": "Mars/Base"}):
        refused = join(guest, link, **changes)
        assert refused.status_code == 400
    taken = join(guest, link, email=owner.email)
    assert taken.status_code == 409
    assert PASSWORD not in taken.text
    assert join(guest, link).status_code == 303


def test_an_invite_ends_when_it_is_revoked_and_after_seven_days(
    signed_in: TestClient, guest: TestClient, kernel: Kernel
) -> None:
    link = invite(signed_in)
    with kernel.store.read() as session:
        row = session.scalars(select(Invite)).one()
    assert timedelta(days=6) < row.expires_at - utcnow() <= timedelta(days=7)
    send(signed_in, PEOPLE, f"/settings/people/invites/{row.id}/revoke")
    assert join(guest, link).status_code == 404

    link = invite(signed_in)
    with kernel.store.write() as session:
        session.execute(update(Invite).values(expires_at=utcnow()))
    assert join(guest, link).status_code == 404


def test_of_two_who_use_an_invite_at_once_one_gets_in(kernel: Kernel, owner: Account) -> None:
    with kernel.store.write() as session:
        link = people.invite(session, kernel.settings, invited_by=owner.id)
    token = link.partition("token=")[2]
    with kernel.store.write() as session:
        accept_invite(session, token, NewAccount("boris@example.org", PASSWORD))
    with kernel.store.write() as session, pytest.raises(NotFound):
        accept_invite(session, token, NewAccount("carla@example.org", PASSWORD))


def test_an_owner_makes_somebody_an_owner_and_a_member_again(
    signed_in: TestClient, guest: TestClient, kernel: Kernel
) -> None:
    member = new_member(kernel)
    sign_in(guest, kernel, member)
    assert guest.get(PEOPLE).status_code == 403
    send(signed_in, PEOPLE, f"{PEOPLE}/{member.id}/make-owner")
    assert guest.get(PEOPLE).status_code == 200
    link = invite(guest, "Carla")
    send(signed_in, PEOPLE, f"{PEOPLE}/{member.id}/make-member")
    assert guest.get(PEOPLE).status_code == 403
    guest.cookies.clear()
    assert join(guest, link, email="carla@example.org").status_code == 404


def test_the_last_owner_stays_an_owner(
    signed_in: TestClient, kernel: Kernel, owner: Account
) -> None:
    refused = send(signed_in, PEOPLE, f"{PEOPLE}/{owner.id}/make-member")
    assert refused.status_code == 409
    with kernel.store.write() as session, pytest.raises(Conflict):
        people.make_member(session, owner.id)
    disabled = new_member(kernel)
    send(signed_in, PEOPLE, f"{PEOPLE}/{disabled.id}/disable")
    assert send(signed_in, PEOPLE, f"{PEOPLE}/{disabled.id}/make-owner").status_code == 409


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_member_neither_sees_nor_reaches_what_is_for_owners(
    browser: TestClient, kernel: Kernel, owner: Account
) -> None:
    member = new_member(kernel)
    sign_in(browser, kernel, member)
    for path in ("/", "/settings", "/settings/security", "/settings/tokens"):
        assert PEOPLE not in browser.get(path).text
    assert browser.get(PEOPLE).status_code == 403
    token = form_token(browser.get("/settings").text)
    for action in (
        "invites",
        "invites/x/revoke",
        f"{owner.id}/disable",
        f"{owner.id}/remove",
        f"{member.id}/enable",
    ):
        form = {"csrf_token": token, "email": owner.email}
        assert browser.post(f"{PEOPLE}/{action}", data=form).status_code == 403
    with kernel.store.read() as session:
        assert session.scalars(select(Invite)).all() == []
        assert session.get_one(Account, owner.id).disabled_at is None


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_an_invite_ends_with_the_account_that_made_it(
    signed_in: TestClient, guest: TestClient, kernel: Kernel
) -> None:
    other = new_member(kernel, "carla@example.org", role="owner")
    with kernel.store.write() as session:
        link = people.invite(session, kernel.settings, invited_by=other.id)
    kept = invite(signed_in)
    send(signed_in, PEOPLE, f"/settings/people/{other.id}/disable")
    assert join(guest, link).status_code == 404
    assert join(guest, kept).status_code == 303


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_disabled_account_is_shut_everywhere_at_once_and_can_be_opened_again(
    signed_in: TestClient, guest: TestClient, kernel: Kernel
) -> None:
    member = new_member(kernel)
    sign_in(guest, kernel, member)
    with kernel.store.write() as session:
        token = make_token(session, member.id, name="x", scopes=["chat-history:read"], days=None)
    script = {"Authorization": f"Bearer {token}"}
    assert guest.get("/api/v1/conversations", headers=script).status_code == 200

    send(signed_in, PEOPLE, f"/settings/people/{member.id}/disable")
    assert "disabled" in signed_in.get(PEOPLE).text
    assert guest.get("/").status_code == 303
    assert guest.get("/api/v1/conversations", headers=script).status_code == 401

    send(signed_in, PEOPLE, f"/settings/people/{member.id}/enable")
    assert guest.get("/").status_code == 303  # browsers sign in anew
    assert guest.get("/api/v1/conversations", headers=script).status_code == 200


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_removing_asks_for_the_address_and_then_erases_the_account(
    signed_in: TestClient, kernel: Kernel
) -> None:
    member = new_member(kernel)
    action = f"/settings/people/{member.id}/remove"
    refused = send(signed_in, PEOPLE, action, email="borus@example.org")
    assert (refused.status_code, "does not match" in refused.text) == (400, True)

    assert send(signed_in, PEOPLE, action, email="Boris@example.org").status_code == 303
    assert "being erased" in signed_in.get(PEOPLE).text
    run_pending(kernel)
    assert "boris@example.org" not in signed_in.get(PEOPLE).text
    with kernel.store.read() as session:
        assert session.get(Account, member.id) is None


def test_an_owner_always_remains(kernel: Kernel, owner: Account) -> None:
    for change in (people.disable, people.remove):
        with kernel.store.write() as session, pytest.raises(Conflict, match="only owner"):
            change(session, owner.id)
    second = new_member(kernel, "olga@example.org", role="owner")
    with kernel.store.write() as session:
        people.disable(session, owner.id)
    with kernel.store.write() as session, pytest.raises(Conflict, match="only owner"):
        people.disable(session, second.id)
    with kernel.store.write() as session:
        people.enable(session, owner.id)
        people.disable(session, second.id)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_owners_do_not_shut_themselves_out(
    signed_in: TestClient, kernel: Kernel, owner: Account
) -> None:
    new_member(kernel, "olga@example.org", role="owner")
    answer = send(signed_in, PEOPLE, f"/settings/people/{owner.id}/disable")
    assert (answer.status_code, "your own account" in answer.text) == (409, True)
    assert signed_in.get("/").status_code == 200


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_the_page_says_who_is_here_and_nothing_of_what_they_keep(
    signed_in: TestClient, kernel: Kernel
) -> None:
    new_member(kernel, "boris@example.org")
    page = signed_in.get(PEOPLE).text
    assert "boris@example.org" in page
    assert "0 conversations" in page
    assert re.search(r"Nothing can bring it back", page)
