from starlette.testclient import TestClient

from backread.domain import Principal, Scope
from backread.kernel import Kernel
from backread.store.models import Account
from tests.recall.chats import GARDEN, TRAVEL, keep

PATH = "/api/v1/timeline"


def test_a_span_of_time_is_listed_in_order_page_by_page(
    signed_in: TestClient, kernel: Kernel, owner: Account
) -> None:
    garden, travel = keep(kernel, Principal(owner.id, frozenset(Scope)), TRAVEL, GARDEN)[::-1]
    page = signed_in.get(PATH, params={"after": "2024-01-01", "before": "2024-12-31"}).json()
    assert [each["conversation_id"] for each in page["entries"]] == [garden, travel]
    assert page["total"] == 2
    assert page["entries"][0]["opening"] == GARDEN.turns[0]
    second = signed_in.get(PATH, params={"after": "2024", "offset": 1, "limit": 1}).json()
    assert [each["conversation_id"] for each in second["entries"]] == [travel]
    claude = signed_in.get(PATH, params={"after": "2024", "platform": "claude"}).json()
    assert [each["conversation_id"] for each in claude["entries"]] == [travel]


def test_a_span_needs_a_bound_that_can_be_read(signed_in: TestClient) -> None:
    for query in ({}, {"after": "soon"}, {"after": "2025", "before": "2024"}):
        assert signed_in.get(PATH, params=query).status_code in {400, 422}
    assert signed_in.get(PATH, params={"before": "1999"}).json()["total"] == 0
