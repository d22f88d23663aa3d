"""The tags of all notes."""

from collections import Counter
from collections.abc import Iterable

from backread.domain import Principal
from backread.store.engine import ReadSession
from backread.store.repositories.notes import ListedNote, list_notes


def count_tags(session: ReadSession, principal: Principal) -> list[tuple[str, int]]:
    """Each tag with the number of its notes, the most used first."""
    return tags_counted(list_notes(session, principal.account_id))


def tags_counted(notes: Iterable[ListedNote]) -> list[tuple[str, int]]:
    """The same of some notes."""
    counts = Counter(tag for note in notes for tag in note.tags)
    return sorted(counts.items(), key=lambda each: (-each[1], each[0].casefold(), each[0]))
