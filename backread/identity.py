"""Ids and content hashes: what makes a second import of the same chat add nothing.

Public ids are 26 characters of Crockford base 32, 48 bits of time and 80 further bits, like
ULIDs (https://github.com/ulid/spec): opaque, and sorted by the time of what they name.
"""

import hashlib
import json
import os
import threading
import time
import unicodedata
from datetime import datetime

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]  # of 10 bits each


_TAIL_SHIFTS = range(70, -1, -10)


def _encode(milliseconds: int, tail: bytes) -> str:
    number = (max(0, milliseconds) & (1 << 48) - 1) << 80 | int.from_bytes(tail[:10], "big")
    return "".join(_ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))


class _Sequence:
    """Ids that one process makes, each above the one before it: the spec's monotonic form.

    Within a millisecond the tail grows by a random step rather than by one, so the next id
    cannot be guessed from this one.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._milliseconds = 0
        self._tail = 0

    def next(self) -> str:
        now = time.time_ns() // 1_000_000
        with self._lock:
            if now > self._milliseconds:
                self._milliseconds, self._tail = now, _random_below(79)
            else:
                self._tail += 1 + _random_below(60)
                if self._tail >= 1 << 80:
                    self._milliseconds, self._tail = self._milliseconds + 1, _random_below(79)
            return _encode(self._milliseconds, self._tail.to_bytes(10, "big"))


def _random_below(bits: int) -> int:
    return int.from_bytes(os.urandom(10), "big") >> 80 - bits


_sequence = _Sequence()


def new_id() -> str:
    """A fresh id for something made now: account, memory, import, job.

    Ids made one after another in one process sort in that order.
    """
    return _sequence.next()


def conversation_id(
    account_id: str, platform: str, external_id: str, created_at: datetime | None
) -> str:
    """Id for a conversation seen for the first time.

    Deterministic, so two processes that meet the same chat agree. It is stored with the
    capture and never computed again for that chat, so a later fix of dates cannot change it.
    """
    tail = _digest(account_id, platform, external_id)
    return _encode(int(created_at.timestamp() * 1000) if created_at else 0, tail)


def message_id(conversation: str, external_id: str) -> str:
    """Id of a message inside a conversation: the same on every parse.

    Shares the conversation's time prefix, so the messages of one chat lie together on disk.
    """
    tail = int.from_bytes(_digest(conversation, external_id)[:10], "big")
    return conversation[:10] + "".join([_PAIRS[tail >> shift & 1023] for shift in _TAIL_SHIFTS])


def derived_id(account_id: str, other: str) -> str:
    """An id of this account's for what bears `other` elsewhere; the same each time, and sorted
    as that one is."""
    return other[:10].ljust(10, "0") + _encode(0, _digest(account_id, other))[10:]


def _digest(*parts: str) -> bytes:
    joined = "\x00".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(joined, digest_size=10).digest()


def content_hash(body: bytes) -> str:
    """SHA-256 of a raw capture, in hex: captures are addressed by it."""
    return hashlib.sha256(body).hexdigest()


def statement_hash(text: str) -> str:
    """SHA-256 of a statement's text without regard to case, width and spacing, in hex: two
    memories with the same hash say the same."""
    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return hashlib.sha256(folded.encode("utf-8", "surrogatepass")).hexdigest()


def value_hash(value: object) -> str:
    """SHA-256 of a JSON scalar with its kind, in hex: `1` and `1.0` are the same number, and
    neither is `true` nor the text "1"."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    written = json.dumps(value, ensure_ascii=False)
    return hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()
