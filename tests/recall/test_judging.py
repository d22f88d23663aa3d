"""What comes first, when words alone do not tell."""

from datetime import UTC, datetime, timedelta

from backread.domain import Principal
from backread.kernel import Kernel
from backread.store.repositories.retrieval import FoundPassage
from recall.fusion import Fusion, Ranked
from recall.history import RecallRequest, recall_chat_history
from recall.judging import judged
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


def test_where_no_word_is_found_what_is_near_comes_before_what_is_long() -> None:
    near, long = ("near", 0), ("long", 0)
    passages = {
        near: _passage("near", "Our cocoa shells hold lead."),
        long: _passage("long", "A parcel with 12 kilos of flour came by the post van. " * 20),
    }
    question = understand("Enthalten Kakaobohnenschalen Blei?", asked_at=NOON)
    ranked = [Ranked(near, 1.0), Ranked(long, 0.8)]
    nothing_found = Fusion(ranked, meaning={near: 1.0, long: 0.4}, conversations={})
    assert [each.place for each in judged(question, nothing_found, passages)] == [near, long]


def _passage(conversation_id: str, text: str) -> FoundPassage:
    return FoundPassage(
        id=len(text),
        conversation_id=conversation_id,
        message_id="m0",
        position=0,
        role="user",
        heading="",
        text=text,
        token_count=len(text) // 4,
        occurred_at=None,
        title="",
        platform="chatgpt",
        url="",
        first_message_at=None,
        last_message_at=None,
    )


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
