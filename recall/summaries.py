"""What one conversation was about.

Short ones are their own best summary. Of longer ones a language model's summary is handed out
where one was made and still holds; else the sentences are picked that say most. Every sentence
names the messages that say it.
"""

from datetime import datetime

from pydantic import Field

from backread.domain import Principal
from backread.kernel import Kernel
from backread.store.models import StoredSummary
from backread.store.repositories.messages import get_conversation
from backread.store.repositories.summaries import find_summary
from backread.tokens import estimate_tokens
from recall.links import reader_link
from recall.rendering import NOTICE, clean, day, envelope
from recall.summarising.extractive import pick
from recall.summarising.hierarchy import SUMMARY_TOKENS
from recall.summarising.making import EXTRACTIVE, MADE
from recall.summarising.material import hash_of
from recall.summarising.planning import WHOLE_BELOW_TOKENS
from recall.transcripts import (
    ConversationHead,
    TranscriptMessage,
    head_fields,
    message_block,
    shown_messages,
)
from recall.wire import ResultModel

__all__ = [
    "SUMMARY_TOKENS",
    "WHOLE_BELOW_TOKENS",
    "ConversationSummary",
    "SummaryStatement",
    "conversation_summary",
]

_MOST_NAMED = 40  # artifacts whose texts are too long to stand here
_LEFT_OUT = (
    "The artifacts of this conversation are too long to stand here. get_full_conversation has them."
)


class SummaryStatement(ResultModel):
    """A sentence of the summary. `messageId` is the first of the messages that say it."""

    text: str
    message_id: str
    message_ids: list[str] = Field(description="All messages that it rests on.")
    role: str
    date: datetime | None
    reader_url: str


class ConversationSummary(ConversationHead):
    """`isTranscript`: the conversation is short and stands here whole, in `messages`; otherwise
    `statements` hold its summary. `artifactsLeftOut`: of a transcript, that artifacts stand by
    name at most, because their texts are too long. `madeBy`: `extractive` when the statements are
    the conversation's own sentences, else the language model that wrote them."""

    is_transcript: bool
    artifacts_left_out: bool = False
    made_by: str = EXTRACTIVE
    statements: list[SummaryStatement] = Field(default_factory=list)
    messages: list[TranscriptMessage] = Field(default_factory=list)
    notice: str = NOTICE

    @property
    def text(self) -> str:
        """For a model: the transcript or the summary, marked as data."""
        if self.is_transcript:
            parts = [self.heading, *(message_block(each) for each in self.messages)]
            return envelope(parts, before=_LEFT_OUT if self.artifacts_left_out else "")
        if self.made_by == EXTRACTIVE:
            lead = "Summary in the conversation's own sentences."
            lines = [f"- {day(each.date)}, {each.role}: {_cited(each)}" for each in self.statements]
        else:
            lead = "Summary by a language model; each sentence was checked against what it cites."
            lines = [f"- {day(each.date)}: {_cited(each)}" for each in self.statements]
        lead += " get_full_conversation has every word."
        return envelope([self.heading, "\n".join(lines)], before=lead)


def _cited(statement: SummaryStatement) -> str:
    noun = "message" if len(statement.message_ids) == 1 else "messages"
    return f"{statement.text} [{noun} {', '.join(statement.message_ids)}]"


def conversation_summary(
    kernel: Kernel, principal: Principal, conversation_id: str
) -> ConversationSummary:
    """The whole dialogue under 5,000 tokens, else a cited summary of at most 800. Artifacts of a
    whole dialogue stand in it as far as both together stay under 5,000, else by name.

    Raises NotFound for an unknown or foreign id.
    """
    with kernel.store.read() as session:
        conversation = get_conversation(session, principal.account_id, conversation_id)
        messages = shown_messages(session, principal.account_id, conversation_id)
        stored = find_summary(session, principal.account_id, conversation_id)
    fields = head_fields(conversation, kernel.settings.origin)
    if sum(estimate_tokens(each.text) for each in messages) < WHOLE_BELOW_TOKENS:
        left_out = sum(each.tokens for each in messages) >= WHOLE_BELOW_TOKENS
        return ConversationSummary(
            **fields,
            is_transcript=True,
            artifacts_left_out=left_out,
            messages=_by_name(messages) if left_out else messages,
        )
    if stored is not None and _holds(stored, messages):
        cited = [(str(each["text"]), list(each["messageIds"])) for each in stored.sentences]
        made_by = stored.made_by
    else:
        picked = pick(messages, SUMMARY_TOKENS, embed=kernel.embedder.embed_passages)
        cited = [(each.text, [each.message.message_id]) for each in picked]
        made_by = EXTRACTIVE
    by_id = {each.message_id: each for each in messages}
    origin = kernel.settings.origin
    statements = [
        SummaryStatement(
            text=clean(text),
            message_id=ids[0],
            message_ids=ids,
            role=by_id[ids[0]].role,
            date=by_id[ids[0]].created_at,
            reader_url=reader_link(origin, conversation_id, ids[0]),
        )
        for text, ids in cited
    ]
    return ConversationSummary(
        **fields, is_transcript=False, made_by=made_by, statements=statements
    )


def _by_name(messages: list[TranscriptMessage]) -> list[TranscriptMessage]:
    """The messages with the last artifacts by name, without their texts."""
    room, named = _MOST_NAMED, []
    for message in reversed(messages):
        kept = message.artifacts[max(0, len(message.artifacts) - room) :]
        room -= len(kept)
        bare = [each.model_copy(update={"text": ""}) for each in kept]
        named.append(message.model_copy(update={"artifacts": bare}))
    return named[::-1]


def _holds(stored: StoredSummary, messages: list[TranscriptMessage]) -> bool:
    """Whether a model made it, of just these messages."""
    return stored.state == MADE and stored.input_hash == hash_of(
        [(each.message_id, each.text) for each in messages]
    )
