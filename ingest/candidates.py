"""Conversations of an import on their way into the database, and the work on them that needs no
transaction: hash, parse, compress, and make the rows of those that are new."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import zstandard

from backread.domain import ParsedConversation, ParsedMemory
from backread.errors import UnreadableImport
from backread.identity import content_hash, conversation_id, new_id
from backread.log import get_logger
from backread.store.engine import Store
from backread.store.repositories.captures import KnownCaptures, known_captures
from backread.store.repositories.conversations import (
    ConversationRow,
    conversations_by_external_id,
)
from backread.store.repositories.passages import PassageRow
from ingest.importers.base import Importer
from ingest.json_stream import load
from ingest.merge import Merged, first_copy
from ingest.passages import passages_of

CODEC = "zstd"
_COMPRESSION_LEVEL = 3
# What reading foreign structures can raise when a shape was misjudged. It costs that one
# conversation, and the log tells where.
MISREAD = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)
MISREAD_IN_WORDS = "Its structure is not one that is known; it was left out."

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class FirstCopy:
    """The rows of a conversation that was not stored yet when they were made."""

    merged: Merged
    passages: list[PassageRow]


@dataclass(slots=True)
class Candidate:
    """One conversation of an import, before it is known what becomes of it.

    Its raw bytes are in `body` or, once compressed, in `packed`. After `prepare` it has `first`
    when it is new, `parsed` when a stored conversation has to be compared with it, a `problem`
    in words when it cannot be read, and none of them when its very bytes are stored already.
    """

    importer: Importer
    platform: str  # whose conversation it is; not always the importer's own
    external_id: str
    body: bytes
    source: str
    raw: dict[str, Any] | None
    raw_bytes: int = 0
    content_hash: str = ""
    packed: bytes = b""
    parsed: ParsedConversation | None = None
    first: FirstCopy | None = None
    news: dict[str, int] = field(default_factory=dict)
    memories: Sequence[ParsedMemory] = ()
    problem: str = ""
    captured_at: datetime | None = None  # where it was captured first, out of an archive

    def __post_init__(self) -> None:
        self.raw_bytes = len(self.body)

    @property
    def key(self) -> tuple[str, str]:
        return self.platform, self.external_id

    def parse(self) -> None:
        """Sets `parsed`, or `problem` in words."""
        if self.parsed is not None or self.problem:
            return
        try:
            self.parsed = self.importer.parse(self._loaded())
            self.news, self.memories = self.parsed.news, self.parsed.memories
        except UnreadableImport as error:
            self.problem = str(error)
        except MISREAD as error:
            _log.warning(
                "conversation_not_parsed",
                importer=self.importer.slug,
                error=type(error).__name__,
                exc_info=True,
            )
            self.problem = MISREAD_IN_WORDS
        self.raw = None

    def _loaded(self) -> Any:
        return self.raw if self.raw is not None else load(self.raw_body())

    def raw_body(self) -> bytes:
        return self.body or decompress(self.packed, self.raw_bytes)

    def pack(self, using: zstandard.ZstdCompressor | None = None) -> None:
        """Compresses the raw bytes, if that was not done yet."""
        if not self.packed:
            self.packed = (using or _compressor()).compress(self.body)
            self.body = b""

    def make_first_copy(self, account_id: str, known: KnownCaptures | None) -> None:
        """Makes the rows that a new conversation has. What cannot be made into rows is left as
        it is, for the transaction to find out and report."""
        if self.parsed is None or not self.parsed.messages:
            return
        try:
            merged = first_copy(
                self.parsed,
                account_id=account_id,
                conversation_id=self.conversation_id(account_id, known),
                capture_id=new_id(),
                parser_version=self.importer.version,
            )
            self.first = FirstCopy(merged, passages_of(merged.conversation, merged.line))
        except MISREAD:
            return
        self.parsed = None  # all of it is in the rows, and it takes as much memory as they do

    def conversation_id(self, account_id: str, known: KnownCaptures | None) -> str:
        """The id that the conversation has, or gets when it is new."""
        if known is not None:
            return known.conversation_id
        if self.first is not None:
            return self.first.merged.conversation["id"]
        created_at = self.parsed.created_at if self.parsed is not None else None
        return conversation_id(account_id, self.platform, self.external_id, created_at)


def prepare(store: Store, account_id: str, candidates: Sequence[Candidate]) -> None:
    """Does what can be done of each candidate before the transaction that stores it. What is
    stored may change until then; the transaction looks again."""
    compressor = _compressor()  # costly to set up
    for candidate in candidates:
        candidate.content_hash = content_hash(candidate.body)
    with store.read() as session:
        for platform, some in by_platform(candidates).items():
            ids = [candidate.external_id for candidate in some]
            known = known_captures(session, account_id, platform, ids)
            stored = conversations_by_external_id(session, account_id, platform, ids)
            for candidate in some:
                if is_unchanged(candidate, known, stored):
                    candidate.raw = None
                    continue
                candidate.parse()
                if not is_known(candidate, known):
                    candidate.pack(compressor)
                if candidate.external_id not in stored:
                    candidate.make_first_copy(account_id, known.get(candidate.external_id))


def by_platform(candidates: Sequence[Candidate]) -> dict[str, list[Candidate]]:
    groups: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        groups.setdefault(candidate.platform, []).append(candidate)
    return groups


def is_known(candidate: Candidate, known: dict[str, KnownCaptures]) -> bool:
    """Whether its very bytes were captured before."""
    seen = known.get(candidate.external_id)
    return seen is not None and candidate.content_hash in seen.by_hash


def is_unchanged(
    candidate: Candidate, known: dict[str, KnownCaptures], stored: dict[str, ConversationRow]
) -> bool:
    """The very bytes were taken in before, and by a parser no older than today's."""
    row = stored.get(candidate.external_id)
    is_current = row is not None and row["parser_version"] >= candidate.importer.version
    return is_current and is_known(candidate, known)


def _compressor() -> zstandard.ZstdCompressor:
    return zstandard.ZstdCompressor(level=_COMPRESSION_LEVEL)


def decompress(body: bytes, raw_bytes: int) -> bytes:
    """The raw bytes of a capture."""
    return zstandard.ZstdDecompressor().decompress(body, max_output_size=raw_bytes)
