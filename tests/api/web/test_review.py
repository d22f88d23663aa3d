"""The page on which a person decides what becomes a memory."""

import re
from typing import Any

import pytest
from starlette.testclient import TestClient

from backread.domain import Principal
from backread.kernel import Kernel
from backread.store.repositories.suggestions import SuggestionFilter, count_suggestions
from tests.api.archive import Importer
from tests.api.exports import dialogue
from tests.api.finds import bring_finds
from tests.api.web.pages import csrf_of, links_of, tags_of, text_of
from tests.exports import chatgpt_node, chatgpt_tree

PATH = "/memories/review"


def ids_on(html: str) -> list[str]:
    return [
        attributes["value"] or ""
        for tag, attributes in tags_of(html)
        if tag == "input" and attributes.get("name") == "id"
    ]


def decide(browser: TestClient, action: str, **fields: Any) -> Any:
    """Sends the form and follows to the page that it leads to."""
    form = {"csrf_token": csrf_of(browser), "action": action, **fields}
    answer = browser.post(PATH, data=form)
    if answer.status_code != 303:
        return answer
    return browser.get(answer.headers["location"])


def test_each_suggestion_shows_its_words_and_leads_to_where_they_were_said(
    signed_in: TestClient,
) -> None:
    bring_finds(signed_in)
    html = signed_in.get(PATH).text
    text = text_of(html)
    assert "Fires at cone 6." in text
    assert "Likes <b>tea</b>." in text
    assert "in Glazes & tiles" in text
    assert "<b>tea" not in html
    (link, *_) = [each for each in links_of(html) if re.match(r"/c/\w{26}\?at=", each)]
    message_id = link.rsplit("#m-", 1)[1]
    assert f'id="m-{message_id}"' in signed_in.get(link.split("#")[0]).text


def test_the_side_bar_counts_what_waits(signed_in: TestClient, bring_in: Importer) -> None:
    bring_in(dialogue("a", "b"))
    assert "to review" not in signed_in.get("/").text
    bring_finds(signed_in)
    assert "2 suggestions to review" in signed_in.get("/").text
    assert PATH in links_of(signed_in.get("/memories").text)
    decide(signed_in, "dismiss", id=ids_on(signed_in.get(PATH).text))
    assert "to review" not in signed_in.get("/").text


def test_chosen_ones_are_kept_in_a_new_bucket_and_the_rest_stays(signed_in: TestClient) -> None:
    bring_finds(signed_in)
    first, second = ids_on(signed_in.get(PATH).text)
    page = decide(signed_in, "accept", id=[first], bucket="new", bucket_name="Studio")
    assert "Kept 1 memory." in text_of(page.text)
    assert ids_on(page.text) == [second]
    assert "Studio" in text_of(page.text)
    assert (
        len(re.findall(r'class="statement-text"', signed_in.get(f"{PATH}?state=accepted").text))
        == 1
    )


def test_one_is_edited_before_it_is_kept(signed_in: TestClient) -> None:
    bring_finds(signed_in)
    first = ids_on(signed_in.get(PATH).text)[0]
    editing = signed_in.get(f"{PATH}?edit={first}").text
    assert "<textarea" in editing
    decide(signed_in, "accept", id=[first], text="In my own words.")
    kept = text_of(signed_in.get(f"{PATH}?state=accepted").text)
    assert "In my own words. ChatGPT’s words:" in kept
    again = decide(
        signed_in, "accept", id=ids_on(signed_in.get(PATH).text), text="In my own words."
    )
    assert "1 of them had been there already" in text_of(again.text)


def test_one_that_is_kept_as_it_was_has_no_former_words(signed_in: TestClient) -> None:
    memories = [{"account_uuid": "u", "conversations_memory": "Fires at\ncone 6."}]
    bring_finds(signed_in, **{"memories.json": memories})
    (only,) = ids_on(signed_in.get(PATH).text)
    decide(signed_in, "accept", id=[only], text="Fires at\r\ncone 6.")  # as browsers send it
    kept = text_of(signed_in.get(f"{PATH}?state=accepted").text)
    assert "Fires at cone 6." in kept
    assert "words:" not in kept


def test_dismissed_ones_can_be_reviewed_again(signed_in: TestClient) -> None:
    bring_finds(signed_in)
    ids = ids_on(signed_in.get(PATH).text)
    assert "Dismissed 2 suggestions" in text_of(decide(signed_in, "dismiss", id=ids).text)
    put_away = signed_in.get(f"{PATH}?state=dismissed").text
    assert sorted(ids_on(put_away)) == sorted(ids)
    decide(signed_in, "restore", id=ids[:1], state="dismissed")
    assert ids_on(signed_in.get(PATH).text) == ids[:1]


def test_all_on_every_page_are_decided_at_once(signed_in: TestClient, kernel: Kernel) -> None:
    nodes = [chatgpt_node("q", None, "user", "Remember these.")]
    for number in range(70):
        parent = nodes[-1]["id"]
        nodes.append(
            chatgpt_node(f"b{number}", parent, "assistant", f"Fact {number}.", recipient="bio")
        )
    bring_finds(signed_in, **{"conversations.json": [chatgpt_tree("many", nodes)]})
    first = signed_in.get(PATH).text
    assert len(ids_on(first)) == 50
    (following,) = [link for link in links_of(first) if "page=2" in link]
    assert len(ids_on(signed_in.get(following).text)) == 20
    page = decide(signed_in, "dismiss", every="true", page=2)
    assert "Dismissed 70 suggestions" in text_of(page.text)


@pytest.mark.parametrize(
    ("fields", "status", "words"),
    [
        ({}, 400, "No suggestion was chosen"),
        ({"id": ["x"], "bucket": "new", "bucket_name": " "}, 400, "The new bucket has no name"),
        ({"id": ["x"]}, 404, "There is no suggestion with this id"),
        ({"id": ["x"], "bucket": "999"}, 404, "There is no bucket with this id"),
    ],
)
def test_what_is_missing_is_said_on_the_page(
    signed_in: TestClient, fields: dict[str, Any], status: int, words: str
) -> None:
    bring_finds(signed_in)
    answer = decide(signed_in, "accept", **fields)
    assert answer.status_code == status
    assert words in text_of(answer.text)
    assert len(ids_on(answer.text)) == 2


def test_without_the_form_token_nothing_is_decided(
    signed_in: TestClient, kernel: Kernel, owner: Any
) -> None:
    bring_finds(signed_in)
    ids = ids_on(signed_in.get(PATH).text)
    answer = signed_in.post(PATH, data={"action": "dismiss", "id": ids})
    assert answer.status_code == 403
    with kernel.store.read() as session:
        counts = count_suggestions(session, Principal(owner.id), SuggestionFilter())
    assert counts == {"chatgpt": 2}
