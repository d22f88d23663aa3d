from typing import Any

import pytest
from starlette.testclient import TestClient

from backread.domain import Principal
from backread.kernel import Kernel
from backread.store.models import Account
from recall.memories import store_memory
from tests.recall.categories.lives import ALL
from tests.recall.chats import GARDEN, keep


@pytest.fixture
def bucket(kernel: Kernel, owner: Account) -> int:
    (number,) = {store_memory(kernel, Principal(owner.id), text).bucket_id for text in ALL}
    return number


def get(browser: TestClient, path: str, **query: Any) -> dict[str, Any]:
    answer = browser.get(f"/api/v1{path}", params=query)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_categories_and_their_memories_come_in_the_names_of_the_interface(
    signed_in: TestClient, bucket: int
) -> None:
    listed = get(signed_in, f"/buckets/{bucket}/categories")
    assert (listed["bucket_id"], listed["memory_count"], listed["state"]) == (bucket, 15, "ready")
    first = listed["categories"][0]
    page = get(signed_in, f"/buckets/{bucket}/categories/{first['category_id']}", limit=2)
    assert page["memory_count"] == first["memory_count"]
    assert len(page["memories"]) == 2


@pytest.mark.parametrize("path", ["/buckets/99/categories", "/buckets/99/categories/x"])
def test_a_bucket_that_is_not_there_is_not_found(signed_in: TestClient, path: str) -> None:
    assert signed_in.get(f"/api/v1{path}").status_code == 404


def test_nobody_reads_them_without_signing_in(browser: TestClient, bucket: int) -> None:
    for path in (f"/buckets/{bucket}/categories", "/overview"):
        assert browser.get(f"/api/v1{path}").status_code == 401


def test_the_overview_has_both_parts(signed_in: TestClient, kernel: Kernel, owner: Account) -> None:
    (conversation_id,) = keep(kernel, Principal(owner.id), GARDEN)
    found = get(signed_in, "/overview")
    assert found["inventory"]["platforms"][0]["platform"] == "chatgpt"
    (topic,) = found["portrait"]["topics"]
    assert topic["cited"][0]["conversation_id"] == conversation_id
