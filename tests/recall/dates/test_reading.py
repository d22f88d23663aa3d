"""Dates in eight languages, asked on Wednesday, 15 May 2024; what they mean was counted by hand."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.dated_questions.meanings import ASKED
from benchmarks.dated_questions.questions import LANGUAGES, DatedQuestion, dated_questions
from recall.dates.reading import find_days
from recall.query import understand

QUESTIONS = list(dated_questions())


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda each: f"{each.language}-{each.kind}")
def test_a_time_is_read_as_it_is_meant(question: DatedQuestion) -> None:
    found = find_days(question.text, ASKED)
    assert found is not None
    days, _ = found
    assert question.meaning.fits(days.first, days.last), (question.text, days)


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_was_said_at_a_time_is_looked_for_in_that_time_alone(language: str) -> None:
    asked_at = datetime(2024, 5, 15, 12, tzinfo=UTC)
    for question in QUESTIONS:
        if question.language == language:
            understood = understand(question.text, asked_at=asked_at)
            assert understood.is_time_strict, question.text
            assert understood.time.phrase not in understood.dense


@pytest.mark.parametrize(
    "text",
    [
        "Wo war Ada im Mai?",
        "Où est allée Ada en mai ?",
        "¿Dónde estuvo Ada en mayo?",
        "去年艾达去了哪里?",
    ],
)
def test_a_time_of_an_event_is_only_preferred(text: str) -> None:
    understood = understand(text, asked_at=datetime(2024, 5, 15, 12, tzinfo=UTC))
    assert understood.time.after is not None
    assert not understood.is_time_strict


@pytest.mark.parametrize(
    "text",
    [
        "Was haben wir über den Märzhasen besprochen?",
        "De quoi avons-nous parlé à propos du marchand ?",
        "¿Qué dijimos sobre el martillo y los diez clavos?",
        "我们聊过月饼的什么?",
        "天然酵母について何を話しましたか?",
        "ماذا ناقشنا عن الدفيئة؟",
    ],
)
def test_a_question_without_a_time_has_none(text: str) -> None:
    assert find_days(text, ASKED) is None


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("Was haben wir diese Woche besprochen?", "2024-05-13", "2024-05-19"),
        ("¿Qué dijimos hace cinco días?", "2024-05-10", "2024-05-10"),
        ("O que dissemos desde a semana passada?", "2024-05-06", None),
        ("De quoi avons-nous parlé jusqu'à hier ?", None, "2024-05-14"),
        ("我们最近两周聊过什么?", "2024-05-01", "2024-05-15"),
        ("昨日まで何を話しましたか?", None, "2024-05-14"),
        ("ماذا ناقشنا في آخر أسبوعين؟", "2024-05-01", "2024-05-15"),
    ],
)
def test_other_ways_to_say_it(text: str, first: str | None, last: str | None) -> None:
    found = find_days(text, ASKED)
    assert found is not None
    ends = (found[0].first, found[0].last)
    assert tuple(each and each.isoformat() for each in ends) == (first, last)


@given(
    words=st.lists(
        st.sampled_from(
            [
                "vor",
                "nach",
                "seit",
                "drei",
                "Wochen",
                "Monaten",
                "31.",
                "Februar",
                "2023",
                "letzten",
                "Mai",
                "il",
                "y",
                "a",
                "deux",
                "ans",
                "en",
                "mars",
                "dernier",
                "hace",
                "meses",
                "99",
                "año",
                "pasado",
                "上",
                "个",
                "月",
                "前",
                "年",
                "13月",
                "32日",
                "先週",
                "の",
                "قبل",
                "أسبوعين",
                "مارس",
                "0",
            ]
        ),
        max_size=8,
    ),
    day=st.dates(date(1990, 1, 1), date(2090, 1, 1)),
)
def test_no_words_in_any_order_make_it_fail(words: list[str], day: date) -> None:
    for text in (" ".join(words), "".join(words), "was haben wir " + " ".join(words)):
        found = find_days(text, day)
        if found is not None and found[0].first and found[0].last:
            assert found[1] in text
