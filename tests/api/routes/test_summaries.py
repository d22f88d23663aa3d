"""Agreeing to an estimate and looking at what was spent, as a script and as a person."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from backread.domain import Principal, Scope
from backread.jobs import run_pending
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.models import Account
from recall.summarising import making
from tests.api.web.pages import csrf_of, text_of
from tests.language_model_server import LanguageModelServer, language_model_server
from tests.recall.chats import keep
from tests.recall.summarising.conftest import boat
from tests.recall.summarising.models import sensible

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


@pytest.fixture
def server() -> Iterator[LanguageModelServer]:
    with language_model_server() as server:
        server.answer = sensible
        yield server


@pytest.fixture
def settings(settings: Settings, server: LanguageModelServer) -> Settings:
    return settings.model_copy(
        update={
            "llm_model": "gpt-4o-mini",
            "llm_base_url": server.base_url,
            "llm_budget_day_tokens": 900_000,
        }
    )


@pytest.fixture
def ada(owner: Account) -> Principal:
    return Principal(owner.id, scopes=frozenset(Scope))


def send(browser: TestClient, path: str, **body: Any) -> Any:
    headers = {"X-CSRF-Token": csrf_of(browser), "Accept": "application/json"}
    answer = browser.post(path, json=body, headers=headers)
    return answer.status_code, answer.json()


def get(browser: TestClient, path: str) -> Any:
    answer = browser.get(path, headers={"Accept": "application/json"})
    assert answer.status_code == 200, answer.text
    return answer.json()


def post_form(browser: TestClient, path: str, **fields: str) -> Any:
    return browser.post(path, data=fields | {"csrf_token": csrf_of(browser)})


def test_a_script_agrees_to_the_estimate_and_sees_what_it_took(
    signed_in: TestClient, kernel: Kernel, ada: Principal, server: LanguageModelServer
) -> None:
    keep(kernel, ada, boat(), boat(60, "Another"), index=False)
    status = get(signed_in, "/api/v1/summaries")
    offer = status["offer"]
    assert offer["conversations"] == 2
    assert offer["cost"] == pytest.approx(
        (offer["tokens_in"] * 0.15 + offer["tokens_out"] * 0.6) / 1e6, abs=1e-6
    )
    assert send(signed_in, "/api/v1/summaries/accept", until="2020-01-01T00:00:00Z")[0] in {
        400,
        409,
    }
    later = get(signed_in, "/api/v1/summaries")["offer"]
    code, accepted = send(signed_in, "/api/v1/summaries/accept", until=later["until"])
    assert code == 200
    assert accepted["accepted"]["conversations"] == 2
    assert server.calls == 0
    run_pending(kernel, names=[making.SUMMARISE])
    assert get(signed_in, "/api/v1/summaries")["made"] == 2
    usage = get(signed_in, "/api/v1/usage")
    assert usage["model"] == "gpt-4o-mini"
    assert usage["day"]["spent"]["calls"] == server.calls
    assert usage["day"]["tokens_left"] == 900_000 - sum(
        usage["day"]["spent"][name] for name in ("tokens_in", "tokens_out")
    )
    assert [each["calls"] for each in usage["by_day"]] == [server.calls]
    assert {each["purpose"] for each in usage["by_purpose"]} <= {
        "summarise_part",
        "summarise_whole",
    }


def test_pausing_and_going_on(
    signed_in: TestClient, kernel: Kernel, ada: Principal, server: LanguageModelServer
) -> None:
    keep(kernel, ada, boat(), index=False)
    offer = get(signed_in, "/api/v1/summaries")["offer"]
    send(signed_in, "/api/v1/summaries/accept", until=offer["until"])
    assert send(signed_in, "/api/v1/summaries/pause")[1]["is_paused"] is True
    run_pending(kernel, names=[making.SUMMARISE])
    assert server.calls == 0
    assert send(signed_in, "/api/v1/summaries/resume")[1]["is_paused"] is False
    run_pending(kernel, names=[making.SUMMARISE])
    assert get(signed_in, "/api/v1/summaries")["made"] == 1


def test_a_person_agrees_on_the_page(
    signed_in: TestClient, kernel: Kernel, ada: Principal, server: LanguageModelServer
) -> None:
    keep(kernel, ada, boat(), index=False)
    page = signed_in.get("/settings/usage").text
    assert "1 long conversation can be summarised" in text_of(page)
    assert "Nothing is sent before you agree" in page
    until = re.search(r'name="until" value="([^"]+)"', page)
    assert until
    stale = post_form(signed_in, "/settings/usage/accept", until="2020-01-01T00:00:00+00:00")
    assert stale.status_code == 409
    assert server.calls == 0
    answer = post_form(signed_in, "/settings/usage/accept", until=until[1].replace("&#43;", "+"))
    assert answer.headers["location"] == "/settings/usage?done=accepted"
    run_pending(kernel, names=[making.SUMMARISE])
    after = text_of(signed_in.get("/settings/usage").text)
    assert "Made by gpt-4o-mini 1" in after
    assert "Summaries: reading" in after


def test_a_lower_limit_of_ones_own_holds_and_can_be_lifted(
    signed_in: TestClient, kernel: Kernel, ada: Principal, server: LanguageModelServer
) -> None:
    keep(kernel, ada, boat(), index=False)
    for bad in ({"day": "-1"}, {"day": "much"}, {"day_tokens": "1e3"}, {"month": "nan"}):
        assert post_form(signed_in, "/settings/usage/budget", **bad).status_code == 400
    saved = post_form(signed_in, "/settings/usage/budget", day_tokens="1,000", month="2,50")
    assert saved.status_code == 303
    usage = get(signed_in, "/api/v1/usage")
    assert (usage["day"]["tokens_limit"], usage["month"]["cost_limit"]) == (1_000, 2.5)
    offer = get(signed_in, "/api/v1/summaries")["offer"]
    send(signed_in, "/api/v1/summaries/accept", until=offer["until"])
    run_pending(kernel, names=[making.SUMMARISE])
    assert server.calls == 0
    assert "budget" in get(signed_in, "/api/v1/summaries")["pause_reason"]
    assert "has no room" in text_of(signed_in.get("/settings/usage").text)
    assert post_form(signed_in, "/settings/usage/budget").status_code == 303
    run_pending(kernel, names=[making.SUMMARISE])
    assert get(signed_in, "/api/v1/summaries")["made"] == 1


def test_nobody_sees_or_pays_for_anothers(
    signed_in: TestClient, kernel: Kernel, stranger: Principal
) -> None:
    keep(kernel, stranger, boat(), index=False)
    assert get(signed_in, "/api/v1/summaries")["offer"] is None
    assert get(signed_in, "/api/v1/usage")["by_day"] == []
    assert "can be summarised" not in signed_in.get("/settings/usage").text
