"""The whole application in this process, over its ASGI door, with a real database."""

from collections.abc import Iterator
from functools import cache

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from api.accounts.passwords import hash_password
from api.accounts.sessions import cookie_name, create_session
from api.app import create_app
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.models import Account

PASSWORD = "correct horse battery"


@pytest.fixture
def app(settings: Settings) -> FastAPI:
    return create_app(settings)


@pytest.fixture
def browser(app: FastAPI, settings: Settings) -> Iterator[TestClient]:
    """Somebody's browser, signed out. It follows no redirects by itself."""
    with TestClient(app, base_url=settings.origin, follow_redirects=False) as client:
        client.headers["Accept"] = "text/html"
        yield client


@pytest.fixture
def kernel(browser: TestClient) -> Kernel:
    """The application's own kernel: the embedded index has one owner."""
    kernel: Kernel = browser.app.state.kernel  # type: ignore[attr-defined]
    return kernel


@pytest.fixture
def owner(browser: TestClient, kernel: Kernel) -> Account:
    """The owner's account; its password is `PASSWORD`."""
    account = Account(
        email="ada@example.org",
        password_hash=_password_hash(),
        display_name="Ada",
        role="owner",
    )
    with kernel.store.write() as session:
        session.add(account)
    return account


@cache
def _password_hash() -> str:
    return hash_password(PASSWORD)  # slow on purpose, so once for all tests


def sign_in(browser: TestClient, kernel: Kernel, account: Account) -> str:
    """Gives the browser a session without going through the form; returns its token."""
    with kernel.store.write() as session:
        token = create_session(session, account)
    browser.cookies.set(cookie_name(kernel.settings), token)
    return token


@pytest.fixture
def signed_in(browser: TestClient, kernel: Kernel, owner: Account) -> TestClient:
    """The owner's browser."""
    sign_in(browser, kernel, owner)
    return browser
