"""The pages that show what projects hold."""

import re

from starlette.testclient import TestClient

from tests.api.archive import Importer
from tests.api.exports import dialogue
from tests.api.finds import KEY, bring_finds
from tests.api.web.pages import links_of, tags_of, text_of


def test_files_are_listed_by_project_and_the_side_bar_leads_there_once_there_are_any(
    signed_in: TestClient, bring_in: Importer
) -> None:
    bring_in(dialogue("a", "b"))
    assert "/files" not in links_of(signed_in.get("/").text)
    assert "No files yet" in text_of(signed_in.get("/files").text)
    bring_finds(signed_in)
    assert "/files" in links_of(signed_in.get("/").text)
    text = text_of(signed_in.get("/files").text)
    assert "Kiln & co" in text
    assert "Project instructions" in text
    assert "../Töpfe.md" in text


def test_a_file_is_shown_safely_and_can_be_downloaded(signed_in: TestClient) -> None:
    bring_finds(signed_in)
    listing = signed_in.get("/files").text
    addresses = [link for link in links_of(listing) if re.fullmatch(r"/files/\w{26}", link)]
    instructions, pots = (signed_in.get(address).text for address in addresses)
    assert "Be <strong>brief</strong>." in instructions
    assert "<script>alert(1)</script>" in text_of(pots)
    scripts = [found for tag, found in tags_of(pots) if tag == "script"]
    assert all(found.get("src") for found in scripts)
    (download,) = [link for link in links_of(pots) if link.endswith("/download")]
    assert signed_in.get(download).status_code == 200
    assert signed_in.get(f"/files/{'0' * 26}").status_code == 404


def test_conversations_with_keys_can_be_picked_out_and_the_reader_warns(
    signed_in: TestClient, bring_in: Importer
) -> None:
    bring_in(dialogue("Nothing secret", "No.", identity="plain"))
    assert "keys or passwords" not in text_of(signed_in.get("/conversations").text)
    bring_finds(signed_in)
    html = signed_in.get("/conversations?has_secrets=true").text
    (chat,) = {link for link in links_of(html) if link.startswith("/c/")}
    assert "1 key or password" in text_of(html)
    assert "1 conversation matches" in text_of(html)
    reader = text_of(signed_in.get(chat).text)
    assert "This conversation holds 1 key or password. 1 × Stripe key" in reader
    assert KEY in reader  # its own owner may read it
