"""Suggested memories: what platforms remember about a person, for that person to keep or dismiss.

Nothing here becomes a memory by itself. A kept one goes the way of every memory, and its
suggestion says which one it has become, so the way back to where it was said stays open.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from backread.domain import Principal
from backread.errors import InvalidInput, LimitExceeded, NotFound
from backread.kernel import Kernel
from backread.store.engine import WriteSession
from backread.store.models import Bucket
from backread.store.repositories.suggestions import (
    move_suggestions,
    note_accepted,
    suggestions_by_id,
)
from recall.memories import checked_text, find_bucket, index_memories, keep_memories
from recall.memories.buckets import bucket_by_name

MOST_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class AcceptedSuggestion:
    """One to keep; with `text`, in these words instead of the platform's."""

    id: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class AcceptResult:
    """accepted = stored + the ones that the bucket held already."""

    accepted: int
    stored: int
    bucket_id: int
    bucket_name: str


def accept_suggestions(
    kernel: Kernel,
    principal: Principal,
    chosen: Sequence[AcceptedSuggestion],
    *,
    bucket_id: int | str | None = None,
    bucket_name: str = "",
) -> AcceptResult:
    """Keeps suggestions as memories, all or none: in the bucket with this id, in the one with this
    name, which is made if there is none, or in the default one. Those that were accepted before
    are passed over; dismissed ones can be accepted, too.

    Raises InvalidInput when none is chosen or an edited text is empty, LimitExceeded beyond 500 at
    once or 10,000 characters, NotFound for an id that does not exist or is another account's.
    """
    _check_count([each.id for each in chosen])
    with kernel.store.write() as session:
        bucket = _bucket(session, principal, bucket_id, bucket_name)
        found = suggestions_by_id(session, principal, [each.id for each in chosen])
        texts: dict[str, str] = {}
        for choice in {each.id: each for each in chosen}.values():
            suggestion = found.get(choice.id)
            if suggestion is None:
                raise _unknown()
            if suggestion.state != "accepted":
                texts[choice.id] = checked_text(choice.text or suggestion.text)
        kept = keep_memories(session, principal, bucket, list(texts.values()))
        for suggestion_id, (result, _) in zip(texts, kept, strict=True):
            note_accepted(session, principal, suggestion_id, result.memory_id)
    added = [memory for _, memory in kept if memory is not None]
    index_memories(kernel, principal.account_id, added)
    return AcceptResult(len(kept), len(added), bucket.id, bucket.name)


def dismiss_suggestions(session: WriteSession, principal: Principal, ids: Sequence[str]) -> int:
    """Puts open suggestions away for good: no import offers them again. Returns how many it were.
    Raises InvalidInput, LimitExceeded and NotFound as `accept_suggestions` does."""
    return _move(session, principal, ids, of="open", to="dismissed")


def restore_suggestions(session: WriteSession, principal: Principal, ids: Sequence[str]) -> int:
    """Opens dismissed suggestions again. Raises as `dismiss_suggestions` does."""
    return _move(session, principal, ids, of="dismissed", to="open")


def _move(
    session: WriteSession, principal: Principal, ids: Sequence[str], *, of: str, to: str
) -> int:
    _check_count(ids)
    if set(ids) - set(suggestions_by_id(session, principal, ids)):
        raise _unknown()
    return move_suggestions(session, principal, ids, of=of, to=to)


def _check_count(ids: Sequence[str]) -> None:
    if not ids:
        raise InvalidInput("No suggestion was chosen.", hint="Choose at least one.")
    if len(ids) > MOST_AT_ONCE:
        raise LimitExceeded(
            f"{len(ids):,} suggestions were chosen; {MOST_AT_ONCE} can be decided at once.",
            hint="Decide them in several steps.",
        )


def _bucket(
    session: WriteSession, principal: Principal, bucket_id: int | str | None, name: str
) -> Bucket:
    if not name.strip():
        return find_bucket(session, principal, bucket_id)
    return bucket_by_name(session, principal, name)[0]


def _unknown() -> NotFound:
    return NotFound(
        "There is no suggestion with this id.", hint="Reload the list; it may have changed."
    )
