"""The endpoints are loaded beside a server that starts."""

import threading
from pkgutil import resolve_name
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from backread.settings import Settings

# What is tested here does not depend on the database.
pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


def test_no_two_endpoints_are_loaded_at_the_same_time(
    app: FastAPI, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    loading = threading.Lock()
    loaded = []

    def load(name: str) -> Any:
        assert loading.acquire(blocking=False), "another is being loaded"
        found = resolve_name(name)
        loading.release()
        loaded.append(name)
        return found

    monkeypatch.setattr("api.mcp_server.mounting.resolve_name", load)
    with TestClient(app, base_url=settings.origin) as client:
        for path in ("/api/mcp/mcp", "/mcp", "/mcp/memories"):
            assert client.post(path).status_code == 401
    assert len(loaded) == 3
