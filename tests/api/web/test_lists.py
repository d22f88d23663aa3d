from urllib.parse import urlsplit

import pytest
from starlette.testclient import TestClient

from tests.api.archive import Importer
from tests.api.exports import dialogue
from tests.api.web.pages import conversation_links, links_of, text_of


def next_page(html: str) -> str:
    found = [link for link in links_of(html) if "after=" in link]
    return found[0] if found else ""


@pytest.mark.parametrize("sort", ["newest", "oldest", "title", "longest"])
def test_paging_shows_every_conversation_once_in_every_order(
    signed_in: TestClient, bring_in: Importer, sort: str
) -> None:
    chats = [
        dialogue(*["x"] * (2 + number % 3), title=f"Chat {number % 7}", identity=f"c-{number}")
        for number in range(120)
    ]
    bring_in(*chats)
    seen: list[str] = []
    address = f"/conversations?sort={sort}"
    while address:
        html = signed_in.get(address).text
        seen += conversation_links(html)
        address = next_page(html)
    assert len(seen) == len(set(seen)) == 120


def test_titles_are_found_in_any_case_and_script(signed_in: TestClient, bring_in: Importer) -> None:
    bring_in(
        dialogue("a", title="Рожь и вода", identity="1"),
        dialogue("b", title="Rye at 100%", identity="2"),
        dialogue("c", title="Rye at 100 degrees", identity="3"),
    )
    assert len(conversation_links(signed_in.get("/conversations?title=RYE").text)) == 2
    assert len(conversation_links(signed_in.get("/conversations?title=рожь").text)) == 1
    assert len(conversation_links(signed_in.get("/conversations?title=100%25").text)) == 1
    nothing = signed_in.get("/conversations?title=barley").text
    assert "No title contains “ barley ”" in text_of(nothing)


def test_a_broken_page_address_is_told(signed_in: TestClient, bring_in: Importer) -> None:
    bring_in(dialogue("a"))
    answer = signed_in.get("/conversations?after=nonsense")
    assert answer.status_code == 400
    assert "cannot be continued" in text_of(answer.text)


def test_an_empty_archive_says_how_to_begin(signed_in: TestClient) -> None:
    home = text_of(signed_in.get("/").text)
    assert "Data controls" in home
    assert "/api/mcp/mcp" in home
    assert "No conversations yet" in text_of(signed_in.get("/conversations").text)
    assert "Nothing to search yet" in text_of(signed_in.get("/search?q=rye").text)


def test_a_refused_file_gets_its_reason_and_a_way_on_instead_of_zeros(
    signed_in: TestClient, bring_in: Importer
) -> None:
    bring_in(name="nothing.zip")
    (report,) = {link for link in links_of(signed_in.get("/import").text) if "/imports/" in link}
    text = text_of(signed_in.get(report).text)
    assert "Failed" in text
    assert "Choose another file" in text
    assert "found = new" not in text


def test_home_counts_what_is_there(signed_in: TestClient, bring_in: Importer) -> None:
    bring_in(dialogue("a", "b", identity="1"), dialogue("c", "d", "e", identity="2"))
    text = text_of(signed_in.get("/").text)
    assert "Conversations 2 Messages 5" in text
    assert "Feb 2025" in text


def test_static_files_keep_for_ever_under_an_address_of_their_content(
    signed_in: TestClient,
) -> None:
    for link in {link for link in links_of(signed_in.get("/import").text) if "/static/" in link}:
        answer = signed_in.get(link)
        assert answer.status_code == 200, link
        assert "immutable" in answer.headers["cache-control"]
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert signed_in.get("/static/old/js/main.js").headers["cache-control"] == "no-cache"
    for path in ("/static/x/../templating.py", "/static/x/%2e%2e/templating.py", "/static/x/no"):
        assert signed_in.get(path).status_code == 404, path


def test_every_page_can_be_opened(signed_in: TestClient, bring_in: Importer) -> None:
    import_id = bring_in(dialogue("a", "b", "c", "d", "e", "f"))
    pages = ["/", "/import", f"/imports/{import_id}", "/conversations", "/connections", "/search"]
    for path in [*pages, "/settings", "/settings?saved=true"]:
        answer = signed_in.get(path)
        assert answer.status_code == 200, path
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["cache-control"] == "no-store"
    for link in links_of(signed_in.get("/").text):
        if urlsplit(link).scheme == "" and link.startswith("/"):
            assert signed_in.get(link).status_code == 200, link
