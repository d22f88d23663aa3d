"""Taking out of the categories what they tell of memories that go.

Done in the transaction that deletes, edits or moves the memories: from then on nothing that is
stored of a category says what only they said, whether or not the bucket is sorted again.
"""

from collections.abc import Iterable, Sequence

from backread.store.engine import WriteSession
from backread.store.fulltext import words
from backread.store.models import Category, Memory
from backread.store.repositories import categories as store
from recall.categories.sorting import GROUP

_NAME_CHARACTERS = 40


def withdraw(session: WriteSession, account_id: str, memories: Sequence[Memory]) -> None:
    """Call it before the memories' rows change or go. Their buckets are held until the transaction
    ends, so that no sorting that has read them before writes them down again."""
    buckets = sorted({each.bucket_id for each in memories})
    store.hold_for_sorting(session, account_id, buckets)
    gone = {each.id: each.text for each in memories}
    for category in store.categories_telling(session, account_id, buckets, list(gone)):
        left = store.texts_left(session, account_id, category, gone.keys())
        take_out(category, gone, left)
        if not category.name:
            session.delete(category)
    session.flush()


def take_out(category: Category, gone: dict[str, str], left: Iterable[str]) -> None:
    """Leaves in the category what it has from others than `gone`, ids with texts. A phrase or name
    goes when one of its words stands in these texts and in none of `left`, which is read as far as
    that takes. Without anything left the name is empty."""
    category.summary = [
        each
        for each in category.summary
        if gone.keys().isdisjoint(key for key, _ in each["memories"])
    ]
    pointers = [
        each | {"memories": [key for key in each["memories"] if key not in gone]}
        for each in category.pointers
    ]
    told = [category.name, *category.phrases, *(each["phrase"] for each in pointers)]
    lost, sample = _lost(told, gone.values(), left)
    category.pointers = [
        each for each in pointers if each["memories"] and _is_clear(each["phrase"], lost)
    ]
    category.members_hash = ""  # so that it is written anew, whoever is in it then
    if not sample:
        category.name, category.phrases = "", []
    elif category.kind == GROUP and not all(
        _is_clear(each, lost) for each in (category.name, *category.phrases)
    ):
        phrases = [each for each in category.phrases if _is_clear(each, lost)]
        phrases += [each["phrase"] for each in category.pointers]
        category.name = ", ".join(dict.fromkeys(phrases[:2])) or _first_words(sample)
        category.phrases, category.written_by = phrases[:2], ""


def _lost(told: Sequence[str], gone: Iterable[str], left: Iterable[str]) -> tuple[set[str], str]:
    """The words that only the gone texts have said, and one of the texts that are left."""
    said = {word for text in gone for word in words(text)}
    lost = {word for text in told for word in words(text)} & said
    sample = ""
    for text in left:
        sample = sample or text
        lost.difference_update(words(text))
        if not lost:
            break
    return lost, sample


def _is_clear(text: str, lost: set[str]) -> bool:
    return lost.isdisjoint(words(text))


def _first_words(text: str) -> str:
    return " ".join(text.split())[:_NAME_CHARACTERS].rstrip(" ,.;:") or "…"
