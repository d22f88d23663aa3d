"""Stores a batch so that a conversation which cannot be stored costs only itself."""

from collections.abc import Sequence

from sqlalchemy.exc import (
    DataError,
    DBAPIError,
    IntegrityError,
    InternalError,
    ProgrammingError,
    StatementError,
)

from backread.log import get_logger
from backread.store.engine import WriteSession
from ingest.candidates import MISREAD, Candidate
from ingest.storing import Outcome, store_batch

# Of the database's own errors those that a row's content can cause. When it is busy, full or away
# it raises others, which stop the batch.
_OF_CONTENT = (DataError, IntegrityError, InternalError, ProgrammingError)

_log = get_logger(__name__)


def store_what_can_be(
    session: WriteSession,
    account_id: str,
    import_id: str,
    candidates: Sequence[Candidate],
    *,
    dry_run: bool = False,
) -> Outcome:
    """`store_batch`, where a conversation that cannot be stored costs only itself. A database
    that is busy, full or away still stops the batch."""
    whole = _try_to_store(session, account_id, import_id, candidates, dry_run=dry_run)
    if whole is not None:
        return whole
    outcome = Outcome()
    for candidate in candidates:
        one = _try_to_store(session, account_id, import_id, [candidate], dry_run=dry_run)
        if one is None:
            outcome.add("failed", candidate, reason="It holds something that cannot be stored.")
        else:
            outcome.take(one)
    return outcome


def _try_to_store(
    session: WriteSession,
    account_id: str,
    import_id: str,
    candidates: Sequence[Candidate],
    *,
    dry_run: bool,
) -> Outcome | None:
    try:
        with session.begin_nested():
            return store_batch(session, account_id, import_id, candidates, dry_run=dry_run)
    except (*MISREAD, StatementError) as error:
        if isinstance(error, DBAPIError) and not isinstance(error, _OF_CONTENT):
            raise
        _log.warning("not_stored", error=type(error).__name__, exc_info=True)
        return None
