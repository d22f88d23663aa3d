"""Whether a bucket says something already: word for word, or as good as."""

from collections.abc import Sequence

from backread.identity import statement_hash
from backread.store.engine import ReadSession
from backread.store.fulltext import words
from backread.store.repositories import memories as store
from backread.store.repositories.memories import Said

_ARTICLES = frozenset({"a", "an", "the"})


class Duplicates:
    """What a bucket holds that may be as good as one of the texts. Read once for all of them: a
    bucket may hold thousands, and hundreds may come at a time."""

    def __init__(
        self, session: ReadSession, account_id: str, bucket_id: int, texts: Sequence[str]
    ) -> None:
        hashes = [statement_hash(text) for text in texts]
        self._same = store.with_hashes(session, account_id, bucket_id, hashes)
        self._near: dict[tuple[str, ...], list[Said]] = {}
        if texts:
            lengths = [len(text) for text in texts]
            for said in store.of_similar_length(
                session, account_id, bucket_id, min(lengths), max(lengths)
            ):
                self._near.setdefault(_near_form(said.text), []).append(said)

    def of(self, text: str, *, but: str = "") -> tuple[Said, str] | None:
        """The statement and whether it is `exact` or `near`; of several alike the oldest. `but` is
        the id of a memory that does not count: the one that is changed."""
        same = self._same.get(statement_hash(text))
        if same is not None and same.id != but:
            return same, "exact"
        form = _near_form(text)
        near = (said for said in self._near.get(form, ()) if form and said.id != but)
        found = next(near, None)
        return None if found is None else (found, "near")

    def add(self, memory_id: str, text: str) -> None:
        """From here on the bucket holds this, too."""
        said = Said(memory_id, text)
        self._same.setdefault(statement_hash(text), said)
        self._near.setdefault(_near_form(text), []).append(said)


def _near_form(text: str) -> tuple[str, ...]:
    """Words in order, without case, punctuation and articles. Nothing that changes the sense is
    dropped: not a negation, a number, a tense or a name."""
    return tuple(word for word in words(text) if word not in _ARTICLES)
