"""What one account has, no other can see, name or change, over any door of the server."""

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.models import Account
from tests.nightly.isolation.run import SETTINGS, attacked


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update=SETTINGS)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_no_request_shows_or_changes_anything_of_another_account(
    app: FastAPI, owner: Account, kernel: Kernel, settings: Settings
) -> None:
    browser = TestClient(
        app, base_url=settings.origin, follow_redirects=False, raise_server_exceptions=False
    )
    findings, attack = attacked(browser, kernel, tenants=2, requests=600, seed=1)
    assert findings.problems == []
    assert set(findings.asked) == {door.title for door in attack.doors}
