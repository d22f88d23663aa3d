"""A summary of a conversation of any length by a language model: stretch by stretch, then notes
of stretches merged until they fit.

Each stretch and each merge is kept under the hash of what it was made from, so nothing that has
not changed is sent twice: not when the conversation grows, not after a job was killed. A stretch
that the model cannot do gets sentences of its own instead.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, Field

from backread.kernel import Kernel
from backread.llm.language.model import (
    LanguageModel,
    LanguageModelFailure,
    LanguageModelUnavailable,
    Why,
)
from backread.llm.language.prompt import Data, Prompt
from backread.store.repositories.summaries import find_part, save_part, texts_of_messages
from backread.text.cleaning import clean
from backread.text.extracting import choose_sentences
from backread.text.language import Language
from backread.tokens import estimate_tokens
from recall.rendering import day
from recall.summarising.extractive import pick
from recall.summarising.material import Piece, Stretch, stretches
from recall.summarising.support import Evidence, check, most_alike

SUMMARY_TOKENS = 800
STRETCH_TOKENS = 6_000
PART_SENTENCES, WHOLE_SENTENCES = 6, 14
NOTE_OVERHEAD_TOKENS = 12
MAKER_VERSION = 1

_PART, _WHOLE = Prompt("summarise_part"), Prompt("summarise_whole")
MAKER = f"{MAKER_VERSION}+{_PART.signature}+{_WHOLE.signature}"

_MOST_CITED = 4
_MOST_CHARACTERS = 600  # of a sentence
_LEAST_ROOM = 300
_MOST_LEVELS = 8


class SaidSentence(BaseModel):
    """One sentence of a summary, and the numbers of the messages that say it."""

    text: str
    messages: list[int]


class SaidSummary(BaseModel):
    sentences: list[SaidSentence] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence that its messages support."""

    text: str
    numbers: tuple[int, ...]

    @property
    def line(self) -> str:
        return f"[{', '.join(map(str, self.numbers))}] {self.text}"

    @property
    def tokens(self) -> int:
        return estimate_tokens(self.text) + NOTE_OVERHEAD_TOKENS


@dataclass(slots=True)
class Outcome:
    """`sentences` with the ids of the messages they cite; `dropped`: sentences of the model that
    nothing supported; `parts`: hashes of everything the summary was made from."""

    sentences: list[tuple[str, list[str]]] = field(default_factory=list)
    dropped: int = 0
    stretches: int = 0
    stood_in: int = 0  # stretches that the model could not do
    parts: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Merge:
    notes: list[Note]
    is_last: bool


