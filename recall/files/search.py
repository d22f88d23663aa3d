"""Search in documents: uploaded files, and what projects hold, by words and by meaning.

Documents of projects come out of chat exports, so only who may read chats finds them. They are in
no file bucket: a search that is limited to one leaves them out.
"""

import math
from collections.abc import Collection as Several
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from backread.domain import Principal, Scope
from backread.errors import InvalidInput, LimitExceeded
from backread.kernel import Kernel
from backread.store.engine import ReadSession
from backread.store.models import FilePassage
from backread.store.repositories.file_buckets import file_buckets_of, get_file_bucket
from backread.store.repositories.file_passages import (
    PROJECTS_GROUP,
    FoundInFile,
    count_passages,
    passages_by_point,
    passages_not_indexed,
)
from backread.store.repositories.files import files_in_state
from backread.vectors.index import Collection, IndexFilter
from recall.files.results import FileSearchResult, FoundFilePassage
from recall.hybrid import by_range, by_words_and_meaning, shares, word_scores
from recall.links import file_link
from recall.sentences import stems

DEFAULT_RESULTS: Final = 5
MAX_RESULTS: Final = 20
MAX_QUERY_CHARACTERS: Final = 4000

_DEPTH: Final = 60
_DENSE_WEIGHT: Final = 0.6
# That a document speaks of the query at all, for which the best passage is looked at: the share of
# the query's words that it holds, rare ones counting more, or its nearness in meaning. What these
# give: `python -m benchmarks.documents`.
_ENOUGH_COVERAGE: Final = 0.3
_ENOUGH_SIMILARITY: Final = 0.25
# And that a passage stands beside it in the answer.
_SOME_COVERAGE: Final = 0.15
_SOME_SIMILARITY: Final = 0.1


@dataclass(frozen=True, slots=True)
class _Scores:
    """By number in the index."""

    totals: Mapping[int, float]
    cosines: Mapping[int, float]


def search_files(
    kernel: Kernel,
    principal: Principal,
    query: str,
    *,
    bucket_id: int | None = None,
    top_k: int = DEFAULT_RESULTS,
) -> FileSearchResult:
    """Passages of documents, best first, without those that have nothing to do with the query.

    Raises InvalidInput for an empty query, LimitExceeded for `top_k` outside 1–20 or an overlong
    query, and NotFound for an unknown bucket.
    """
    query = query.strip()
    if not query:
        raise InvalidInput("The query is empty.", hint="Say what to look for.")
    if len(query) > MAX_QUERY_CHARACTERS:
        raise LimitExceeded(f"A query may have {MAX_QUERY_CHARACTERS} characters at most.")
    if not 1 <= top_k <= MAX_RESULTS:
        raise LimitExceeded(f"`topK` is {top_k}; 1 to {MAX_RESULTS} are allowed.")
    account_id = principal.account_id
    with kernel.store.read() as session:
        groups = _groups(session, principal, bucket_id)
        searched = count_passages(session, account_id, groups) if groups else 0
        unread = files_in_state(session, account_id, ["waiting", "reading"])
    waiting = sum(1 for file in unread if str(file.bucket_id) in groups)
    ranked: list[tuple[FoundInFile, float]] = []
    if searched:
        ranked = _ranked(kernel, account_id, query, groups)[:top_k]
    return FileSearchResult(
        query=query,
        found=bool(ranked),
        passages=[_view(kernel, found, score) for found, score in ranked],
        passages_searched=searched,
        files_waiting=waiting,
    )


def _groups(session: ReadSession, principal: Principal, bucket_id: int | None) -> list[str]:
    """What may be searched: named one by one, so that nothing else can be found."""
    if bucket_id is not None:
        return [str(get_file_bucket(session, principal.account_id, bucket_id).id)]
    groups = [str(each.bucket.id) for each in file_buckets_of(session, principal.account_id)]
    if Scope.CHAT_HISTORY_READ in principal.scopes:
        groups.append(PROJECTS_GROUP)
    return groups


def _ranked(
    kernel: Kernel, account_id: str, query: str, groups: Sequence[str]
) -> list[tuple[FoundInFile, float]]:
    scores = _search_index(kernel, account_id, query, groups)
    totals = dict(scores.totals)
    words = kernel.index.lexical_signature
    with kernel.store.read() as session:
        fresh = passages_not_indexed(session, account_id, words, groups=groups)
        _add_fresh(query, fresh, totals)
        found = passages_by_point(session, account_id, totals)
    # The index may still have a passage under the bucket that it lay in a moment ago.
    found = {point: each for point, each in found.items() if each.passage.group_name in groups}
    related = _related(query, found, scores.cosines)
    order = sorted(related, key=lambda point: (-totals[point], point))
    return [(found[point], totals[point]) for point in order]


def _search_index(kernel: Kernel, account_id: str, query: str, groups: Sequence[str]) -> _Scores:
    within = IndexFilter(account_id=account_id, groups=tuple(groups))
    by_words, near = by_words_and_meaning(kernel, Collection.FILES, query, within, limit=_DEPTH)
    totals = shares(by_words)
    for id, share in by_range(near).items():
        totals[id] = totals.get(id, 0.0) + _DENSE_WEIGHT * share
    return _Scores(totals, {point.id: point.score for point in near})


def _add_fresh(query: str, fresh: Sequence[FilePassage], totals: dict[int, float]) -> None:
    """Passages whose words the index does not have yet, by their words."""
    by_words = word_scores(query, [f"{each.heading} {each.text}" for each in fresh])
    for each, score in zip(fresh, by_words, strict=True):
        if score:
            totals.setdefault(each.point_id, score)


def _related(
    query: str, found: Mapping[int, FoundInFile], cosines: Mapping[int, float]
) -> Several[int]:
    """None when nothing speaks of the query: something is always the nearest, and it need not have
    to do with it. Otherwise all but those that have nothing in common with it."""
    asked = set(stems(query))
    held = {
        point: asked.intersection(stems(f"{each.passage.heading} {each.passage.text}"))
        for point, each in found.items()
    }
    weights = {
        stem: math.log(1 + len(held) / (sum(stem in each for each in held.values()) + 0.5))
        for stem in asked
    }
    total = sum(weights.values()) or 1.0
    coverage = {point: sum(weights[stem] for stem in own) / total for point, own in held.items()}
    best = max(coverage.values(), default=0.0)
    nearest = max((cosines.get(point, 0.0) for point in found), default=0.0)
    if best < _ENOUGH_COVERAGE and nearest < _ENOUGH_SIMILARITY:
        return []
    return [
        point
        for point in found
        if coverage[point] >= _SOME_COVERAGE or cosines.get(point, 0.0) >= _SOME_SIMILARITY
    ]


def _view(kernel: Kernel, found: FoundInFile, score: float) -> FoundFilePassage:
    passage, file, document = found.passage, found.file, found.document
    source_id = passage.file_id or passage.document_id or ""
    name = file.name if file is not None else document.name if document is not None else ""
    heading = passage.heading.removeprefix(name).removeprefix(" › ")
    return FoundFilePassage(
        file_id=source_id,
        file_name=name,
        bucket_id=found.bucket.id if found.bucket is not None else None,
        bucket_name=found.bucket.name if found.bucket is not None else "",
        project=(document.project or "no project") if document is not None else "",
        text=passage.text,
        location=passage.location,
        pages=list(range(passage.first_page, passage.last_page + 1)),
        heading=heading,
        dated=passage.occurred_at,
        link=file_link(kernel.settings.origin, source_id, passage.first_page, passage.position),
        score=round(score, 4),
    )
