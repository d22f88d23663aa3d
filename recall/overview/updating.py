"""Bringing an account's overview up to date: reading what is new, then making the portrait."""

from datetime import UTC, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from backread.follow_ups import CONVERSATIONS_CHANGED
from backread.jobs import UPKEEP, JobContext, Queue, job
from backread.kernel import Kernel
from backread.llm.language.model import LanguageModelFailure
from backread.log import get_logger
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Account, Overview
from backread.store.repositories import overview as store
from recall.overview.asking import REFRESH_OVERVIEW, enqueue_overview
from recall.overview.digests import digest_some, digests_made_with
from recall.overview.portrait import MOST_CONVERSATIONS, make_portrait
from recall.overview.writing import write_prose
from recall.summarising.planning import agreed_model

MAKER = "overview-2"
_TRIES = 3

_log = get_logger(__name__)


def overview_made_with(kernel: Kernel) -> str:
    """Names the way portraits are made."""
    return f"{MAKER}|{digests_made_with(kernel)}"[:200]


@job(REFRESH_OVERVIEW, queue=Queue.BACKGROUND, backfill=True)
def refresh_overview_job(context: JobContext) -> None:
    if context.account_id is not None:
        refresh_overview(context.kernel, context.account_id, with_model=True, context=context)


def refresh_overview(
    kernel: Kernel,
    account_id: str,
    *,
    with_model: bool = False,
    context: JobContext | None = None,
) -> None:
    """Reads the conversations that are new or have changed and makes the portrait again. Stopped
    half way, it goes on where it was. `with_model` asks the language model, if there is one, which
    takes seconds. Raises Unavailable when the embedding model cannot be had."""
    done = 0
    while True:
        if context is not None:
            with kernel.store.read() as session:
                left = store.count_to_digest(session, account_id, digests_made_with(kernel))
            context.report(done, done + left)
        read = digest_some(kernel, account_id, context)
        if not read:
            break
        done += read
    portray(kernel, account_id, with_model=with_model)


def portray(kernel: Kernel, account_id: str, *, with_model: bool = False) -> bool:
    """Makes the portrait from the digests there are. False when there is nothing to tell of, or
    conversations went as fast as it was made."""
    for _ in range(_TRIES):
        with kernel.store.read() as session:
            entries = store.digests_of(session, account_id, most=MOST_CONVERSATIONS)
            zone = _zone(session.get(Account, account_id))
            former = _still_true(session, account_id)
        made = make_portrait(entries, zone)
        prose, by, is_pending = _prose(kernel, account_id, made.body, former, with_model=with_model)
        body = made.body | {"prose": prose, "written_by": by}
        with kernel.store.write() as session:
            if store.write_overview(
                session,
                account_id,
                made_with=overview_made_with(kernel),
                portrait=body,
                conversation_ids=made.conversation_ids,
                is_pending=is_pending,
            ):
                _log.info("overview_made", conversations=len(entries), written_by=by)
                return True
    return False


def _still_true(session: ReadSession, account_id: str) -> Overview | None:
    """The present portrait, while all that it was made from is there."""
    overview = store.overview_of(session, account_id)
    if overview is None or not overview.conversation_count:
        return None
    is_whole = store.count_in_overview(session, account_id) == overview.conversation_count
    return overview if is_whole else None


def _prose(
    kernel: Kernel,
    account_id: str,
    body: dict[str, Any],
    former: Overview | None,
    *,
    with_model: bool,
) -> tuple[list[dict[str, Any]], str, bool]:
    """Sentences, the model that wrote them, and whether one is still to be asked. Until it has
    answered, what it wrote before stays, if that is still true."""
    model = kernel.language_model
    if model is None:
        return [], "", False
    if with_model and agreed_model(kernel, account_id) is not None:
        try:
            prose = write_prose(body, model, account_id)
        except LanguageModelFailure as error:
            _log.info("overview_without_model", reason=error.why)
        else:
            return prose, model.name if prose else "", False
    if former is None:
        return [], "", True
    return former.portrait.get("prose", []), former.portrait.get("written_by", ""), True


def _zone(account: Account | None) -> tzinfo:
    try:
        return ZoneInfo(account.timezone if account else "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return UTC


def after_change(kernel: Kernel, session: WriteSession, account_id: str) -> None:
    """What an import brought is taken in, in the background."""
    enqueue_overview(session, account_id)


def look_after_overviews(kernel: Kernel) -> None:
    """Overviews that have not taken in all conversations, or wait for a language model."""
    with kernel.store.read() as session:
        accounts = store.accounts_to_refresh(
            session, digests_made_with(kernel), with_model=kernel.language_model is not None
        )
    for account_id in accounts:
        with kernel.store.write() as session:
            enqueue_overview(session, account_id)


CONVERSATIONS_CHANGED.append(after_change)
UPKEEP.append(look_after_overviews)
