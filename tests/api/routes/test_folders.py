from typing import Any

import pytest
from starlette.testclient import TestClient

from backread.jobs import run_pending
from backread.kernel import Kernel
from backread.store.models import Account
from ingest import tasks
from recall.folders import reading
from tests.api.conftest import sign_in
from tests.api.mcp_server.calls import Caller

__all__ = ["tasks"]  # importing the module registers the jobs

PATH = "/api/v1/folders"


@pytest.fixture
def script(signed_in: TestClient) -> TestClient:
    """The owner's browser, as the web app's own scripts use it."""
    page = signed_in.get("/folders")
    assert page.status_code == 200
    token = page.text.partition('name="csrf-token" content="')[2].partition('"')[0]
    signed_in.headers["X-CSRF-Token"] = token
    return signed_in


def made(script: TestClient, name: str = "Research", **more: Any) -> str:
    answer = script.post(PATH, json={"name": name, **more})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def test_a_folder_is_made_changed_and_deleted_with_all_that_is_in_it(
    script: TestClient, kernel: Kernel
) -> None:
    folder = made(script, vector_description="Harbour works")
    assert script.post(PATH, json={"name": "Research"}).status_code == 409
    record = {"name": "Piers", "content": "Pier 2 needs new oak planks.", "metadata": {"n": 1}}
    assert script.post(f"{PATH}/{folder}/records", json=record).status_code == 201
    run_pending(kernel)
    assert script.get(f"{PATH}/{folder}").json()["records"] == 1
    assert script.get(f"{PATH}/{folder}/search", params={"q": "oak planks"}).json()["results"]
    changed = script.patch(f"{PATH}/{folder}", json={"name": "Harbour"})
    assert (changed.json()["name"], changed.json()["vector_description"]) == (
        "Harbour",
        "Harbour works",
    )
    refused = script.delete(f"{PATH}/{folder}", params={"name": "Research"})
    assert refused.status_code == 400
    gone = script.delete(f"{PATH}/{folder}", params={"name": "Harbour"})
    assert gone.json() == {"records": 1}
    run_pending(kernel)
    assert script.get(PATH).json()["items"] == []
    assert script.get(f"{PATH}/{folder}").status_code == 404


def test_embeddings_can_be_turned_off_and_on_again(script: TestClient, kernel: Kernel) -> None:
    folder = made(script)
    script.post(f"{PATH}/{folder}/records", json={"name": "Piers", "content": "Oak planks."})
    run_pending(kernel)
    script.patch(f"{PATH}/{folder}", json={"generate_embeddings": False})
    run_pending(kernel)
    search = f"{PATH}/{folder}/search"
    assert script.get(search, params={"q": "oak planks"}).status_code == 400
    listed = script.get(f"{PATH}/{folder}/records").json()["records"]
    assert listed[0]["indexing"] == "off"
    script.patch(f"{PATH}/{folder}", json={"generate_embeddings": True})
    run_pending(kernel)
    assert script.get(search, params={"q": "oak planks"}).json()["results"]


def test_a_key_is_shown_once_and_opens_the_mcp_server(script: TestClient) -> None:
    folder = made(script)
    key = script.post(f"{PATH}/{folder}/keys", json={"name": "Robot", "days": 7}).json()
    listed = script.get(f"{PATH}/{folder}/keys").json()["items"]
    assert [each["name"] for each in listed] == ["Robot"]
    assert key["key"] not in str(listed)
    caller = Caller(script, key["key"], path="/mcp/memories")
    assert caller.rpc("tools/list").status_code == 200
    assert script.delete(f"{PATH}/{folder}/keys/{key['id']}").status_code == 204
    assert caller.rpc("tools/list").status_code == 401
    assert script.delete(f"{PATH}/{folder}/keys/{key['id']}").status_code == 404


def test_a_long_history_comes_in_pages(script: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "PAGE_REVISIONS", 2)
    records = f"{PATH}/{made(script)}/records"
    record = script.post(records, json={"name": "Plan", "content": "1."}).json()["id"]
    for number in range(2, 6):
        script.patch(f"{records}/{record}", json={"content": f"{number}."})
    pages, before = [], ""
    while before is not None:
        page = script.get(f"{records}/{record}/history{before}").json()
        pages.append([each["number"] for each in page["items"]])
        before = page["next_before"] and f"?before={page['next_before']}"
    assert pages == [[5, 4], [3, 2], [1]]


def test_a_deleted_record_is_taken_away_for_good_on_a_second_call(script: TestClient) -> None:
    records = f"{PATH}/{made(script)}/records"
    record = script.post(records, json={"name": "Plan", "content": "One."}).json()["id"]
    for_good = {"permanently": True}
    assert script.delete(f"{records}/{record}", params=for_good).status_code == 409
    assert script.delete(f"{records}/{record}").status_code == 204
    assert script.delete(f"{records}/{record}", params=for_good).status_code == 204
    assert script.get(f"{records}/{record}/history").status_code == 404
    assert script.post(f"{records}/{record}/restore", json={}).status_code == 404


