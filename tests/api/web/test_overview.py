"""The pages of Smart Memory and of the overview."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from starlette.testclient import TestClient

from api.web.pages.overview import chart_of, sparks
from backread.domain import Principal
from backread.kernel import Kernel
from backread.store.models import Account
from recall.memories import store_memory
from recall.overview.inventory import MonthCount
from recall.overview.results import MonthlyConversations
from tests.api.web.pages import links_of, tags_of, text_of
from tests.recall.categories.lives import ALL
from tests.recall.chats import Chat, keep


@pytest.fixture
def principal(owner: Account) -> Principal:
    return Principal(owner.id)


def test_the_page_of_a_bucket_leads_from_each_sentence_to_its_memory(
    signed_in: TestClient, kernel: Kernel, principal: Principal
) -> None:
    (bucket, *_) = [store_memory(kernel, principal, text).bucket_id for text in ALL]
    page = signed_in.get(f"/memories/buckets/{bucket}/categories")
    assert page.status_code == 200
    links = [each for each in links_of(page.text) if "#memory-" in each]
    assert links
    path, _, anchor = links[0].partition("#")
    category = signed_in.get(path)
    assert category.status_code == 200
    assert anchor in {attributes.get("id") for _, attributes in tags_of(category.text)}


def test_an_empty_bucket_and_an_unknown_one_say_so(
    signed_in: TestClient, kernel: Kernel, principal: Principal
) -> None:
    from recall.memories import create_bucket

    bucket = create_bucket(kernel, principal, "Later").bucket_id
    page = signed_in.get(f"/memories/buckets/{bucket}/categories")
    assert "No memories in this bucket yet" in text_of(page.text)
    assert signed_in.get("/memories/buckets/4711/categories").status_code == 404
    assert signed_in.get(f"/memories/buckets/{bucket}/categories/x").status_code == 404


def test_the_overview_shows_activity_topics_and_sources_without_any_script_or_style(
    signed_in: TestClient, kernel: Kernel, principal: Principal
) -> None:
    start = datetime(2024, 1, 5, tzinfo=UTC)
    chats = [
        Chat(
            f"Roses {n}",
            ["The roses need pruning. Keep it short.", "Yes."],
            start + timedelta(40 * n),
        )
        for n in range(3)
    ]
    ids = keep(kernel, principal, *chats)
    page = signed_in.get("/overview")
    text = text_of(page.text)
    assert "Asks for short, direct answers." in text
    assert "3 conversations" in text
    for conversation_id in ids:
        assert f"/c/{conversation_id}" in page.text
    bars = [attributes for tag, attributes in tags_of(page.text) if tag == "rect"]
    assert bars
    assert not any("style" in attributes for _, attributes in tags_of(page.text))


def test_an_empty_overview_leads_to_the_import(signed_in: TestClient) -> None:
    page = signed_in.get("/overview")
    assert "Nothing to look over yet" in text_of(page.text)
    assert "/overview" in links_of(page.text)


def months(*counted: tuple[str, int]) -> Sequence[MonthCount]:
    return [MonthCount(month=month, conversations=1, messages=count) for month, count in counted]


def test_months_without_messages_have_their_place_in_the_chart() -> None:
    chart = chart_of(months(("2023-11", 4), ("2024-02", 8)))
    assert chart is not None
    assert [bar.height for bar in chart.bars] == [50.0, 0.0, 0.0, 100.0]
    assert [bar.label for bar in chart.bars[:2]] == ["Nov 2023: 4 messages", "Dec 2023: 0 messages"]
    assert chart_of([]) is None


def test_many_years_fit_into_one_chart() -> None:
    chart = chart_of(months(("2010-01", 1), ("2026-12", 1)))
    assert chart is not None
    assert len(chart.bars) <= 48
    assert sum(bar.height > 0 for bar in chart.bars) == 2
    few = sparks([MonthlyConversations(month="2012-01", conversations=2)], ["2010-01", "2026-12"])
    assert len(few) <= 24
    assert sparks([], []) == []
