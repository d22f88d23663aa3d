"""Makes the stored summary of one conversation; the job that makes those of an account."""

from datetime import datetime, timedelta

from backread.errors import NotFound
from backread.follow_ups import CONVERSATIONS_CHANGED
from backread.jobs import UPKEEP, JobContext, Queue, job, one_of_many
from backread.kernel import Kernel
from backread.llm.language.model import BudgetSpent, LanguageModel, LanguageModelFailure
from backread.log import get_logger
from backread.store.base import utcnow
from backread.store.engine import WriteSession
from backread.store.models import Message, StoredSummary
from backread.store.repositories.messages import get_conversation, shown_line
from backread.store.repositories.summaries import (
    active_accounts,
    delete_parts_but,
    find_summary,
    save_summary,
)
from backread.text.cleaning import clean
from recall.summarising.asking import SUMMARISE, enqueue_summaries
from recall.summarising.extractive import pick
from recall.summarising.hierarchy import MAKER, SUMMARY_TOKENS, Summariser
from recall.summarising.material import Overview, overview_of
from recall.summarising.planning import (
    count_left,
    has_work,
    next_conversation,
    note_failure,
    note_success,
)

__all__ = [
    "EXTRACTIVE",
    "MADE",
    "SUMMARISE",
    "WAITING",
    "after_change",
    "catch_up",
    "make_summary",
    "summarise_conversations",
]

EXTRACTIVE = "extractive"
MADE, WAITING = "made", "waiting"

# A conversation that the model cannot do is tried on days that lie further and further apart.
_FIRST_PAUSE = timedelta(days=1)
_MOST_FAILURES = 5

_log = get_logger(__name__)


@job(SUMMARISE, queue=Queue.BACKGROUND, backfill=True)
def summarise_conversations(context: JobContext) -> None:
    """Summarises what was agreed to, newest first. Resumes where it was stopped: each request to
    the model that was answered is kept."""
    kernel, account_id = context.kernel, context.account_id
    model = kernel.language_model
    if model is None or account_id is None:
        return
    done = 0
    while conversation_id := next_conversation(kernel, model, account_id):
        context.report(done, done + max(1, count_left(kernel, model, account_id)))
        can_go_on = True
        with one_of_many("summarise", conversation_id, context) as attempt:
            can_go_on = make_summary(context, model, account_id, conversation_id)
        if attempt.failed:
            _put_off(kernel, account_id, conversation_id)
        if not can_go_on:
            return
        done += 1
        context.report(done, done + count_left(kernel, model, account_id))


def make_summary(
    context: JobContext, model: LanguageModel, account_id: str, conversation_id: str
) -> bool:
    """Stores the conversation's summary, or an extractive one that waits to be replaced.

    False when the model cannot be asked at present, because it is down or the budget is spent.
    """
    kernel = context.kernel
    try:
        with kernel.store.read() as session:
            changed_at = get_conversation(session, account_id, conversation_id).changed_at
            former = find_summary(session, account_id, conversation_id)
    except NotFound:
        return True  # removed since it was chosen
    overview = overview_of(kernel, account_id, conversation_id)
    if former is not None and _still_holds(former, overview, model):
        _store(kernel, former, input_changed_at=changed_at)
        return True
    summariser = Summariser(
        kernel,
        model,
        account_id,
        conversation_id,
        overview.language,
        report=lambda _: context.check(),
    )
    row = StoredSummary(
        conversation_id=conversation_id,
        account_id=account_id,
        maker=MAKER,
        input_hash=overview.input_hash,
        input_changed_at=changed_at,
        language=overview.language.code,
    )
    try:
        outcome = summariser.summarise()
    except LanguageModelFailure as failure:
        return _stand_in(kernel, model, row, former, failure)
    sentences: list[dict[str, object]] = [
        {"text": text, "messageIds": ids} for text, ids in outcome.sentences
    ]
    _store(
        kernel,
        row,
        state=MADE,
        made_by=model.name,
        sentences=sentences,
        dropped=outcome.dropped,
        parts=outcome.parts,
    )
    note_success(kernel, model, account_id)
    return True