class Summariser:
    """One conversation. `report(done)` is called after each request with how many there were; it
    may raise, to end the work."""

    def __init__(
        self,
        kernel: Kernel,
        model: LanguageModel,
        account_id: str,
        conversation_id: str,
        language: Language,
        *,
        report: Callable[[int], None] = lambda done: None,
    ) -> None:
        self._kernel = kernel
        self._model = model
        self._account_id = account_id
        self._conversation_id = conversation_id
        self._language = language
        self._report = report
        self._requests = 0
        self._ids: dict[int, str] = {}
        self._outcome = Outcome()

    def summarise(self) -> Outcome:
        """Raises LanguageModelUnavailable when nothing of what the model said can be kept, and
        whatever ends the work: BudgetSpent, a model that is down. What was done until then is
        kept for the next time."""
        notes = [note for each in self._stretches() for note in self._part(each)]
        if self._outcome.stretches and self._outcome.stood_in == self._outcome.stretches:
            raise LanguageModelUnavailable(
                "The language model could do no part of the conversation.", why=Why.BAD_OUTPUT
            )
        notes = self._merged(_distinct(notes))
        if not notes:
            raise LanguageModelUnavailable(
                "Nothing of what the language model said was supported by the conversation.",
                why=Why.BAD_OUTPUT,
            )
        notes = _within(notes, SUMMARY_TOKENS)
        self._outcome.sentences = [
            (each.text, [self._ids[number] for number in each.numbers]) for each in notes
        ]
        return self._outcome

    def _stretches(self) -> Iterator[Stretch]:
        size = stretch_tokens(self._model)
        if size < _LEAST_ROOM:
            raise LanguageModelUnavailable(
                "The language model takes too few tokens to summarise anything.",
                why=Why.TOO_LARGE,
                hint="Raise BACKREAD_LLM_CONTEXT_TOKENS, or use another model.",
            )
        found = stretches(self._kernel, self._account_id, self._conversation_id, tokens=size)
        for stretch in found:
            self._ids.update({each.number: each.message_id for each in stretch.pieces})
            self._outcome.stretches += 1
            yield stretch

    def _part(self, stretch: Stretch) -> list[Note]:
        prompt = self._prompt(_PART, PART_SENTENCES, [each.data for each in stretch.pieces])
        texts = _evidence(stretch.pieces)

        def ask() -> tuple[list[Note], int]:
            said = self._complete(prompt, part_output_tokens(self._model))
            return self._supported(said, texts, list(texts))

        try:
            return self._kept(f"{_PART.signature}:{stretch.digest}", ask)
        except LanguageModelFailure as failure:
            if not failure.is_about_the_input:
                raise
            self._outcome.stood_in += 1
            picked = pick(
                list(stretch.pieces),
                PART_SENTENCES * 60,
                most=PART_SENTENCES,
                embed=self._kernel.embedder.embed_passages,
            )
            return [Note(clean(each.text), (each.message.number,)) for each in picked]

    def _merged(self, notes: list[Note]) -> list[Note]:
        for _ in range(_MOST_LEVELS):
            if sum(each.tokens for each in notes) <= SUMMARY_TOKENS:
                return notes
            merges = list(self._merges(notes))
            merged = _distinct([note for each in merges for note in self._merge(each)])
            if merges[0].is_last:
                return merged or notes
            # A model that leaves everything in would go round for ever.
            half = sum(each.tokens for each in notes) // 2
            notes = _within(merged, half) or _within(notes, half)
        return notes

    def _merges(self, notes: Sequence[Note]) -> Iterator[_Merge]:
        """Neighbouring notes that fit into one request."""
        size = stretch_tokens(self._model)
        is_last = sum(each.tokens for each in notes) <= size
        batch: list[Note] = []
        left = size
        for note in notes:
            if note.tokens > left and batch:
                yield _Merge(batch, is_last)
                batch, left = [], size
            batch.append(note)
            left -= note.tokens
        if batch:
            yield _Merge(batch, is_last)

    def _merge(self, merge: _Merge) -> list[Note]:
        text = "\n".join(each.line for each in merge.notes)
        prompt = self._prompt(_WHOLE, WHOLE_SENTENCES, [Data(text, "notes")])
        numbers = sorted({number for each in merge.notes for number in each.numbers})

        def ask() -> tuple[list[Note], int]:
            said = self._complete(prompt, whole_output_tokens(self._model))
            return self._supported(said, self._texts(numbers), numbers)

        digest = hashlib.sha256(text.encode()).hexdigest()
        try:
            return self._kept(f"{_WHOLE.signature}:{digest}", ask)
        except LanguageModelFailure as failure:
            if not failure.is_about_the_input:
                raise
            return _within(merge.notes, SUMMARY_TOKENS)

    def _kept(self, key: str, ask: Callable[[], tuple[list[Note], int]]) -> list[Note]:
        """What is kept under the key, else what asking brings, which is then kept."""
        parts = (MAKER, self._model.name, str(stretch_tokens(self._model)), self._language.code)
        digest = hashlib.sha256("\0".join((*parts, key)).encode()).hexdigest()
        self._outcome.parts.append(digest)
        with self._kernel.store.read() as session:
            part = find_part(session, self._account_id, self._conversation_id, digest)
        if part is not None:
            self._outcome.dropped += part.dropped
            return [Note(str(each["text"]), tuple(each["numbers"])) for each in part.sentences]
        notes, dropped = ask()
        self._outcome.dropped += dropped
        kept: list[Any] = [{"text": each.text, "numbers": list(each.numbers)} for each in notes]
        with self._kernel.store.write() as session:
            save_part(session, self._account_id, self._conversation_id, digest, kept, dropped)
        self._requests += 1
        self._report(self._requests)
        return notes

    def _prompt(self, base: Prompt, most: int, data: Sequence[Data]) -> Prompt:
        values: dict[str, str | int] = {
            "sentences": most,
            "language": self._language.name_for_prompt,
        }
        return Prompt(base.purpose, base.version, values, data, self._conversation_id)

    def _complete(self, prompt: Prompt, max_output_tokens: int) -> list[SaidSentence]:
        said = self._model.complete(
            prompt,
            account_id=self._account_id,
            result=SaidSummary,
            max_output_tokens=max_output_tokens,
        )
        return said.sentences

    def _supported(
        self, said: Sequence[SaidSentence], texts: dict[int, Evidence], allowed: Sequence[int]
    ) -> tuple[list[Note], int]:
        """The sentences that hold, and how many did not."""
        notes: list[Note] = []
        for each in said:
            text = " ".join(clean(each.text).split())[:_MOST_CHARACTERS]
            numbers = [n for n in dict.fromkeys(each.messages) if n in texts and n in allowed]
            numbers = numbers[:_MOST_CITED] or _attributed(text, texts)
            if not text or not numbers:
                continue
            verdict = check(
                text,
                [texts[n] for n in numbers],
                language=self._language.code,
                embed=self._kernel.embedder.embed_passages,
            )
            if verdict.is_supported:
                notes.append(Note(text, tuple(numbers[n] for n in verdict.cited)))
        return notes, len(said) - len(notes)

    def _texts(self, numbers: Sequence[int]) -> dict[int, Evidence]:
        ids = {self._ids[number]: number for number in numbers}
        with self._kernel.store.read() as session:
            found = texts_of_messages(session, self._account_id, self._conversation_id, list(ids))
        return {ids[each]: Evidence(text, day(moment)) for each, (text, moment) in found.items()}


