"""Transcripts in pages that every client takes, for whatever tool or resource shows one.

The contract has no parameter for a page, so the id of a page is the conversation's and more:
`<conversationId>:page=2`.
"""

import re

from backread.domain import Principal
from backread.errors import InvalidInput
from backread.kernel import Kernel
from backread.tokens import characters_within, estimate_tokens
from recall.transcripts import Transcript, TranscriptMessage, full_conversation

# Clients refuse a result over 25,000 tokens; estimates and each message's heading need room.
_PAGE_TOKENS = 14_000
_HEADING_TOKENS = 60
_PAGE_ID = re.compile(r"(?P<id>[^:]+)(?::page=(?P<page>[0-9]{1,6}))?")


def transcript_page(kernel: Kernel, principal: Principal, page_id: str) -> Transcript:
    """The whole conversation, or the named page of a long one. Raises InvalidInput for what is no
    id, and as `full_conversation` does."""
    match = _PAGE_ID.fullmatch(page_id.strip())
    if match is None:
        raise InvalidInput(
            "That is not a conversationId.", hint="Take one from recall_chat_history's sources."
        )
    conversation_id, page = match["id"], int(match["page"] or 1)
    whole = full_conversation(kernel, principal, conversation_id, page_tokens=_PAGE_TOKENS)
    budget = _page_tokens(whole)
    if page != 1 or whole.pages > 1 or sum(each.tokens for each in whole.messages) > budget:
        whole = full_conversation(kernel, principal, conversation_id, page=page, page_tokens=budget)
    messages = [_cut(message, whole.reader_url) for message in whole.messages]
    return whole.model_copy(update={"messages": messages})


def next_page_id(transcript: Transcript) -> str:
    """Empty on the last page."""
    if transcript.page >= transcript.pages:
        return ""
    return f"{transcript.conversation_id}:page={transcript.page + 1}"


def _page_tokens(transcript: Transcript) -> int:
    """How much of a page is left for text once every message has its heading. Follows from the
    conversation alone, so that all its pages are cut alike."""
    text = max(1, transcript.token_count)
    headings = _HEADING_TOKENS * transcript.message_count
    return max(1_000, _PAGE_TOKENS * text // (text + headings))


def _cut(message: TranscriptMessage, reader_url: str) -> TranscriptMessage:
    """A message that fills more than a page by itself ends where the page does; then its
    artifacts get what is left."""
    if message.tokens <= _PAGE_TOKENS:
        return message
    text, room = _cut_text(message.text, _PAGE_TOKENS, f"message is at {reader_url}")
    artifacts = []
    for artifact in message.artifacts:
        kept, room = _cut_text(artifact.text, room, f"artifact is at {reader_url}")
        artifacts.append(artifact.model_copy(update={"text": kept}))
    return message.model_copy(update={"text": text, "artifacts": artifacts})


def _cut_text(text: str, room: int, where: str) -> tuple[str, int]:
    """As much of the text as fits, and the tokens that are left after it."""
    kept = characters_within(text, room)
    if kept == len(text):
        return text, room - estimate_tokens(text)
    note = f"… [{len(text) - kept} more characters; the whole {where}]"
    return f"{text[:kept]}{note}", 0
