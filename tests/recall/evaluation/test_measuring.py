"""Recall measured on an archive, on every database."""

from datetime import UTC, datetime, timedelta

import pytest

from backread.domain import Principal
from backread.errors import InvalidInput
from backread.kernel import Kernel
from recall.dates.window import zone_named
from recall.evaluation.measuring import evaluate
from recall.evaluation.questions import made_questions, unanswerable_questions
from tests.recall.chats import Chat, keep

THINGS = ["larch", "copper", "slate", "cork", "basalt", "linen", "amber", "birch"]
PLACES = ["Sarn", "Vevey", "Olten", "Bruges", "Torun", "Lund", "Ghent", "Ivrea"]


def _keep(kernel: Kernel, principal: Principal, *more: Chat) -> None:
    start = datetime(2023, 1, 10, 9, tzinfo=UTC)
    chats = [
        Chat(
            f"Order {number}",
            [
                f"The workshop in {place} delivers {thing} boards on crate {number + 40} before "
                "the harvest begins.",
                "Good, I will keep that in mind.",
            ],
            start + timedelta(days=40 * number),
        )
        for number, (place, thing) in enumerate(zip(PLACES, THINGS, strict=True))
    ]
    keep(kernel, principal, *chats, *more)


def test_what_was_said_is_found_again(kernel: Kernel, principal: Principal) -> None:
    _keep(kernel, principal)
    result = evaluate(kernel, principal, questions=8)
    assert result.all.questions == 8
    assert result.all.at10 >= 0.75
    assert result.dated.at1 == 1.0
    assert result.not_found == 1.0
    assert "R@10" in result.text


def test_questions_come_from_own_messages_and_leave_words_out(
    kernel: Kernel, principal: Principal
) -> None:
    _keep(kernel, principal)
    with kernel.store.read() as session:
        made = made_questions(
            session, principal.account_id, count=8, seed=2, zone=zone_named("UTC")
        )
    assert len(made) == 8
    for question in made:
        assert question.source is not None
        assert question.source.role == "user"
        assert question.source.text not in question.text
    assert sum(each.is_dated for each in made) == 4


def test_what_somebody_did_talk_about_is_not_asked_as_if_nobody_had(
    kernel: Kernel, principal: Principal
) -> None:
    said = ["My zither lessons in Olten begin on Monday.", "Enjoy them."]
    _keep(kernel, principal, Chat("Music", said))
    with kernel.store.read() as session:
        absent = unanswerable_questions(session, principal.account_id, count=50, seed=1)
    assert len(absent) > 10
    assert not any("zither" in each.text for each in absent)


def test_an_empty_archive_cannot_be_measured(kernel: Kernel, principal: Principal) -> None:
    with pytest.raises(InvalidInput):
        evaluate(kernel, principal)


def test_questions_that_found_nothing_of_theirs_are_shown_with_their_message(
    kernel: Kernel, principal: Principal
) -> None:
    said = "The workshop in Sarn delivers larch boards on crate forty before the harvest begins."
    keep(kernel, principal, *(Chat(f"Order {n}", [said, "Good."]) for n in range(30)))
    result = evaluate(kernel, principal, questions=20)
    assert result.missed
    assert all(each.reader_url.startswith(kernel.settings.origin) for each in result.missed)
    assert all(each.question in result.text for each in result.missed)
    assert "What did I say about" in result.missed[0].question
