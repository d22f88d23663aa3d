"""The Memories pages, and deleting a conversation, as a person uses them."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from backread.domain import Principal, Scope
from backread.kernel import Kernel
from backread.store.models import Account
from recall.memories import Source, create_bucket, store_memory
from tests.api.web.pages import csrf_of, links_of, tags_of, text_of
from tests.recall.chats import GARDEN, keep

# What is tested here does not depend on the database.
pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

PATH = "/memories"


@pytest.fixture
def principal(owner: Account) -> Principal:
    return Principal(owner.id, scopes=frozenset(Scope))


def send(browser: TestClient, path: str, **fields: Any) -> str:
    """Sends a form, and gives the page that it leads to."""
    answer = browser.post(path, data={"csrf_token": csrf_of(browser), **fields})
    if answer.status_code == 303:
        answer = browser.get(answer.headers["location"].split("#")[0])
    return answer.text


def undo_id_on(html: str) -> str:
    (found,) = [
        attributes["value"] or ""
        for tag, attributes in tags_of(html)
        if tag == "input" and attributes.get("name") == "undo"
    ]
    return found


def test_an_empty_page_says_how_to_begin(signed_in: TestClient) -> None:
    text = text_of(signed_in.get(PATH).text)
    assert "No memories yet" in text
    assert "Add a memory" in text


def test_a_memory_is_added_once_and_found(signed_in: TestClient) -> None:
    page = text_of(send(signed_in, f"{PATH}/add", text="Ada likes <b>tea</b>."))
    assert "Every connected client can recall it" in page
    assert "Ada likes <b>tea</b>." in page
    assert "says that already" in text_of(
        send(signed_in, f"{PATH}/add", text="ada likes <b>tea</b>")
    )
    assert "Ada likes" in text_of(signed_in.get(PATH, params={"q": "tea"}).text)
    assert "No memory matches" in text_of(signed_in.get(PATH, params={"q": "zeppelin"}).text)
    assert "The memory is empty" in text_of(send(signed_in, f"{PATH}/add", text="  "))
    made = send(signed_in, f"{PATH}/add", text="The hedge.", bucket="new", bucket_name="Garden")
    assert "Garden" in text_of(made)


def test_a_memory_shows_where_it_comes_from(
    signed_in: TestClient, kernel: Kernel, principal: Principal
) -> None:
    (garden,) = keep(kernel, principal, GARDEN, index=False)
    store_memory(kernel, principal, "The beds are made of cedar.", source=Source(garden))
    html = signed_in.get(PATH).text
    assert f"/c/{garden}" in links_of(html)


def test_an_edit_corrects_or_keeps_the_former_version(
    signed_in: TestClient, kernel: Kernel, principal: Principal
) -> None:
    stored = store_memory(kernel, principal, "Ada lives in Zurich.")
    edit = signed_in.get(PATH, params={"edit": stored.memory_id}).text
    assert "Ada lives in Zurich.</textarea>" in edit
    fields = {"memory": stored.memory_id, "bucket": str(stored.bucket_id)}
    page = text_of(send(signed_in, f"{PATH}/change", text="Ada lives in Basel.", **fields))
    assert "Ada lives in Basel." in page
    assert "former version" not in page
    page = text_of(
        send(signed_in, f"{PATH}/change", text="Ada lives in Porto.", keep_former="true", **fields)
    )
    assert "1 former version" in page
    assert "Ada lives in Basel." in page
    assert "held until" in page


def test_memories_are_moved_deleted_and_brought_back(
    signed_in: TestClient, kernel: Kernel, principal: Principal
) -> None:
    ids = [store_memory(kernel, principal, f"Fact {n} of the shed.").memory_id for n in range(2)]
    garden = create_bucket(kernel, principal, "Garden").bucket_id
    moved = text_of(send(signed_in, f"{PATH}/decide", action="move", id=ids, bucket=str(garden)))
    assert "Moved 2 memories." in moved
    gone = send(signed_in, f"{PATH}/decide", action="forget", id=ids)
    assert "Deleted 2 memories." in text_of(gone)
    assert "Fact 0" not in text_of(gone)
    assert "2 memories" in text_of(signed_in.get(f"{PATH}/forgotten").text)
    back = text_of(send(signed_in, f"{PATH}/undo", undo=undo_id_on(gone)))
    assert "Brought back 2 memories." in back
    assert "No memory was chosen" in text_of(send(signed_in, f"{PATH}/decide", action="forget"))


def test_a_bucket_is_made_and_deleted(
    signed_in: TestClient, kernel: Kernel, principal: Principal
) -> None:
    page = send(signed_in, f"{PATH}/bucket", action="create", bucket_name="Garden")
    assert "The bucket is there." in text_of(page)
    bucket = create_bucket(kernel, principal, "Garden").bucket_id
    store_memory(kernel, principal, "The hedge is cut in June.", bucket_id=bucket)
    gone = send(signed_in, f"{PATH}/bucket", action="delete", bucket=str(bucket))
    assert "Deleted the bucket with 1 memory." in text_of(gone)
    undo = undo_id_on(gone)
    page = send(signed_in, f"{PATH}/forgotten", undo=undo)
    assert "Deleted for good." in text_of(page)
    assert "too late" in text_of(send(signed_in, f"{PATH}/undo", undo=undo))


def test_long_lists_come_in_pages(
    signed_in: TestClient, kernel: Kernel, principal: Principal
) -> None:
    for number in range(55):
        store_memory(kernel, principal, f"Fact {number} of the river.")
    first = signed_in.get(PATH).text
    assert "Fact 54 " in text_of(first)
    assert "Fact 4 " not in text_of(first)
    (older,) = [each for each in links_of(first) if "cursor=" in each and "edit=" not in each]
    assert "Fact 4 " in text_of(signed_in.get(older).text)


def test_a_time_without_words_lists_everything_in_it(
    signed_in: TestClient, kernel: Kernel, principal: Principal
) -> None:
    keep(kernel, principal, GARDEN, index=False)
    page = text_of(signed_in.get("/search", params={"after": "2024-03-01"}).text)
    assert "1 conversation in that time" in page
    assert GARDEN.turns[0] in page
    empty = text_of(signed_in.get("/search", params={"before": "2020-01-01"}).text)
    assert "Nothing in that time" in empty


def test_a_conversation_is_deleted_after_a_question_and_with_a_receipt(
    signed_in: TestClient, kernel: Kernel, principal: Principal
) -> None:
    (garden,) = keep(kernel, principal, GARDEN)
    reader = signed_in.get(f"/c/{garden}").text
    assert f"/c/{garden}/delete" in links_of(reader)
    question = text_of(signed_in.get(f"/c/{garden}/delete").text)
    assert "This cannot be undone" in question
    assert signed_in.get(f"/c/{garden}").status_code == 200
    receipt = text_of(send(signed_in, f"/c/{garden}/delete"))
    assert "Receipt" in receipt
    assert "Raw captures" in receipt
    assert signed_in.get(f"/c/{garden}").status_code == 404


def test_rest_deletes_a_conversation_with_the_same_receipt(
    signed_in: TestClient, kernel: Kernel, principal: Principal
) -> None:
    (garden,) = keep(kernel, principal, GARDEN)
    path = f"/api/v1/conversations/{garden}"
    assert signed_in.delete(path).status_code == 403
    answer = signed_in.delete(path, headers={"X-CSRF-Token": csrf_of(signed_in)})
    assert answer.status_code == 200
    removed = {store["name"]: store["removed"] for store in answer.json()["stores"]}
    assert removed["messages"] == 4
    assert signed_in.get(path).status_code == 404


def test_an_unknown_bucket_is_told_of_in_words_for_people(signed_in: TestClient) -> None:
    page = signed_in.get(PATH, params={"bucket": "99"}, headers={"Accept": "text/html"})
    assert page.status_code == 404
    assert "There is no such bucket." in text_of(page.text)
    assert "list_buckets" not in page.text


def test_the_search_of_everything_shows_memories_too(
    signed_in: TestClient, kernel: Kernel, principal: Principal
) -> None:
    keep(kernel, principal, GARDEN, index=False)
    stored = store_memory(kernel, principal, "The spare key hangs behind the boiler.")
    html = signed_in.get("/search?q=spare+key").text
    assert f"/memories?q=spare+key#m-{stored.memory_id}" in links_of(html)
    assert "In your memories" in text_of(html)
    assert "In your memories" not in text_of(signed_in.get("/search?q=zeppelin").text)
    assert "In your memories" not in signed_in.get("/search?q=spare+key&platform=chatgpt").text
