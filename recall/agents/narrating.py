"""What happened in a session, in a few sentences."""

from backread.domain import Principal
from backread.kernel import Kernel
from backread.store.repositories.messages import shown_line
from backread.store.repositories.summaries import find_summary
from backread.tokens import estimate_tokens
from recall.summarising.extractive import pick
from recall.summarising.making import MADE
from recall.transcripts import to_message

_TOKENS = 150
# Of a long session how it began, where the task is, and how it ended, where the outcome is.
_FIRST, _LAST = 30, 50


def summary_in_words(kernel: Kernel, principal: Principal, conversation_id: str) -> str:
    """A language model's summary where there is one; else the sentences that say most."""
    with kernel.store.read() as session:
        stored = find_summary(session, principal.account_id, conversation_id)
        if stored is not None and stored.state == MADE:
            return _within([str(each["text"]) for each in stored.sentences])
        rows = shown_line(session, principal.account_id, conversation_id)
        if len(rows) > _FIRST + _LAST:
            rows = [*rows[:_FIRST], *rows[-_LAST:]]
        messages = [to_message(row) for row in rows]
    return " ".join(each.text for each in pick(messages, _TOKENS))


def _within(sentences: list[str]) -> str:
    kept: list[str] = []
    left = _TOKENS
    for sentence in sentences:
        left -= estimate_tokens(sentence)
        if left < 0 and kept:
            break
        kept.append(sentence)
    return " ".join(kept)
