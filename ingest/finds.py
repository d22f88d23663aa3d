"""What an import finds beside its conversations: things that a platform remembers, documents of
projects, secrets. None of it enters the sum of the report, which is about conversations alone."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backread.domain import ParsedMemory
from backread.identity import statement_hash
from backread.store.engine import WriteSession
from backread.store.repositories.suggestions import (
    SuggestionRow,
    insert_suggestions,
    known_statements,
)
from ingest.merge import Merged
from ingest.normalise import clean
from ingest.rows import fit_id


@dataclass(slots=True)
class Finds:
    """What a batch found that was not known before it."""

    statements: set[tuple[str, str]] = field(default_factory=set)  # platform, hash: suggested
    documents: set[tuple[str, str]] = field(default_factory=set)  # platform, id: new or changed
    secrets: Counter[str] = field(default_factory=Counter)  # by kind
    warnings: list[str] = field(default_factory=list)

    def take(self, other: "Finds") -> None:
        """Adds what another one has."""
        self.statements |= other.statements
        self.documents |= other.documents
        self.secrets += other.secrets
        self.warnings += other.warnings

    def leave_out(self, seen: "Finds") -> None:
        """Forgets what was found before and notes the rest as found: for a trial run, which
        stores nothing that would say so."""
        self.statements -= seen.statements
        self.documents -= seen.documents
        seen.statements |= self.statements
        seen.documents |= self.documents

    def note_secrets(self, merged: Merged, before: Mapping[str, int]) -> None:
        """Counts those that a conversation has and had not when it held `before`."""
        self.secrets += Counter(merged.conversation["secrets"]) - Counter(before)


def suggestions_from(
    memories: Iterable[ParsedMemory],
    *,
    account_id: str,
    platform: str,
    import_id: str | None,
    conversation: Merged | None = None,
) -> list[SuggestionRow]:
    """The rows of what was read from a conversation, or from a file of its own."""
    messages: Mapping[str, Any] = conversation.messages if conversation else {}
    rows: list[SuggestionRow] = []
    for memory in memories:
        text = clean(memory.text).strip()
        message = messages.get(fit_id(memory.message_external_id))
        if text:
            rows.append(
                {
                    "account_id": account_id,
                    "platform": platform,
                    "text": text,
                    "text_hash": statement_hash(text),
                    "source": clean(memory.source),
                    "project_external_id": fit_id(memory.project_external_id),
                    "conversation_id": conversation.conversation["id"] if conversation else None,
                    "message_id": message["id"] if message else None,
                    "occurred_at": memory.occurred_at,
                    "import_id": import_id,
                }
            )
    return rows


def suggest(
    session: WriteSession, rows: Sequence[SuggestionRow], finds: Finds, *, dry_run: bool = False
) -> None:
    """Stores what was never suggested before and is no memory yet, each statement once. All rows
    are of one account and platform."""
    if not rows:
        return
    account_id, platform = rows[0]["account_id"], rows[0]["platform"]
    fresh = {row["text_hash"]: row for row in reversed(rows)}  # of equal ones the first
    known = known_statements(session, account_id, platform, fresh)
    new = [row for row in reversed(fresh.values()) if row["text_hash"] not in known]
    finds.statements |= {(platform, row["text_hash"]) for row in new}
    if not dry_run:
        insert_suggestions(session, new)
