"""What one conversation was about.

Short ones are their own best summary. Of longer ones the sentences are picked that say most:
near to what the whole conversation keeps coming back to, unlike those already picked, and rather
those that decide, date or conclude something. Every sentence is quoted and carries its message.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import Field

from backread.domain import Principal, Role
from backread.kernel import Kernel
from backread.store.repositories.messages import get_conversation, shown_line
from backread.tokens import estimate_tokens
from recall.links import reader_link
from recall.rendering import NOTICE, clean, day, envelope
from recall.sentences import sentences, stems
from recall.transcripts import (
    ConversationHead,
    TranscriptMessage,
    head_fields,
    message_block,
    to_message,
)
from recall.wire import ResultModel

WHOLE_BELOW_TOKENS = 5000
SUMMARY_TOKENS = 800

_MIN_STEMS, _MAX_STEMS = 4, 60
_NOVELTY = 0.5  # how much likeness to what is already picked counts against a sentence
_POOL = 400
_DECIDES, _DATES = 0.15, 0.08  # on top of a centrality of 0 to 1
_WEIGHTY = re.compile(
    r"\b(?:decid|decision|agree|conclu|going with|go with|settled|chose|choose|chosen|plan|will|"
    r"must|deadline|because|final|result|recommend|summary|solution|fix|cause|important|key)\w*",
    re.IGNORECASE,
)
_DATED = re.compile(
    r"\b(?:19|20)\d\d\b|\b\d{1,2}[./]\d{1,2}\b|\b(?:january|february|march|april|june|july|august|"
    r"september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b",
    re.IGNORECASE,
)


class SummaryStatement(ResultModel):
    """A sentence of the conversation and the message that says it."""

    text: str
    message_id: str
    role: str
    date: datetime | None
    reader_url: str


class ConversationSummary(ConversationHead):
    """`isTranscript`: the conversation is short and stands here whole, in `messages`; otherwise
    `statements` hold what was picked from it."""

    is_transcript: bool
    statements: list[SummaryStatement] = Field(default_factory=list)
    messages: list[TranscriptMessage] = Field(default_factory=list)
    notice: str = NOTICE

    @property
    def text(self) -> str:
        """For a model: the transcript or the summary, marked as data."""
        if self.is_transcript:
            return envelope([self.heading, *(message_block(each) for each in self.messages)])
        lines = [
            f"- {day(each.date)}, {each.role}: {each.text} [message {each.message_id}]"
            for each in self.statements
        ]
        lead = "Summary in the conversation's own sentences. get_full_conversation has every word."
        return envelope([self.heading, "\n".join(lines)], before=lead)


def conversation_summary(
    kernel: Kernel, principal: Principal, conversation_id: str
) -> ConversationSummary:
    """The whole dialogue under 5,000 tokens, else a cited summary of at most 800.

    Raises NotFound for an unknown or foreign id.
    """
    with kernel.store.read() as session:
        conversation = get_conversation(session, principal.account_id, conversation_id)
        messages = [
            to_message(each) for each in shown_line(session, principal.account_id, conversation_id)
        ]
    fields = head_fields(conversation, kernel.settings.origin)
    if sum(estimate_tokens(each.text) for each in messages) < WHOLE_BELOW_TOKENS:
        return ConversationSummary(**fields, is_transcript=True, messages=messages)
    origin = kernel.settings.origin
    return ConversationSummary(
        **fields,
        is_transcript=False,
        statements=[
            SummaryStatement(
                text=clean(each.text),
                message_id=each.message.message_id,
                role=each.message.role,
                date=each.message.created_at,
                reader_url=reader_link(origin, conversation_id, each.message.message_id),
            )
            for each in pick(messages, SUMMARY_TOKENS)
        ],
    )


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    message: TranscriptMessage
    order: int
    weights: dict[str, float]
    value: float = 0.0


def pick(messages: Sequence[TranscriptMessage], max_tokens: int) -> list[_Sentence]:
    """The sentences that say most, in the order they were said, inside the budget."""
    pool = _pool(messages)
    picked: list[_Sentence] = []
    likeness = [0.0] * len(pool)
    left = max_tokens
    while pool:
        best = max(
            range(len(pool)),
            key=lambda n: (1 - _NOVELTY) * pool[n].value - _NOVELTY * likeness[n],
        )
        chosen = pool.pop(best)
        likeness.pop(best)
        cost = estimate_tokens(chosen.text) + 12
        if cost > left:
            if left < 40:
                break
            continue
        picked.append(chosen)
        left -= cost
        for n, each in enumerate(pool):
            likeness[n] = max(likeness[n], _cosine(each.weights, chosen.weights))
    return sorted(picked, key=lambda each: each.order)


def _pool(messages: Sequence[TranscriptMessage]) -> list[_Sentence]:
    found: list[tuple[str, TranscriptMessage, Counter[str]]] = []
    for message in messages:
        for text in sentences(message.text):
            words = stems(text)
            if _MIN_STEMS <= len(words) <= _MAX_STEMS:
                found.append((text, message, Counter(words)))
    frequency: Counter[str] = Counter()
    for _, _, counted in found:
        frequency.update(counted.keys())
    vectors = [
        _unit({word: n * math.log(1 + len(found) / frequency[word]) for word, n in counted.items()})
        for _, _, counted in found
    ]
    centre: dict[str, float] = {}
    for vector in vectors:
        for word, weight in vector.items():
            centre[word] = centre.get(word, 0.0) + weight
    centre = _unit(centre)
    rated = [
        _Sentence(text, message, order, vector, _value(text, message, _cosine(vector, centre)))
        for order, ((text, message, _), vector) in enumerate(zip(found, vectors, strict=True))
    ]
    return sorted(rated, key=lambda each: -each.value)[:_POOL]


def _value(text: str, message: TranscriptMessage, centrality: float) -> float:
    value = centrality
    if _WEIGHTY.search(text):
        value += _DECIDES
    if _DATED.search(text):
        value += _DATES
    if message.role == Role.USER:
        value *= 1.15
    if text.endswith(("?", "？")):
        value *= 0.9
    return value


def _unit(vector: dict[str, float]) -> dict[str, float]:
    length = math.sqrt(sum(weight * weight for weight in vector.values())) or 1.0
    return {word: weight / length for word, weight in vector.items()}


def _cosine(left: dict[str, float], right: dict[str, float]) -> float:
    if len(left) > len(right):
        left, right = right, left
    return sum(weight * right.get(word, 0.0) for word, weight in left.items())
