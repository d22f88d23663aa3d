import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.api.archive import Importer
from tests.api.exports import conversation, message
from tests.api.web.pages import conversation_links, links_of, text_of

PAGE = "<h1>Bees</h1>\n<script>alert(1)</script>"


def canvas(node: str, parent: str, tool: str, call: dict[str, Any], at: int) -> list[Any]:
    """A call to the canvas and the tool's reply, which knows the document's id."""
    asked = message(node, parent, "assistant", json.dumps(call), at=at)
    asked["message"]["recipient"] = f"canmore.{tool}"
    told = message(f"{node}-reply", node, "tool", "Successfully done.", at=at)
    told["message"]["metadata"] = {"canvas": {"textdoc_id": "doc-1", "textdoc_type": "code/html"}}
    return [asked, told]


def with_canvas() -> dict[str, Any]:
    create = {"name": "Bee page", "type": "code/html", "content": "<h1>Wasps</h1>"}
    rewrite = {"updates": [{"pattern": ".*", "multiple": False, "replacement": PAGE}]}
    broken = {"updates": [{"pattern": "(?=x)", "multiple": False, "replacement": "y"}]}
    return conversation(
        [
            message("q", None, "user", "Write a page about bees."),
            *canvas("c1", "q", "create_textdoc", create, 10),
            message("a", "c1-reply", "assistant", "Here it is.", at=20),
            message("q2", "a", "user", "Not wasps!", at=30),
            *canvas("c2", "q2", "update_textdoc", rewrite, 40),
            *canvas("c3", "c2-reply", "update_textdoc", broken, 50),
            message("a2", "c3-reply", "assistant", "Changed.", at=60),
        ],
        current="a2",
    )


@pytest.fixture
def path(signed_in: TestClient, bring_in: Importer) -> str:
    bring_in(with_canvas())
    (found,) = conversation_links(signed_in.get("/conversations").text)
    return found


def test_the_reader_lists_artifacts_and_shows_each_version_where_it_was_made(
    signed_in: TestClient, path: str
) -> None:
    page = signed_in.get(path).text
    text = text_of(page)
    assert "1 artifact Bee page Code, html · 3 versions" in text
    assert "Code, html · version 1 of 3" in text
    assert "change not applied" in text
    wanted = [f"{path}/artifacts/1", *(f"{path}/artifacts/1?version={n}" for n in (1, 2, 3))]
    assert [link for link in links_of(page) if "/artifacts/" in link] == wanted


def test_a_version_is_shown_coloured_and_nothing_of_it_runs(
    signed_in: TestClient, path: str
) -> None:
    page = signed_in.get(f"{path}/artifacts/1?version=2").text
    assert "Version 2 of 3" in text_of(page)
    assert "alert" in text_of(page)
    assert "<script>alert" not in page
    assert '<code class="language-html">' in page
    assert f"{path}/artifacts/1?version=3" in links_of(page)
    assert any(link.startswith(f"{path}?at=") for link in links_of(page))


def test_a_change_that_could_not_be_applied_is_shown_as_it_came(
    signed_in: TestClient, path: str
) -> None:
    text = text_of(signed_in.get(f"{path}/artifacts/1").text)
    assert "Version 3 of 3" in text
    assert "This change could not be applied. Its pattern is one that cannot be applied" in text
    assert "Replaced: (?=x)" in text


def test_a_version_can_be_saved_as_a_file_that_no_browser_runs(
    signed_in: TestClient, path: str
) -> None:
    answer = signed_in.get(f"{path}/artifacts/1/file?version=2")
    assert answer.text == PAGE
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''Bee%20page.html"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_what_does_not_exist_is_not_found(signed_in: TestClient, path: str) -> None:
    for place in ("0", "2", "1?version=4", "1/file?version=9"):
        assert signed_in.get(f"{path}/artifacts/{place}").status_code == 404
    assert signed_in.get("/c/" + "0" * 26 + "/artifacts/1").status_code == 404


def test_rest_gives_artifacts_with_their_versions_and_texts(
    signed_in: TestClient, path: str
) -> None:
    base = f"/api/v1/conversations/{path.removeprefix('/c/')}/artifacts"
    (artifact,) = signed_in.get(base).json()["items"]
    assert (artifact["id"], artifact["title"]) == ("doc-1", "Bee page")
    assert (artifact["type"], artifact["language"]) == ("code/html", "html")
    assert [each["command"] for each in artifact["versions"]] == ["create", "rewrite", "update"]
    assert [bool(each["problem"]) for each in artifact["versions"]] == [False, False, True]
    version = signed_in.get(f"{base}/1?version=2").json()
    assert (version["text"], version["problem"]) == (PAGE, "")
    latest = signed_in.get(f"{base}/1").json()
    assert (latest["number"], latest["text"]) == (3, PAGE)
    assert "(?=x)" in latest["change"]
    assert signed_in.get(f"{base}/2").status_code == 404


def test_rest_needs_a_sign_in(browser: TestClient) -> None:
    for tail in ("artifacts", "artifacts/1"):
        assert browser.get(f"/api/v1/conversations/x/{tail}").status_code == 401


def test_the_search_finds_an_artifact_and_names_it(signed_in: TestClient, path: str) -> None:
    page = signed_in.get("/search", params={"q": "wasps bee page"}).text
    assert '<span class="hit-document">' in page
    assert any(link.startswith(f"{path}?at=") for link in links_of(page))
