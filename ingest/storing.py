"""Takes a batch of captured conversations in: compares, merges and writes, in one transaction."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import zstandard

from backread.domain import ParsedConversation
from backread.errors import UnreadableImport
from backread.identity import content_hash, conversation_id, new_id
from backread.log import get_logger
from backread.store.base import utcnow
from backread.store.engine import Store, WriteSession
from backread.store.repositories.captures import (
    CaptureRow,
    KnownCaptures,
    insert_captures,
    known_captures,
    tombstoned,
)
from backread.store.repositories.conversations import (
    ConversationRow,
    conversations_by_external_id,
    insert_conversations,
    insert_messages,
    message_trees,
    note_captures,
    update_conversations,
    update_messages,
)
from backread.store.repositories.imports import ItemRow
from backread.store.repositories.passages import PassageRow, replace_passages_bulk
from ingest.importers.base import Importer
from ingest.merge import Merged, first_copy, further_copy
from ingest.passages import passages_of
from ingest.rows import fit_id, fit_title

CODEC = "zstd"
_COMPRESSION_LEVEL = 3
_NEWS_CHARS = 100
# What reading foreign structures can raise when a shape was misjudged. It costs that one
# conversation, and the log tells where.
MISREAD = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)

_log = get_logger(__name__)


@dataclass(slots=True)
class Candidate:
    """One conversation of an import, before it is known what becomes of it."""

    importer: Importer
    external_id: str
    body: bytes
    source: str
    raw: dict[str, Any] | None
    content_hash: str = ""
    parsed: ParsedConversation | None = None
    packed: bytes = b""
    problem: str = ""

    @property
    def key(self) -> tuple[str, str]:
        return self.importer.slug, self.external_id

    def parse(self) -> None:
        """Sets `parsed`, or `problem` in words."""
        if self.parsed is not None or self.problem or self.raw is None:
            return
        try:
            self.parsed = self.importer.parse(self.raw)
        except UnreadableImport as error:
            self.problem = str(error)
        except MISREAD as error:
            _log.warning(
                "conversation_not_parsed",
                importer=self.importer.slug,
                error=type(error).__name__,
                exc_info=True,
            )
            self.problem = "Its structure is not one that is known; it was left out."
        self.raw = None


@dataclass(slots=True)
class Outcome:
    """What a batch came to. Adds up: one item per conversation."""

    items: list[ItemRow] = field(default_factory=list)
    platforms: Counter[str] = field(default_factory=Counter)
    news: Counter[str] = field(default_factory=Counter)
    messages_new: int = 0
    earliest_at: datetime | None = None
    latest_at: datetime | None = None

    def count(self, outcome: str) -> int:
        return sum(item["outcome"] == outcome for item in self.items)

    def add(
        self,
        outcome: str,
        candidate: Candidate,
        *,
        title: str = "",
        reason: str = "",
        conversation: str | None = None,
    ) -> None:
        self.platforms[candidate.importer.slug] += 1
        self.items.append(
            {
                "outcome": outcome,
                "platform": candidate.importer.slug,
                "external_id": candidate.external_id,
                "title": title,
                "source": candidate.source,
                "reason": reason,
                "conversation_id": conversation,
            }
        )

    def note(self, merged: Merged) -> None:
        row = merged.conversation
        self._note_times(row["first_message_at"], row["last_message_at"])

    def take(self, other: "Outcome") -> None:
        """Adds what another one came to."""
        self.items += other.items
        self.platforms += other.platforms
        self.news += other.news
        self.messages_new += other.messages_new
        self._note_times(other.earliest_at, other.latest_at)

    def _note_times(self, *times: datetime | None) -> None:
        known = [each for each in (*times, self.earliest_at, self.latest_at) if each is not None]
        self.earliest_at = min(known, default=None)
        self.latest_at = max(known, default=None)


def prepare(store: Store, account_id: str, candidates: Sequence[Candidate]) -> None:
    """The work that needs no transaction: hash, parse and compress what is not known yet."""
    compressor = zstandard.ZstdCompressor(level=_COMPRESSION_LEVEL)  # costly to set up
    for candidate in candidates:
        candidate.content_hash = content_hash(candidate.body)
    with store.read() as session:
        for slug, some in _by_platform(candidates).items():
            ids = [candidate.external_id for candidate in some]
            known = known_captures(session, account_id, slug, ids)
            stored = conversations_by_external_id(session, account_id, slug, ids)
            for candidate in some:
                if not _is_unchanged(candidate, known, stored):
                    candidate.parse()
                if not _is_known(candidate, known):
                    candidate.packed = _compress(candidate.body, compressor)


def store_batch(
    session: WriteSession,
    account_id: str,
    import_id: str,
    candidates: Sequence[Candidate],
    *,
    dry_run: bool = False,
) -> Outcome:
    """Writes prepared candidates, each a different conversation. With `dry_run` only compares."""
    outcome = Outcome()
    for slug, some in _by_platform(candidates).items():
        _PlatformBatch(session, account_id, import_id, slug, outcome).store(some, dry_run=dry_run)
    return outcome


def write_merged(
    session: WriteSession,
    account_id: str,
    merged: Sequence[Merged],
    *,
    with_passages_of_all: bool = False,
) -> None:
    """Conversations, messages and passages. Unchanged passages keep their ids and vectors.
    `with_passages_of_all` also looks at those of conversations that did not change."""
    changed = [each for each in merged if each.has_changes]
    new = [each.conversation for each in changed if each.is_new]
    insert_conversations(session, new)
    update_conversations(session, [each.conversation for each in changed if not each.is_new])
    note_captures(session, [each.conversation for each in merged if not each.has_changes])
    insert_messages(session, [row for each in changed for row in each.added])
    update_messages(session, [row for each in changed for row in each.changed])
    passages: dict[str, list[PassageRow]] = {
        each.conversation["id"]: passages_of(each.conversation, each.line)
        for each in (merged if with_passages_of_all else changed)
    }
    replace_passages_bulk(
        session, account_id, passages, without_any={conversation["id"] for conversation in new}
    )


class _PlatformBatch:
    """The candidates of one platform in one transaction."""

    def __init__(
        self,
        session: WriteSession,
        account_id: str,
        import_id: str,
        slug: str,
        outcome: Outcome,
    ) -> None:
        self._session = session
        self._account_id = account_id
        self._import_id = import_id
        self._slug = slug
        self._outcome = outcome

    def store(self, candidates: Sequence[Candidate], *, dry_run: bool) -> None:
        ids = [candidate.external_id for candidate in candidates]
        known = known_captures(self._session, self._account_id, self._slug, ids)
        stored = conversations_by_external_id(self._session, self._account_id, self._slug, ids)
        deleted = tombstoned(self._session, self._account_id, self._slug, ids)
        wanted = [c for c in candidates if self._is_wanted(c, known, stored, deleted)]
        trees = message_trees(
            self._session,
            self._account_id,
            [stored[c.external_id]["id"] for c in wanted if c.external_id in stored],
        )
        captures: list[CaptureRow] = []
        merged: list[Merged] = []
        for candidate in wanted:
            capture = self._capture(candidate, known, len(captures))
            tree = self._merge(candidate, capture, stored, trees)
            if not _is_known(candidate, known):
                captures.append(capture)
            merged.append(tree)
        if not dry_run:
            insert_captures(self._session, captures)
            write_merged(self._session, self._account_id, merged)

    def _is_wanted(
        self,
        candidate: Candidate,
        known: dict[str, KnownCaptures],
        stored: dict[str, ConversationRow],
        deleted: set[str],
    ) -> bool:
        """Whether it has to be merged; of the others it is noted why not."""
        if candidate.external_id in deleted:
            self._outcome.add(
                "skipped", candidate, reason="You deleted this conversation; it stays deleted."
            )
            return False
        if not candidate.problem and _is_unchanged(candidate, known, stored):
            row = stored[candidate.external_id]
            self._outcome.add("unchanged", candidate, title=row["title"], conversation=row["id"])
            return False
        candidate.parse()
        if candidate.parsed is None:
            self._outcome.add("failed", candidate, reason=candidate.problem)
            return False
        if not candidate.parsed.messages:
            title = fit_title(candidate.parsed.title)
            self._outcome.add("skipped", candidate, title=title, reason="It has no messages.")
            return False
        return True

    def _capture(
        self, candidate: Candidate, known: dict[str, KnownCaptures], place: int
    ) -> CaptureRow:
        assert candidate.parsed is not None
        seen = known.get(candidate.external_id)
        first_id = conversation_id(
            self._account_id, self._slug, candidate.external_id, candidate.parsed.created_at
        )
        return {
            "id": (seen.by_hash.get(candidate.content_hash) if seen else None) or new_id(),
            "account_id": self._account_id,
            "platform": self._slug,
            "external_id": candidate.external_id,
            "conversation_id": seen.conversation_id if seen else first_id,
            "content_hash": candidate.content_hash,
            "importer": candidate.importer.slug,
            "codec": CODEC,
            "body": candidate.packed or _compress(candidate.body),
            "raw_bytes": len(candidate.body),
            "import_id": self._import_id,
            # Apart by a microsecond, so that the order of captures is the order of import.
            "captured_at": utcnow() + timedelta(microseconds=place),
        }

    def _merge(
        self,
        candidate: Candidate,
        capture: CaptureRow,
        stored: dict[str, ConversationRow],
        trees: dict[str, dict[str, Any]],
    ) -> Merged:
        assert candidate.parsed is not None
        row = stored.get(candidate.external_id)
        version = candidate.importer.version
        if row is None:
            merged = first_copy(
                candidate.parsed,
                account_id=self._account_id,
                conversation_id=capture["conversation_id"],
                capture_id=capture["id"],
                parser_version=version,
            )
        else:
            tree = trees.get(row["id"], {})
            merged = further_copy(
                row, tree, candidate.parsed, capture_id=capture["id"], parser_version=version
            )
        outcome = "new" if merged.is_new else "updated" if merged.has_changes else "unchanged"
        self._outcome.add(
            outcome,
            candidate,
            title=merged.conversation["title"],
            conversation=merged.conversation["id"],
        )
        self._outcome.messages_new += len(merged.added)
        self._outcome.note(merged)
        for name, count in candidate.parsed.news.items():
            self._outcome.news[fit_id(name)[:_NEWS_CHARS]] += count
        return merged


def _by_platform(candidates: Sequence[Candidate]) -> dict[str, list[Candidate]]:
    groups: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        groups.setdefault(candidate.importer.slug, []).append(candidate)
    return groups


def _is_known(candidate: Candidate, known: dict[str, KnownCaptures]) -> bool:
    seen = known.get(candidate.external_id)
    return seen is not None and candidate.content_hash in seen.by_hash


def _is_unchanged(
    candidate: Candidate, known: dict[str, KnownCaptures], stored: dict[str, ConversationRow]
) -> bool:
    """The very bytes were taken in before, and by a parser no older than today's."""
    row = stored.get(candidate.external_id)
    is_current = row is not None and row["parser_version"] >= candidate.importer.version
    return is_current and _is_known(candidate, known)


def _compress(body: bytes, using: zstandard.ZstdCompressor | None = None) -> bytes:
    return (using or zstandard.ZstdCompressor(level=_COMPRESSION_LEVEL)).compress(body)


def decompress(body: bytes, raw_bytes: int) -> bytes:
    """The raw bytes of a capture."""
    return zstandard.ZstdDecompressor().decompress(body, max_output_size=raw_bytes)
