"""Nothing is spent that nobody agreed to, and what could not be done is done later."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from backread.domain import Principal
from backread.errors import Conflict, InvalidInput
from backread.jobs import run_pending
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.repositories.usage import spent_since
from backread.tokens import estimate_tokens
from recall.summaries import conversation_summary
from recall.summarising import making, planning
from tests.language_model_server import Asked, Fail, LanguageModelServer, Say, Step
from tests.recall.chats import GARDEN, Chat, keep
from tests.recall.summarising.conftest import (
    accept,
    boat,
    imported,
    kernel_of,
    run_summaries,
    stored,
    summarise,
)
from tests.recall.summarising.models import failing_after, sensible

Travel = Callable[[timedelta], None]


def status_of(kernel: Kernel, principal: Principal) -> planning.SummaryStatus:
    status = planning.summary_status(kernel, principal)
    assert status is not None
    return status


def catch_up(kernel: Kernel) -> None:
    """What a server does every hour."""
    making.catch_up(kernel)
    run_pending(kernel, names=[making.SUMMARISE])


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_without_a_model_there_is_nothing_to_plan(settings: Settings, principal: Principal) -> None:
    kernel = Kernel(settings.model_copy(update={"llm_model": ""}))
    (chat,) = keep(kernel, principal, boat(), index=False)
    assert planning.summary_status(kernel, principal) is None
    run_summaries(kernel, principal)
    assert stored(kernel, principal, chat) is None
    with pytest.raises(InvalidInput, match="No language model"):
        planning.pause_summaries(kernel, principal)
    kernel.close()


def test_old_conversations_wait_for_a_person_to_accept_the_estimate(
    kernel: Kernel, principal: Principal, server: LanguageModelServer
) -> None:
    ids = keep(kernel, principal, boat(90), boat(60, "Another"), GARDEN, index=False)
    run_summaries(kernel, principal)
    assert server.calls == 0
    offer = status_of(kernel, principal).offer
    assert offer is not None
    assert offer.conversations == 2  # short ones are handed out whole
    assert offer.cost_micros == offer.tokens_in * 1 + offer.tokens_out * 4
    # Categories and the overview are made of the same conversations, or follow them.
    assert planning.agreed_model(kernel, principal.account_id) is None
    planning.accept_estimate(kernel, principal, offer.until)
    assert planning.agreed_model(kernel, principal.account_id) is kernel.language_model
    run_pending(kernel, names=[making.SUMMARISE])
    assert [stored(kernel, principal, each) is not None for each in ids] == [True, True, False]
    with kernel.store.read() as session:
        spent = spent_since(session, principal.account_id, "2000-01-01")
    assert spent.calls == server.calls
    after = status_of(kernel, principal)
    assert (after.offer, after.accepted, after.made) == (None, None, 2)


def test_an_estimate_is_no_smaller_than_what_is_then_sent(
    kernel: Kernel, principal: Principal, server: LanguageModelServer
) -> None:
    keep(kernel, principal, boat(600), index=False)
    offer = status_of(kernel, principal).offer
    assert offer is not None
    accept(kernel, principal)
    sent = sum(estimate_tokens(m["content"]) for each in server.asked for m in each["messages"])
    assert 0.5 * offer.tokens_in < sent <= offer.tokens_in


def test_only_the_offer_that_was_shown_can_be_accepted(
    kernel: Kernel, principal: Principal, stranger: Principal, server: LanguageModelServer
) -> None:
    keep(kernel, principal, boat(), index=False)
    run_summaries(kernel, principal)
    offer = status_of(kernel, principal).offer
    assert offer is not None
    with pytest.raises(Conflict):
        planning.accept_estimate(kernel, principal, offer.until + timedelta(days=400))
    with pytest.raises(Conflict):
        planning.accept_estimate(kernel, principal, offer.until - timedelta(seconds=1))
    with pytest.raises(InvalidInput, match="No conversation"):
        planning.accept_estimate(kernel, stranger, offer.until)
    assert server.calls == 0


def test_what_comes_afterwards_is_summarised_without_asking(
    kernel: Kernel, principal: Principal, server: LanguageModelServer
) -> None:
    run_summaries(kernel, principal)
    (chat,) = keep(kernel, principal, boat(), index=False)
    run_summaries(kernel, principal)
    row = stored(kernel, principal, chat)
    assert row is not None
    assert row.state == "made"


def test_much_at_once_is_an_offer_again(
    kernel: Kernel,
    principal: Principal,
    server: LanguageModelServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(planning, "MOST_UNASKED_CONVERSATIONS", 2)
    run_summaries(kernel, principal)
    keep(kernel, principal, *(boat(60, f"Boat {n}") for n in range(3)), index=False)
    run_summaries(kernel, principal)
    assert server.calls == 0
    offer = status_of(kernel, principal).offer
    assert offer is not None
    assert offer.conversations == 3


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_huge_conversation_that_grows_is_no_new_offer(
    kernel: Kernel,
    principal: Principal,
    server: LanguageModelServer,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(planning, "MOST_UNASKED_TOKENS", 5_000)
    imported(kernel, principal, tmp_path, boat(100))
    accept(kernel, principal)
    calls = server.calls
    imported(kernel, principal, tmp_path, boat(101))
    run_pending(kernel, names=[making.SUMMARISE])
    assert server.calls > calls
    assert status_of(kernel, principal).offer is None


def test_another_model_asks_again_and_what_was_made_stays(
    kernel: Kernel, principal: Principal, server: LanguageModelServer, settings: Settings
) -> None:
    (chat,) = summarise(kernel, principal, boat())
    calls = server.calls
    other = kernel_of(settings.model_copy(update={"llm_model": "dearer-model"}))
    run_summaries(other, principal)
    assert server.calls == calls
    offer = status_of(other, principal).offer
    assert offer is not None
    assert offer.conversations == 1
    assert conversation_summary(other, principal, chat).made_by == "test-model"
    accept(other, principal)
    assert conversation_summary(other, principal, chat).made_by == "dearer-model"
    other.close()


def test_a_pause_holds_back_what_was_accepted_and_not_what_comes(
    kernel: Kernel, principal: Principal, server: LanguageModelServer
) -> None:
    keep(kernel, principal, boat(), index=False)
    offer = status_of(kernel, principal).offer
    assert offer is not None
    planning.accept_estimate(kernel, principal, offer.until)
    planning.pause_summaries(kernel, principal)
    run_pending(kernel, names=[making.SUMMARISE])
    assert server.calls == 0
    paused = status_of(kernel, principal)
    assert paused.is_paused
    assert paused.accepted is not None
    (new,) = keep(kernel, principal, boat(60, "New"), index=False)
    run_summaries(kernel, principal)
    assert stored(kernel, principal, new) is not None
    planning.resume_summaries(kernel, principal)
    run_pending(kernel, names=[making.SUMMARISE])
    assert status_of(kernel, principal).made == 2


def test_a_model_that_is_down_is_asked_again_later(
    kernel: Kernel, principal: Principal, server: LanguageModelServer, travel: Travel
) -> None:
    server.answer = lambda asked: Fail(503)
    first, second = summarise(kernel, principal, boat(), boat(60, "Another"))
    calls = server.calls
    held = status_of(kernel, principal)
    assert "503" in held.pause_reason
    catch_up(kernel)
    assert server.calls == calls  # not before its time
    server.answer = sensible
    travel(timedelta(minutes=6))
    catch_up(kernel)
    assert status_of(kernel, principal).made == 2
    for each in (first, second):
        assert conversation_summary(kernel, principal, each).made_by == "test-model"


def test_the_day_after_a_budget_ran_out_the_rest_is_made(
    settings: Settings, principal: Principal, server: LanguageModelServer, travel: Travel
) -> None:
    kernel = kernel_of(settings.model_copy(update={"llm_budget_day_tokens": 20_000}))
    summarise(kernel, principal, boat(100), boat(101, "Second"), boat(102, "Third"))
    held = status_of(kernel, principal)
    assert 0 < held.made < 3
    assert held.waiting == 1
    assert "budget for this day" in held.pause_reason
    calls = server.calls
    catch_up(kernel)
    assert server.calls == calls
    for _ in range(3):
        travel(timedelta(days=1))
        catch_up(kernel)
    assert status_of(kernel, principal).made == 3
    kernel.close()


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_wrong_setting_is_tried_ever_more_rarely(
    kernel: Kernel, principal: Principal, server: LanguageModelServer, travel: Travel
) -> None:
    server.answer = failing_after(0, Fail(404))
    summarise(kernel, principal, boat(), boat(60, "Another"))
    assert status_of(kernel, principal).made == 0
    for _ in range(9):
        travel(timedelta(minutes=30))
        catch_up(kernel)
    assert server.calls < 8


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_conversation_that_the_model_cannot_do_does_not_hold_up_the_others(
    kernel: Kernel, principal: Principal, server: LanguageModelServer, travel: Travel
) -> None:
    def refusing(asked: Asked) -> Step:
        is_odd = "sailor" in asked["messages"][1]["content"]
        return Say("", refusal="No.") if is_odd else sensible(asked)

    server.answer = refusing
    sailors = Chat("Odd", [f"The sailor sings song {n} on deck {n}. " * 20 for n in range(60)])
    odd, plain = summarise(kernel, principal, sailors, boat())
    assert conversation_summary(kernel, principal, plain).made_by == "test-model"
    row = stored(kernel, principal, odd)
    assert row is not None
    assert (row.state, row.why, row.failures) == ("waiting", "bad_output", 1)
    for _ in range(5):
        travel(timedelta(days=20))
        catch_up(kernel)
    row = stored(kernel, principal, odd)
    assert row is not None
    assert (row.failures, row.try_after) == (5, None)  # given up until it changes