def test_a_record_is_changed_only_at_the_revision_that_was_read(script: TestClient) -> None:
    records = f"{PATH}/{made(script)}/records"
    first = script.post(records, json={"name": "Plan", "content": "One."})
    record = f"{records}/{first.json()['id']}"
    etag = first.headers["etag"]
    assert etag == '"1"'
    changed = script.patch(record, json={"content": "Two."}, headers={"If-Match": etag})
    assert changed.headers["etag"] == '"2"'
    late = script.put(
        record, json={"name": "Plan", "content": "Three."}, headers={"If-Match": etag}
    )
    assert late.status_code == 409
    assert script.get(record).json()["content"] == "Two."
    for tag, status in (('"abc"', 409), ("abc", 400), ('W/"2"', 400)):
        odd = script.patch(record, json={"content": "x"}, headers={"If-Match": tag})
        assert odd.status_code == status, tag
    assert script.delete(record, headers={"If-Match": etag}).status_code == 409
    whole = script.put(record, json={"name": "Plan B", "content": "Four."})
    assert (whole.json()["metadata"], whole.json()["revision"]) == ({}, 3)
    back = script.post(f"{record}/restore", json={"revision": 1}, headers={"If-Match": '"2"'})
    assert back.status_code == 409
    assert script.delete(record, headers={"If-Match": '"2"'}).status_code == 409
    assert script.delete(record, headers={"If-Match": '"3"'}).status_code == 204


def test_every_version_is_kept_and_can_be_restored(script: TestClient) -> None:
    folder = made(script)
    records = f"{PATH}/{folder}/records"
    record = script.post(
        records, json={"name": "Plan", "content": "One.", "metadata": {"a": 1}}
    ).json()["id"]
    script.patch(f"{records}/{record}", json={"content": "Two.", "operation": "append"})
    assert script.delete(f"{records}/{record}").status_code == 204
    assert script.get(f"{records}/{record}").status_code == 404
    assert [each["id"] for each in script.get(f"{PATH}/{folder}/deleted-records").json()["items"]]
    history = script.get(f"{records}/{record}/history").json()["items"]
    assert [each["operation"] for each in history] == ["delete", "append", "create"]
    assert "content" not in history[0]
    assert script.get(f"{records}/{record}/history/2").json()["content"] == "One.\n\nTwo."
    for number in (0, 4, 2**40):
        assert script.get(f"{records}/{record}/history/{number}").status_code == 404
    back = script.post(f"{records}/{record}/restore", json={}).json()
    assert (back["content"], back["metadata"]) == ("One.\n\nTwo.", {"a": 1})
    first = script.post(f"{records}/{record}/restore", json={"revision": 1}).json()
    assert (first["content"], first["revision"]) == ("One.", 5)
    assert script.post(f"{records}/{record}/restore", json={"revision": 99}).status_code == 404
    assert script.get(records, params={"where": "a=1"}).json()["total"] == 1


@pytest.mark.parametrize(
    ("where", "names"),
    [
        (['status="active"'], ["a"]),
        (["year=2024"], ["a", "b"]),
        (["year=2024", 'status="done"'], ["b"]),
        (['year="2024"'], []),
    ],
)
def test_records_are_filtered_by_json_values(
    script: TestClient, where: list[str], names: list[str]
) -> None:
    folder = made(script)
    for name, status in (("a", "active"), ("b", "done")):
        fields = {"status": status, "year": 2024}
        record = {"name": name, "content": "x", "metadata": fields}
        script.post(f"{PATH}/{folder}/records", json=record)
    found = script.get(f"{PATH}/{folder}/record-names", params={"where": where}).json()
    assert [each["name"] for each in found["records"]] == names


@pytest.mark.parametrize("where", ["status", "status=active", "=1", "a=" + "[" * 5000])
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_condition_that_is_not_understood_says_how_to_write_it(
    script: TestClient, where: str
) -> None:
    refused = script.get(f"{PATH}/{made(script)}/records", params={"where": where})
    assert refused.status_code == 400


def test_the_folders_of_somebody_else_are_not_there(script: TestClient, kernel: Kernel) -> None:
    folder = made(script)
    record = script.post(f"{PATH}/{folder}/records", json={"name": "n", "content": "x"}).json()
    key = script.post(f"{PATH}/{folder}/keys", json={"name": "Robot"}).json()
    with kernel.store.write() as session:
        other = Account(email="boris@example.org", password_hash="unused", role="member")
        session.add(other)
    sign_in(script, kernel, other)
    page = script.get("/folders").text
    script.headers["X-CSRF-Token"] = page.partition('content="')[2].partition('"')[0]
    token = page.partition('name="csrf-token" content="')[2].partition('"')[0]
    script.headers["X-CSRF-Token"] = token
    assert script.get(PATH).json()["items"] == []
    mine = f"{PATH}/{folder}"
    for method, path, body in (
        ("GET", mine, None),
        ("PATCH", mine, {"name": "x"}),
        ("GET", f"{mine}/search?q=x", None),
        ("GET", f"{mine}/keys", None),
        ("POST", f"{mine}/keys", {"name": "Thief"}),
        ("DELETE", f"{mine}/keys/{key['id']}", None),
        ("GET", f"{mine}/records", None),
        ("POST", f"{mine}/records", {"name": "n", "content": "x"}),
        ("GET", f"{mine}/records/{record['id']}", None),
        ("PATCH", f"{mine}/records/{record['id']}", {"content": "y"}),
        ("DELETE", f"{mine}/records/{record['id']}", None),
        ("GET", f"{mine}/records/{record['id']}/history", None),
        ("POST", f"{mine}/records/{record['id']}/restore", {"revision": 1}),
        ("DELETE", f"{mine}?name=Research", None),
    ):
        answer = script.request(method, path, json=body)
        assert answer.status_code == 404, (method, path, answer.text)
