"""An invented archive: for each question a chat on its topic in the time it means, and others on
the same topic at other times."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from benchmarks.dated_questions.meanings import ASKED
from benchmarks.dated_questions.phrases import TOPICS
from benchmarks.dated_questions.questions import DatedQuestion
from benchmarks.written_chats import WrittenChat

_SAID = {
    "en": (
        "I need a plan for {topic}, the sheet says {n}.",
        "For {topic} I would take option {n} first.",
    ),
    "de": (
        "Ich brauche einen Plan für {topic}, auf dem Zettel steht {n}.",
        "Für {topic} würde ich zuerst Variante {n} nehmen.",
    ),
    "fr": (
        "Il me faut un plan pour {topic}, la fiche indique {n}.",
        "Pour {topic}, je prendrais d'abord l'option {n}.",
    ),
    "es": (
        "Necesito un plan para {topic}, la hoja dice {n}.",
        "Para {topic} tomaría primero la opción {n}.",
    ),
    "pt": (
        "Preciso de um plano para {topic}, a folha diz {n}.",
        "Para {topic} eu escolheria primeiro a opção {n}.",
    ),
    "zh": ("我需要{topic}的计划,纸上写着{n}。", "关于{topic},我会先选方案{n}。"),
    "ja": ("{topic}の計画が必要です。紙には{n}とあります。", "{topic}なら、まず案{n}を選びます。"),
    "ar": (
        "أحتاج إلى خطة من أجل {topic}، والورقة تقول {n}.",
        "بخصوص {topic} سأختار أولا الخيار {n}.",
    ),
}
_EVERY = timedelta(days=97)
_START = date(2021, 3, 2)


@dataclass(frozen=True, slots=True)
class Chat:
    topic: str
    on: date
    number: int


def chats(language: str, questions: list[DatedQuestion]) -> Iterator[Chat]:
    """One in the middle of each time that is meant, and one a quarter for every topic."""
    number = 100
    for question in questions:
        meaning = question.meaning
        first = meaning.first or _START
        last = meaning.last or ASKED
        yield Chat(question.topic, first + (min(last, ASKED) - first) // 2, number)
        number += 1
    for place, topic in enumerate(TOPICS[language]):
        day = _START + timedelta(days=13 * place)
        while day <= ASKED:
            yield Chat(topic, day, number)
            number += 1
            day += _EVERY


def written(language: str, chat: Chat) -> WrittenChat:
    at = datetime.combine(chat.on, time(12), UTC)
    turns = [text.format(topic=chat.topic, n=chat.number) for text in _SAID[language]]
    return WrittenChat(str(chat.number), chat.topic, turns, at)
