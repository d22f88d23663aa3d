from starlette.testclient import TestClient

from backread.kernel import Kernel
from backread.store.models import Account
from tests.api.archive import Importer
from tests.api.conftest import PASSWORD, sign_in
from tests.api.exports import conversation, dialogue, message


def test_conversations_come_a_page_at_a_time(signed_in: TestClient, bring_in: Importer) -> None:
    bring_in(*(dialogue("x", "y", title=f"Chat {n}", identity=f"c{n}") for n in range(7)))
    seen: list[str] = []
    cursor = ""
    while True:
        page = signed_in.get("/api/v1/conversations", params={"limit": 3, "after": cursor}).json()
        assert page["total"] == 7
        seen += [item["external_id"] for item in page["items"]]
        cursor = page["next_cursor"]
        if not cursor:
            break
    assert sorted(seen) == [f"c{n}" for n in range(7)]
    wrong = signed_in.get("/api/v1/conversations", params={"after": "x"})
    assert wrong.status_code == 400


def test_a_conversation_gives_its_messages_and_its_branches(
    signed_in: TestClient, bring_in: Importer
) -> None:
    nodes = [
        message("q", None, "user", "Which oven?"),
        message("a1", "q", "assistant", "A gas oven.", at=5),
        message("a2", "q", "assistant", "An electric oven.", at=9),
    ]
    bring_in(conversation(nodes, current="a2"))
    (item,) = signed_in.get("/api/v1/conversations").json()["items"]
    detail = signed_in.get(f"/api/v1/conversations/{item['id']}").json()
    assert [each["text"] for each in detail["messages"]] == ["Which oven?", "An electric oven."]
    assert (detail["platform"], detail["message_total"]) == ("chatgpt", 2)
    part = signed_in.get(f"/api/v1/conversations/{item['id']}?offset=1&limit=1").json()
    assert [each["text"] for each in part["messages"]] == ["An electric oven."]
    missing = signed_in.get(f"/api/v1/conversations/{item['id']}?at={'0' * 26}")
    assert missing.status_code == 404


def test_search_finds_words_and_links_to_the_message(
    signed_in: TestClient, bring_in: Importer
) -> None:
    bring_in(
        dialogue("How long does sourdough ferment?", "About four hours.", identity="1"),
        dialogue("Which train goes to Porto?", "The one at nine.", identity="2"),
    )
    found = signed_in.get("/api/v1/search", params={"q": "sourdough"}).json()
    hit = found["hits"][0]
    assert "sourdough" in hit["text"]
    assert hit["reader_url"].endswith(f"/c/{hit['conversation_id']}#m-{hit['message_id']}")
    nothing = signed_in.get("/api/v1/search", params={"q": "sourdough", "after": "2026-01-01"})
    assert nothing.json()["hits"] == []


def test_background_work_is_listed(signed_in: TestClient, bring_in: Importer) -> None:
    bring_in(dialogue("a", "b"))
    jobs = signed_in.get("/api/v1/jobs").json()["items"]
    assert {"ingest.run_import"} <= {job["name"] for job in jobs}
    assert all(job["state"] == "done" for job in jobs)


def test_health_needs_no_sign_in(browser: TestClient) -> None:
    assert browser.get("/healthz").json()["status"] == "ok"


def test_every_address_needs_a_sign_in(browser: TestClient) -> None:
    for path in ("imports", "imports/x", "conversations", "conversations/x", "search?q=a", "jobs"):
        answer = browser.get(f"/api/v1/{path}")
        assert answer.status_code == 401, path
        assert answer.headers["content-type"] == "application/problem+json"


def test_another_account_sees_nothing_of_it(
    signed_in: TestClient, bring_in: Importer, kernel: Kernel
) -> None:
    import_id = bring_in(dialogue("A secret about sourdough", "b"))
    (item,) = signed_in.get("/api/v1/conversations").json()["items"]
    with kernel.store.write() as session:
        other = Account(email="boris@example.org", password_hash=PASSWORD, role="member")
        session.add(other)
    sign_in(signed_in, kernel, other)
    assert signed_in.get("/api/v1/conversations").json()["total"] == 0
    assert signed_in.get("/api/v1/imports").json()["items"] == []
    assert signed_in.get("/api/v1/jobs").json()["items"] == []
    assert signed_in.get("/api/v1/search", params={"q": "sourdough"}).json()["hits"] == []
    for path in (f"conversations/{item['id']}", f"imports/{import_id}"):
        foreign = signed_in.get(f"/api/v1/{path}")
        missing = signed_in.get(f"/api/v1/{path[:-1]}_")
        assert foreign.status_code == missing.status_code == 404
        assert foreign.json()["detail"] == missing.json()["detail"]
    assert signed_in.get(f"/c/{item['id']}").status_code == 404
    assert signed_in.get(f"/imports/{import_id}").status_code == 404


def test_the_api_describes_itself(browser: TestClient) -> None:
    paths = browser.get("/api/v1/openapi.json").json()["paths"]
    for path in ("/imports", "/imports/{import_id}", "/imports/{import_id}/cancel"):
        assert f"/api/v1{path}" in paths
    for path in ("/conversations", "/conversations/{conversation_id}", "/search", "/jobs"):
        assert f"/api/v1{path}" in paths
    body = paths["/api/v1/imports"]["post"]["requestBody"]["content"]
    assert "multipart/form-data" in body
    assert "/import" not in paths
