"""What comes first, when words alone do not tell."""

from datetime import UTC, datetime, timedelta

from backread.domain import Principal
from backread.kernel import Kernel
from recall.history import RecallRequest, recall_chat_history
from recall.query import understand
from recall.retrieval import retrieve
from tests.recall.chats import GARDEN, NOON, TRAVEL, Chat, keep

ROOF = [
    "Which slate should we take for the roof of the barn?",
    "Take Welsh slate of 6 mm, it outlasts the barn and costs 48 francs a metre.",
    "And who lays it?",
    "Ask the people in Sarn, they did the chapel.",
]


def _texts(kernel: Kernel, principal: Principal, text: str, **options: object) -> list[str]:
    question = understand(text, asked_at=NOON + timedelta(days=400))
    found = retrieve(kernel, principal, [question], limit=10, **options)[0]  # type: ignore[arg-type]
    return [each.text for each in found.passages]


def test_a_question_brings_the_reply_before_the_same_question(
    kernel: Kernel, principal: Principal
) -> None:
    keep(kernel, principal, Chat("Barn", ROOF), GARDEN, TRAVEL)
    assert _texts(kernel, principal, "Which slate should we take for the roof of the barn?")[
        0
    ].startswith("Take Welsh slate")


def test_words_alone_bring_what_holds_them(kernel: Kernel, principal: Principal) -> None:
    keep(kernel, principal, Chat("Barn", ROOF), GARDEN, TRAVEL)
    assert "slate" in _texts(kernel, principal, "slate roof barn")[0]


def test_a_word_that_two_languages_share_by_chance_does_not_outweigh_what_is_near(
    kernel: Kernel, principal: Principal
) -> None:
    there = "The gift came on Monday by the old post van from the harbour, wrapped in brown paper."
    present = Chat("Parcel", [there, "How nice of her."])
    shells = Chat("Cocoa", ["Our kakaobohnenschale: geröstetes, womögliches.", "Noted."])
    keep(kernel, principal, present, shells, GARDEN, TRAVEL)
    first = _texts(kernel, principal, "Enthielten geröstete Kakaobohnenschalen womöglich Gift?")[0]
    assert "kakaobohnenschale" in first


def test_a_conversation_can_be_left_out(kernel: Kernel, principal: Principal) -> None:
    barn, _ = keep(kernel, principal, Chat("Barn", ROOF), GARDEN)
    texts = _texts(kernel, principal, "Which slate for the roof?", leave_out=[[barn]])
    assert texts
    assert not any("slate" in text for text in texts)


def test_of_equal_answers_the_recent_one_is_first_where_the_question_asks_for_it(
    kernel: Kernel, principal: Principal
) -> None:
    said = ["We keep the spare key of the boathouse under the {} pot.", "Noted."]
    keep(
        kernel,
        principal,
        *(
            Chat(f"Boathouse {color}", [each.format(color) for each in said], at)
            for color, at in (
                ("blue", datetime(2024, 3, 1, tzinfo=UTC)),
                ("green", datetime(2025, 4, 1, tzinfo=UTC)),
                ("white", datetime(2024, 9, 1, tzinfo=UTC)),
            )
        ),
    )
    first = _texts(kernel, principal, "Where is the spare key of the boathouse currently?")[0]
    assert "green" in first


def test_a_question_of_the_past_is_answered_as_of_then(
    kernel: Kernel, principal: Principal
) -> None:
    keep(kernel, principal, GARDEN, TRAVEL)
    early = datetime(2024, 4, 1, tzinfo=UTC)
    train = "Which night train takes bicycles to Vienna?"
    answers = [
        recall_chat_history(kernel, principal, RecallRequest(query=train, asked_at=at)).answers[0]
        for at in (early, datetime(2024, 12, 1, tzinfo=UTC))
    ]
    assert [each.found for each in answers] == [False, True]
    assert answers[0].conversations_searched == 1
