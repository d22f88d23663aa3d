from typing import Any

import pytest
from starlette.testclient import TestClient

from backread.kernel import Kernel
from backread.store.models import Account
from tests.api.conftest import PASSWORD, sign_in
from tests.api.finds import bring_finds
from tests.api.web.pages import csrf_of

PATH = "/api/v1/memory-suggestions"


def listed(browser: TestClient, **query: Any) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = browser.get(PATH, params=query).json()["items"]
    return items


def post(browser: TestClient, action: str, body: Any, *, token: str | None = None) -> Any:
    headers = {"X-CSRF-Token": csrf_of(browser) if token is None else token}
    return browser.post(f"{PATH}/{action}", json=body, headers=headers)


def test_suggestions_say_where_they_come_from(signed_in: TestClient) -> None:
    import_id = bring_finds(signed_in)
    page = signed_in.get(PATH).json()
    assert (page["total"], page["offset"]) == (2, 0)
    first = page["items"][0]
    assert (first["platform"], first["source"], first["state"]) == (
        "chatgpt",
        "Saved memory",
        "open",
    )
    assert first["conversation_title"] == "Glazes & tiles"
    chat = signed_in.get(f"/api/v1/conversations/{first['conversation_id']}").json()
    assert first["message_id"] in {each["id"] for each in chat["messages"]}
    assert first["import_id"] == import_id
    assert len(listed(signed_in, limit=1)) == len(listed(signed_in, offset=1)) == 1
    assert listed(signed_in, platform="claude_ai") == listed(signed_in, state="dismissed") == []
    assert len(listed(signed_in, import_id=import_id)) == 2
    assert listed(signed_in, import_id="x") == []


def test_some_are_kept_in_a_new_bucket_and_one_in_other_words(signed_in: TestClient) -> None:
    bring_finds(signed_in)
    first, second = listed(signed_in)
    answer = post(
        signed_in,
        "accept",
        {
            "items": [{"id": first["id"]}, {"id": second["id"], "text": "I like tea."}],
            "bucket_name": "Studio",
        },
    )
    assert answer.status_code == 200
    assert {key: answer.json()[key] for key in ("accepted", "stored", "bucket_name")} == {
        "accepted": 2,
        "stored": 2,
        "bucket_name": "Studio",
    }
    kept = listed(signed_in, state="accepted")
    assert len({each["memory_id"] for each in kept} - {None}) == 2
    assert listed(signed_in) == []


def test_dismissing_is_undone(signed_in: TestClient) -> None:
    bring_finds(signed_in)
    ids = [each["id"] for each in listed(signed_in)]
    assert post(signed_in, "dismiss", {"ids": ids}).json() == {"changed": 2}
    assert len(listed(signed_in, state="dismissed")) == 2
    assert post(signed_in, "restore", {"ids": ids[:1]}).json() == {"changed": 1}
    assert [each["id"] for each in listed(signed_in)] == ids[:1]


@pytest.mark.parametrize(
    ("action", "body", "status"),
    [
        ("accept", {"items": []}, 422),
        ("accept", {"items": [{"id": "0" * 26}]}, 404),
        ("accept", {"items": [{"id": "x"}] * 501}, 422),
        ("dismiss", {"ids": ["0" * 26]}, 404),
        ("restore", {}, 422),
    ],
)
def test_what_cannot_be_decided_is_refused_in_words(
    signed_in: TestClient, action: str, body: Any, status: int
) -> None:
    answer = post(signed_in, action, body)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"


def test_nothing_is_decided_without_the_form_token_or_by_somebody_else(
    signed_in: TestClient, kernel: Kernel, owner: Account
) -> None:
    bring_finds(signed_in)
    ids = [each["id"] for each in listed(signed_in)]
    for action, body in (("accept", {"items": [{"id": ids[0]}]}), ("dismiss", {"ids": ids})):
        assert post(signed_in, action, body, token="").status_code == 403
    with kernel.store.write() as session:
        other = Account(email="boris@example.org", password_hash=PASSWORD, role="member")
        session.add(other)
    sign_in(signed_in, kernel, other)
    assert listed(signed_in) == []
    assert post(signed_in, "dismiss", {"ids": ids}).status_code == 404
    sign_in(signed_in, kernel, owner)
    assert len(listed(signed_in)) == 2
    signed_in.cookies.clear()
    assert signed_in.get(PATH).status_code == 401
