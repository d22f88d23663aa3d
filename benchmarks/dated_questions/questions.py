"""The dated questions: language, text, and the days that are meant."""

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.dated_questions.meanings import ARABIC_INSTEAD, MEANINGS, Meaning
from benchmarks.dated_questions.phrases import ENGLISH, FRAMES, SAID, TOPICS

LANGUAGES = ("en", "de", "fr", "es", "pt", "zh", "ja", "ar")


@dataclass(frozen=True, slots=True)
class DatedQuestion:
    language: str
    kind: str
    topic: str
    text: str
    meaning: Meaning


def dated_questions() -> Iterator[DatedQuestion]:
    """Always the same ones, in the same order."""
    for number, (kind, said) in enumerate(SAID.items()):
        for language, time in zip(LANGUAGES, said, strict=True):
            yield _question(language, kind, time, number)
    for number, (kind, time) in enumerate(ENGLISH.items()):
        yield _question("en", kind, time, number)


def _question(language: str, kind: str, time: str, number: int) -> DatedQuestion:
    frames, topics = FRAMES[language], TOPICS[language]
    topic = topics[number % len(topics)]
    text = frames[number % len(frames)].format(topic=topic, time=time)
    meaning = ARABIC_INSTEAD.get(kind, MEANINGS[kind]) if language == "ar" else MEANINGS[kind]
    return DatedQuestion(language, kind, topic, text[:1].upper() + text[1:], meaning)