def stretch_tokens(model: LanguageModel) -> int:
    """How large a stretch is for this model."""
    values: dict[str, str | int] = {"sentences": WHOLE_SENTENCES, "language": "Portuguese"}
    empty = Prompt(_PART.purpose, _PART.version, values)
    return min(STRETCH_TOKENS, model.room(empty, whole_output_tokens(model)))


def part_output_tokens(model: LanguageModel) -> int:
    return min(900, model.context_tokens // 5)


def whole_output_tokens(model: LanguageModel) -> int:
    return min(1_800, model.context_tokens // 4)


def _evidence(pieces: Sequence[Piece]) -> dict[int, Evidence]:
    """By number; the parts of one message that stand in one stretch together."""
    texts: dict[int, Evidence] = {}
    for each in pieces:
        before = texts[each.number].text + "\n" if each.number in texts else ""
        texts[each.number] = Evidence(before + each.text, each.day)
    return texts


def _attributed(text: str, texts: dict[int, Evidence]) -> list[int]:
    """For a sentence that cites nothing that exists: the message it is most like."""
    numbers = list(texts)
    place = most_alike(text, [texts[n].text for n in numbers])
    return [] if place < 0 else [numbers[place]]


def _distinct(notes: Sequence[Note]) -> list[Note]:
    return list({each.text.casefold(): each for each in reversed(notes)}.values())[::-1]


def _within(notes: Sequence[Note], tokens: int) -> list[Note]:
    if sum(each.tokens for each in notes) <= tokens:
        return list(notes)
    chosen = choose_sentences(
        [each.text for each in notes], budget_tokens=tokens, overhead_tokens=NOTE_OVERHEAD_TOKENS
    )
    return [notes[n] for n in chosen]
