"""Records of all of an account's folders, for a search of everything."""

from backread.domain import Principal
from backread.errors import Unavailable
from backread.kernel import Kernel
from backread.store.models import FolderRecord
from backread.store.repositories.folders import folders_of
from backread.store.repositories.record_chunks import chunks_by_point
from backread.store.repositories.records import records_with_name
from backread.vectors.index import Collection, IndexFilter
from recall.folders.calibration import THRESHOLD, calibration_of, word_share
from recall.folders.views import RecordHit
from recall.hybrid import by_words_and_meaning

_DEPTH = 50
_SNIPPET = 300  # characters


def find_records(
    kernel: Kernel, principal: Principal, query: str, *, limit: int
) -> list[RecordHit]:
    """Records whose name holds the text first, which a new record's does at once, then those of
    which a part fits well. Without an index only the former."""
    account_id, query = principal.account_id, query.strip()
    if not query:
        return []
    with kernel.store.read() as session:
        folders = {each.folder.id: each.folder.name for each in folders_of(session, account_id)}
        named = records_with_name(session, account_id, query, limit=limit) if folders else []
    found = {each.id: (each, each.content[:_SNIPPET]) for each in named}
    if folders and len(found) < limit:
        try:
            fitting = _fitting(kernel, account_id, query, tuple(folders))
        except Unavailable:
            fitting = []
        for record, text in fitting:
            found.setdefault(record.id, (record, text))
    return [
        RecordHit(
            record_id=record.id,
            record_name=record.name,
            folder_id=record.folder_id,
            folder_name=folders[record.folder_id],
            text=text,
        )
        for record, text in list(found.values())[:limit]
        if record.folder_id in folders
    ]


def _fitting(
    kernel: Kernel, account_id: str, query: str, folder_ids: tuple[str, ...]
) -> list[tuple[FolderRecord, str]]:
    """Records with their part that fits best, best first."""
    within = IndexFilter(account_id=account_id, groups=folder_ids)
    by_words, by_meaning = by_words_and_meaning(
        kernel, Collection.RECORDS, query, within, limit=_DEPTH
    )
    cosines = {point.id: point.score for point in by_meaning}
    least = min(cosines.values(), default=0.0)
    for point in by_words:
        cosines.setdefault(point.id, least)
    calibration = calibration_of(kernel)
    with kernel.store.read() as session:
        rows = chunks_by_point(session, account_id, None, cosines)
    scored = []
    for point_id, (chunk, record) in rows.items():
        own = record.content[chunk.start : chunk.end]
        score = calibration.score(cosines[point_id], word_share(query, f"{record.name}\n{own}"))
        if score >= THRESHOLD:
            scored.append((score, point_id, record, own[:_SNIPPET]))
    scored.sort(key=lambda each: (-each[0], each[1]))
    return [(record, text) for _, _, record, text in scored]
