import re

from starlette.testclient import TestClient

from api.accounts.passwords import MIN_LENGTH
from api.accounts.setup_token import ensure_setup_token
from api.web.pages.signing_in import local_path
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.models import Account
from tests.api.conftest import PASSWORD


def form_token(html: str) -> str:
    match = re.search(r'name="csrf_token" value="([^"]+)"', html)
    assert match
    return match[1]


def setup_token(settings: Settings) -> str:
    return (settings.home / "setup.token").read_text().strip()


def test_a_new_server_sends_every_page_to_its_set_up(browser: TestClient) -> None:
    for path in ("/", "/conversations", "/search", "/sign-in"):
        answer = browser.get(path)
        assert (answer.status_code, answer.headers["location"]) == (303, "/setup"), path


def test_setting_up_makes_the_owner_and_signs_them_in(
    browser: TestClient, settings: Settings
) -> None:
    token = setup_token(settings)
    page = browser.get(f"/setup?token={token}")
    answer = browser.post(
        "/setup",
        data={
            "csrf_token": form_token(page.text),
            "token": token,
            "email": "Ada@Example.org",
            "password": PASSWORD,
            "display_name": "Ada Marin",
            "timezone": "Europe/Lisbon",
        },
    )
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    home = browser.get("/")
    assert home.status_code == 200
    assert "bring your chats home" in home.text
    assert browser.get("/setup").headers["location"] == "/sign-in"


def test_a_wrong_set_up_token_is_told_and_keeps_what_was_typed(
    browser: TestClient, settings: Settings
) -> None:
    page = browser.get("/setup")
    answer = browser.post(
        "/setup",
        data={
            "csrf_token": form_token(page.text),
            "token": "guessed",
            "email": "ada@example.org",
            "password": PASSWORD,
            "timezone": "UTC",
        },
    )
    assert answer.status_code == 403
    assert "set-up link is not valid" in answer.text
    assert 'value="ada@example.org"' in answer.text
    assert PASSWORD not in answer.text


def test_the_set_up_page_asks_for_what_the_server_asks_for(
    browser: TestClient, settings: Settings
) -> None:
    token = setup_token(settings)
    page = browser.get(f"/setup?token={token}")
    assert f"At least {MIN_LENGTH} characters" in page.text
    form = {"csrf_token": form_token(page.text), "token": token, "email": "ada@example.org"}
    form |= {"password": PASSWORD, "timezone": "Mars/Base"}
    refused = browser.post("/setup", data=form)
    assert refused.status_code == 400
    assert "is not a time zone" in refused.text
    assert f'<input type="hidden" name="token" value="{token}">' in refused.text


def test_signing_in_leads_back_to_where_one_was(browser: TestClient, owner: Account) -> None:
    sent = browser.get("/conversations?title=rye")
    assert sent.headers["location"] == "/sign-in?next=%2Fconversations%3Ftitle%3Drye"
    page = browser.get(sent.headers["location"])
    answer = browser.post(
        "/sign-in",
        data={
            "csrf_token": form_token(page.text),
            "email": owner.email,
            "password": PASSWORD,
            "next": "/conversations?title=rye",
        },
    )
    assert (answer.status_code, answer.headers["location"]) == (303, "/conversations?title=rye")


def test_a_wrong_password_is_told_without_saying_which_part_was_wrong(
    browser: TestClient, owner: Account
) -> None:
    page = browser.get("/sign-in")
    for email in (owner.email, "nobody@example.org"):
        answer = browser.post(
            "/sign-in",
            data={"csrf_token": form_token(page.text), "email": email, "password": "wrong" * 4},
        )
        assert answer.status_code == 401
        assert "address or the password is wrong" in answer.text
        assert "backread user set-password" in answer.text  # the way out for who forgot it


def test_a_form_without_its_token_changes_nothing(signed_in: TestClient) -> None:
    answer = signed_in.post("/sign-out")
    assert answer.status_code == 403
    assert signed_in.get("/").status_code == 200


def test_signing_out_ends_the_session_on_the_server(signed_in: TestClient) -> None:
    cookies = dict(signed_in.cookies)
    page = signed_in.get("/settings")
    answer = signed_in.post("/sign-out", data={"csrf_token": form_token(page.text)})
    assert answer.headers["location"] == "/sign-in"
    signed_in.cookies.update(cookies)
    assert signed_in.get("/").status_code == 303


def test_sign_in_never_leads_to_another_site() -> None:
    assert local_path("/c/abc?at=1") == "/c/abc?at=1"
    for address in (
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "/\t/evil.example",
        " //evil.example",
        "javascript:alert(1)",
        "",
    ):
        assert local_path(address) == "/", address


def test_a_set_up_server_makes_no_new_set_up_token(
    signed_in: TestClient, kernel: Kernel, settings: Settings
) -> None:
    ensure_setup_token(settings, kernel.store)
    assert signed_in.get("/setup").headers["location"] == "/sign-in"


def test_the_time_zones_to_choose_from_are_places(signed_in: TestClient) -> None:
    page = signed_in.get("/settings").text
    assert ">Europe/Lisbon<" in page
    assert ">Factory<" not in page
    assert ">localtime<" not in page
