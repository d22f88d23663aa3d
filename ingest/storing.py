"""Takes a batch of captured conversations in: compares, merges and writes, in one transaction."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from backread.identity import new_id
from backread.store.base import utcnow
from backread.store.engine import WriteSession
from backread.store.repositories.captures import (
    CaptureRow,
    KnownCaptures,
    insert_captures,
    known_captures,
    last_captured_at,
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
from ingest.candidates import CODEC, Candidate, by_platform, is_known, is_unchanged
from ingest.finds import Finds, suggest, suggestions_from
from ingest.merge import Merged, first_copy, further_copy
from ingest.passages import passages_of
from ingest.rows import fit_id, fit_title

_NEWS_CHARS = 100


@dataclass(slots=True)
class Outcome:
    """What a batch came to. Adds up: one item per conversation."""

    items: list[ItemRow] = field(default_factory=list)
    platforms: Counter[str] = field(default_factory=Counter)
    news: Counter[str] = field(default_factory=Counter)
    finds: Finds = field(default_factory=Finds)
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
        self.platforms[candidate.platform] += 1
        self.items.append(
            {
                "outcome": outcome,
                "platform": candidate.platform,
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
        self.finds.take(other.finds)
        self.messages_new += other.messages_new
        self._note_times(other.earliest_at, other.latest_at)

    def _note_times(self, *times: datetime | None) -> None:
        known = [each for each in (*times, self.earliest_at, self.latest_at) if each is not None]
        self.earliest_at = min(known, default=None)
        self.latest_at = max(known, default=None)


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
    for slug, some in by_platform(candidates).items():
        _PlatformBatch(session, account_id, import_id, slug, outcome).store(some, dry_run=dry_run)
    return outcome


def write_merged(
    session: WriteSession,
    account_id: str,
    merged: Sequence[Merged],
    *,
    with_passages_of_all: bool = False,
    passages_at_hand: Mapping[str, list[PassageRow]] | None = None,
) -> None:
    """Conversations, messages and passages. Unchanged passages keep their ids and vectors.
    `with_passages_of_all` also looks at those of conversations that did not change.
    `passages_at_hand`: those that were made already, by conversation."""
    changed = [each for each in merged if each.has_changes]
    new = [each.conversation for each in changed if each.is_new]
    insert_conversations(session, new)
    update_conversations(session, [each.conversation for each in changed if not each.is_new])
    note_captures(session, [each.conversation for each in merged if not each.has_changes])
    insert_messages(session, [row for each in changed for row in each.added])
    update_messages(session, [row for each in changed for row in each.changed])
    at_hand = passages_at_hand or {}
    passages: dict[str, list[PassageRow]] = {
        each.conversation["id"]: at_hand.get(each.conversation["id"])
        or passages_of(each.conversation, each.line)
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
        self._passages: dict[str, list[PassageRow]] = {}  # of new conversations

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
            seen = known.get(candidate.external_id)
            capture_id = (seen.by_hash.get(candidate.content_hash) if seen else None) or new_id()
            conversation_id = candidate.conversation_id(self._account_id, seen)
            if not is_known(candidate, known):
                captures.append(
                    self._capture(candidate, capture_id, conversation_id, len(captures))
                )
            merged.append(self._merge(candidate, capture_id, conversation_id, stored, trees))
        if not dry_run:
            insert_captures(self._session, captures)
            write_merged(self._session, self._account_id, merged, passages_at_hand=self._passages)
        self._suggest(wanted, merged, dry_run=dry_run)

    def _suggest(
        self, candidates: Sequence[Candidate], merged: Sequence[Merged], *, dry_run: bool
    ) -> None:
        """Offers what the conversations show of the platform's memory."""
        rows = [
            row
            for candidate, conversation in zip(candidates, merged, strict=True)
            if candidate.memories
            for row in suggestions_from(
                candidate.memories,
                account_id=self._account_id,
                platform=self._slug,
                import_id=self._import_id,
                conversation=conversation,
            )
        ]
        suggest(self._session, rows, self._outcome.finds, dry_run=dry_run)

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
        if not candidate.problem and is_unchanged(candidate, known, stored):
            row = stored[candidate.external_id]
            self._outcome.add("unchanged", candidate, title=row["title"], conversation=row["id"])
            return False
        if candidate.first is not None:
            return True
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
        self, candidate: Candidate, capture_id: str, conversation_id: str, place: int
    ) -> CaptureRow:
        candidate.pack()
        return {
            "id": capture_id,
            "account_id": self._account_id,
            "platform": self._slug,
            "external_id": candidate.external_id,
            "conversation_id": conversation_id,
            "content_hash": candidate.content_hash,
            "importer": candidate.importer.slug,
            "codec": CODEC,
            "body": candidate.packed,
            "raw_bytes": candidate.raw_bytes,
            "import_id": self._import_id,
            "captured_at": self._captured_at(candidate, conversation_id, place),
        }

    def _captured_at(self, candidate: Candidate, conversation_id: str, place: int) -> datetime:
        """Now, apart by a microsecond, so that the order of captures is the order of import. Out
        of an archive it is the time of the first capture, unless that would change the order."""
        if candidate.captured_at is not None:
            last = last_captured_at(self._session, self._account_id, conversation_id)
            if last is None or last < candidate.captured_at:
                return candidate.captured_at
        return utcnow() + timedelta(microseconds=place)

    def _merge(
        self,
        candidate: Candidate,
        capture_id: str,
        conversation_id: str,
        stored: dict[str, ConversationRow],
        trees: dict[str, dict[str, Any]],
    ) -> Merged:
        row = stored.get(candidate.external_id)
        if row is None:
            merged = self._first_copy(candidate, capture_id, conversation_id)
        else:
            candidate.parse()
            assert candidate.parsed is not None
            merged = further_copy(
                row,
                trees.get(row["id"], {}),
                candidate.parsed,
                capture_id=capture_id,
                parser_version=candidate.importer.version,
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
        self._outcome.finds.note_secrets(merged, row["secrets"] if row else {})
        for name, count in candidate.news.items():
            self._outcome.news[fit_id(name)[:_NEWS_CHARS]] += count
        return merged

    def _first_copy(self, candidate: Candidate, capture_id: str, conversation_id: str) -> Merged:
        """The rows made beforehand, unless what is stored has changed since."""
        first = candidate.first
        if first is not None and first.merged.conversation["id"] == conversation_id:
            first.merged.conversation["capture_id"] = capture_id
            self._passages[conversation_id] = first.passages
            return first.merged
        candidate.parse()
        assert candidate.parsed is not None
        return first_copy(
            candidate.parsed,
            account_id=self._account_id,
            conversation_id=conversation_id,
            capture_id=capture_id,
            parser_version=candidate.importer.version,
        )
