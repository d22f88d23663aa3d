"""A conversation as a model is shown it: numbered messages, in stretches of one size.

Stretches are cut from the beginning, so those of a conversation that only grows stay the same and
need not be sent again. Memory stays at one page of messages and one stretch.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from backread.kernel import Kernel
from backread.llm.language.prompt import PIECE_OVERHEAD_TOKENS, Data
from backread.store.models import Message
from backread.store.repositories.messages import shown_line
from backread.text.cleaning import without_hidden
from backread.text.language import Language, language_of
from backread.tokens import estimate_tokens
from recall.rendering import day

_PAGE = 400
_LANGUAGE_SAMPLE = 12_000
_LABEL_TOKENS = 12


@dataclass(frozen=True, slots=True)
class Piece:
    """A message, or a part of a long one. `number` counts the conversation's messages from 1."""

    number: int
    message_id: str
    role: str
    said_at: datetime | None
    text: str

    @property
    def day(self) -> str:
        return day(self.said_at)

    @property
    def data(self) -> Data:
        return Data(self.text, f"message {self.number}, {self.role}, {self.day}")

    @property
    def tokens(self) -> int:
        return estimate_tokens(self.text) + PIECE_OVERHEAD_TOKENS + _LABEL_TOKENS


@dataclass(frozen=True, slots=True)
class Stretch:
    pieces: Sequence[Piece]

    @property
    def digest(self) -> str:
        found = hashlib.sha256()
        for each in self.pieces:
            found.update(f"{each.number}\0{each.message_id}\0{each.day}\0{each.text}\0".encode())
        return found.hexdigest()


@dataclass(frozen=True, slots=True)
class Overview:
    """What a first pass over the conversation tells."""

    input_hash: str
    language: Language
    messages: int


def overview_of(kernel: Kernel, account_id: str, conversation_id: str) -> Overview:
    """Its shown dialogue's hash and language."""
    hasher, sample, count = hashlib.sha256(), "", 0
    for message in _messages(kernel, account_id, conversation_id):
        hash_message(hasher, message.id, message.text)
        count += 1
        if len(sample) < _LANGUAGE_SAMPLE:
            sample += message.text[:2_000] + "\n"
    return Overview(hasher.hexdigest(), language_of(sample), count)


def hash_of(messages: Sequence[tuple[str, str]]) -> str:
    """The same hash, from (id, text) of the shown dialogue."""
    hasher = hashlib.sha256()
    for message_id, text in messages:
        hash_message(hasher, message_id, text)
    return hasher.hexdigest()


def hash_message(hasher: "hashlib._Hash", message_id: str, text: str) -> None:
    hasher.update(f"{message_id}\0{without_hidden(text)}\0".encode("utf-8", "replace"))


def stretches(
    kernel: Kernel, account_id: str, conversation_id: str, *, tokens: int
) -> Iterator[Stretch]:
    """Stretches of at most `tokens`, labels included; together they are the whole dialogue."""
    pieces: list[Piece] = []
    left = tokens
    for number, message in enumerate(_messages(kernel, account_id, conversation_id), 1):
        for text in _cut(without_hidden(message.text), tokens):
            piece = Piece(number, message.id, message.role, message.created_at, text)
            if piece.tokens > left and pieces:
                yield Stretch(pieces)
                pieces, left = [], tokens
            pieces.append(piece)
            left -= piece.tokens
    if pieces:
        yield Stretch(pieces)


def _messages(kernel: Kernel, account_id: str, conversation_id: str) -> Iterator[Message]:
    offset = 0
    while True:
        with kernel.store.read() as session:
            page = shown_line(session, account_id, conversation_id, offset=offset, limit=_PAGE)
        yield from page
        if len(page) < _PAGE:
            return
        offset += _PAGE


def _cut(text: str, tokens: int) -> Iterator[str]:
    """Parts that fit with their label, cut at paragraphs, lines, sentences or words if possible."""
    room = max(50, tokens - PIECE_OVERHEAD_TOKENS - _LABEL_TOKENS)
    while estimate_tokens(text) > room:
        end = min(len(text), room * 4)
        while end > 1 and estimate_tokens(text[:end]) > room:
            end = end * 9 // 10
        for border in ("\n\n", "\n", ". ", "。", " "):
            at = text.rfind(border, end // 2, end)
            if at > 0:
                end = at + len(border)
                break
        yield text[:end].strip()
        text = text[end:]
    if text.strip():
        yield text.strip()
