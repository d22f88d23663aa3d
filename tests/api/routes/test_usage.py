import pytest
from starlette.testclient import TestClient

from tests.api.web.pages import csrf_of, text_of

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


def test_without_a_model_nothing_is_counted_and_the_page_says_so(signed_in: TestClient) -> None:
    usage = signed_in.get("/api/v1/usage", headers={"Accept": "application/json"}).json()
    assert (usage["model"], usage["by_day"], usage["price_in"]) == ("", [], None)
    summaries = signed_in.get("/api/v1/summaries", headers={"Accept": "application/json"}).json()
    assert (summaries["model"], summaries["offer"]) == ("", None)
    page = text_of(signed_in.get("/settings/usage").text)
    assert "No language model" in page
    assert "Your own limit" not in page
    refused = signed_in.post(
        "/api/v1/summaries/accept",
        json={"until": "2026-01-01T00:00:00Z"},
        headers={"X-CSRF-Token": csrf_of(signed_in), "Accept": "application/json"},
    )
    assert refused.status_code == 400
    assert "language model" in refused.json()["detail"]