def _stand_in(
    kernel: Kernel,
    model: LanguageModel,
    row: StoredSummary,
    former: StoredSummary | None,
    failure: LanguageModelFailure,
) -> bool:
    """Stores what can be had without the model, marked to be made again."""
    _log.info("summary_waits", conversation_id=row.conversation_id, why=failure.why)
    is_about_input = failure.is_about_the_input
    failures = 1
    if is_about_input:
        is_same = former is not None and former.input_hash == row.input_hash
        failures += former.failures if former is not None and is_same else 0
        try_after = _next_try(failures)
    else:
        renews_at = failure.renews_at if isinstance(failure, BudgetSpent) else None
        try_after = note_failure(kernel, model, row.account_id, failure, renews_at)
        failures = 0
    _store(
        kernel,
        row,
        state=WAITING,
        made_by=EXTRACTIVE,
        sentences=_extractive(kernel, row.account_id, row.conversation_id),
        why=str(failure.why),
        failures=failures,
        try_after=try_after,
    )
    return is_about_input


def _put_off(kernel: Kernel, account_id: str, conversation_id: str) -> None:
    """A conversation at which something unforeseen fails waits as one does that the model cannot
    do. Meanwhile its own sentences are picked whenever somebody asks."""
    with kernel.store.read() as session:
        try:
            changed_at = get_conversation(session, account_id, conversation_id).changed_at
        except NotFound:
            return
        former = find_summary(session, account_id, conversation_id)
    is_same = former is not None and former.input_changed_at == changed_at
    failures = 1 + (former.failures if former is not None and is_same else 0)
    row = StoredSummary(
        conversation_id=conversation_id,
        account_id=account_id,
        maker=MAKER,
        input_hash="",
        input_changed_at=changed_at,
        language="",
    )
    _store(
        kernel,
        row,
        state=WAITING,
        made_by=EXTRACTIVE,
        why="internal",
        failures=failures,
        try_after=_next_try(failures),
    )


def _next_try(failures: int) -> datetime | None:
    if failures >= _MOST_FAILURES:
        return None
    pause: timedelta = _FIRST_PAUSE * 2 ** (failures - 1)
    return utcnow() + pause


def _extractive(kernel: Kernel, account_id: str, conversation_id: str) -> list[dict[str, object]]:
    with kernel.store.read() as session:
        messages: list[Message] = shown_line(session, account_id, conversation_id)
    return [
        {"text": clean(each.text), "messageIds": [each.message.id]}
        for each in pick(messages, SUMMARY_TOKENS, embed=kernel.embedder.embed_passages)
    ]


def _still_holds(former: StoredSummary, overview: Overview, model: LanguageModel) -> bool:
    """Whether nothing that the summary was made from has changed."""
    return (
        former.state == MADE
        and former.input_hash == overview.input_hash
        and former.made_by == model.name
        and former.maker == MAKER
    )


def _store(
    kernel: Kernel,
    row: StoredSummary,
    *,
    parts: list[str] | None = None,
    state: str = "",
    made_by: str = "",
    sentences: list[dict[str, object]] | None = None,
    dropped: int = 0,
    why: str = "",
    failures: int = 0,
    try_after: datetime | None = None,
    input_changed_at: datetime | None = None,
) -> None:
    if state:
        row.state, row.made_by, row.sentences = state, made_by, list(sentences or [])
        row.dropped, row.why, row.failures, row.try_after = dropped, why, failures, try_after
        row.made_at = utcnow()
    if input_changed_at is not None:
        row.input_changed_at = input_changed_at
    with kernel.store.write() as session:
        save_summary(session, row)
        if parts is not None:
            delete_parts_but(session, row.account_id, row.conversation_id, parts)


def after_change(kernel: Kernel, session: WriteSession, account_id: str) -> None:
    """What is new is summarised, if there is a model."""
    if kernel.settings.llm_model:
        enqueue_summaries(session, account_id)


def catch_up(kernel: Kernel) -> None:
    """Summaries that waited for a model that was down, or for the next day's budget."""
    model = kernel.language_model
    if model is None:
        return
    with kernel.store.read() as session:
        accounts = active_accounts(session)
    for account_id in accounts:
        if has_work(kernel, model, account_id):
            with kernel.store.write() as session:
                enqueue_summaries(session, account_id)


CONVERSATIONS_CHANGED.append(after_change)
UPKEEP.append(catch_up)
