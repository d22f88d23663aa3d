"""Memories, buckets and spans of time over REST."""

from typing import Any

from starlette.testclient import TestClient

from backread.kernel import Kernel
from backread.store.models import Account
from tests.api.conftest import PASSWORD, sign_in
from tests.api.web.pages import csrf_of

PATH = "/api/v1/memories"


def send(browser: TestClient, method: str, path: str, body: Any = None) -> Any:
    return browser.request(method, path, json=body, headers={"X-CSRF-Token": csrf_of(browser)})


def test_a_memory_is_kept_found_changed_moved_forgotten_and_brought_back(
    signed_in: TestClient,
) -> None:
    kept = send(signed_in, "POST", PATH, {"text": "Ada lives in Zurich."}).json()
    assert kept["stored"] is True
    again = send(signed_in, "POST", PATH, {"text": "ada lives in zurich"}).json()
    assert (again["stored"], again["memory_id"]) == (False, kept["memory_id"])
    found = signed_in.get(f"{PATH}/search", params={"q": "Zurich"}).json()["memories"]
    assert [each["memory_id"] for each in found] == [kept["memory_id"]]

    one = f"{PATH}/{kept['memory_id']}"
    changed = send(signed_in, "PATCH", one, {"text": "Ada lives in Basel."}).json()
    assert changed["edited"] is True
    newer = {"text": "Ada lives in Lisbon.", "supersedes": kept["memory_id"]}
    new = send(signed_in, "POST", PATH, newer).json()
    assert new["superseded"] == kept["memory_id"]
    current = signed_in.get(PATH).json()
    assert [each["text"] for each in current["memories"]] == ["Ada lives in Lisbon."]
    everything = signed_in.get(PATH, params={"all": True}).json()
    assert everything["memory_total"] == 2

    moved = send(
        signed_in, "POST", f"{PATH}/move", {"ids": [new["memory_id"]], "bucket_name": "Homes"}
    ).json()
    assert (moved["moved"], moved["bucket_created"]) == (1, True)
    names = [each["name"] for each in signed_in.get("/api/v1/buckets").json()["buckets"]]
    assert names == ["General", "Homes"]

    gone = send(signed_in, "POST", f"{PATH}/forget", {"ids": [new["memory_id"]]}).json()
    listed = signed_in.get(f"{PATH}/forgotten").json()["items"]
    assert [each["id"] for each in listed] == [gone["undo_id"]]
    back = send(signed_in, "POST", f"{PATH}/forgotten/{gone['undo_id']}/undo").json()
    assert back["restored"] == 1
    assert signed_in.get(f"{PATH}/forgotten").json()["items"] == []


def test_buckets_are_made_once_and_deleted_with_what_is_in_them(signed_in: TestClient) -> None:
    made = send(signed_in, "POST", "/api/v1/buckets", {"name": "Garden"}).json()
    assert made["created"] is True
    assert send(signed_in, "POST", "/api/v1/buckets", {"name": "garden"}).json() == {
        **made,
        "created": False,
    }
    bucket = made["bucket_id"]
    send(signed_in, "POST", PATH, {"text": "The hedge is cut in June.", "bucket_id": bucket})
    gone = send(signed_in, "DELETE", f"/api/v1/buckets/{bucket}").json()
    assert (gone["memory_count"], gone["bucket_id"]) == (1, bucket)
    assert send(signed_in, "DELETE", f"/api/v1/buckets/{bucket}").status_code == 404


def test_another_accounts_memories_look_like_none(signed_in: TestClient, kernel: Kernel) -> None:
    kept = send(signed_in, "POST", PATH, {"text": "Ada lives in Zurich."}).json()
    with kernel.store.write() as session:
        other = Account(email="boris@example.org", password_hash=PASSWORD, role="member")
        session.add(other)
    sign_in(signed_in, kernel, other)
    assert signed_in.get(PATH).json()["memory_total"] == 0
    one = f"{PATH}/{kept['memory_id']}"
    theirs = send(signed_in, "PATCH", one, {"text": "x"})
    nobodys = send(signed_in, "PATCH", f"{PATH}/{'0' * 26}", {"text": "x"})
    assert theirs.status_code == nobodys.status_code == 404
    forgotten = send(signed_in, "POST", f"{PATH}/forget", {"ids": [kept["memory_id"]]})
    assert forgotten.status_code == 404


def test_a_change_without_the_forms_token_is_refused(signed_in: TestClient) -> None:
    assert signed_in.post(PATH, json={"text": "x"}).status_code == 403
    assert signed_in.delete("/api/v1/buckets/1").status_code == 403
