"""What is summarised by the language model, and what that may cost.

Nothing is spent on conversations that were there before until a person has accepted an estimate
of them. What is new or has changed afterwards is summarised as it comes, as long as it is little;
much at once, as a large import brings it, becomes an offer again. A change of the model or of the
way summaries are made asks again as well. Conversations under 5,000 tokens are never sent: they
are handed out whole.
"""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from backread.domain import Principal
from backread.errors import Conflict, InvalidInput
from backread.kernel import Kernel
from backread.llm.language.model import LanguageModel, LanguageModelFailure, Usage
from backread.llm.language.pricing import price_of
from backread.store.base import utcnow
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import SummaryPlan
from backread.store.repositories.accounts import lock_account
from backread.store.repositories.summaries import (
    Making,
    changed_after,
    changed_between,
    count_summaries,
    count_wanted,
    find_plan,
    find_plan_for_update,
    forget_waiting,
    next_wanted,
    token_counts,
)
from recall.summarising.asking import enqueue_summaries
from recall.summarising.hierarchy import (
    MAKER,
    NOTE_OVERHEAD_TOKENS,
    PART_SENTENCES,
    SUMMARY_TOKENS,
    WHOLE_SENTENCES,
    stretch_tokens,
)

WHOLE_BELOW_TOKENS = 5000
# More than this at once is no longer "as it comes": a person is asked first.
MOST_UNASKED_CONVERSATIONS = 25
MOST_UNASKED_TOKENS = 400_000

_PROMPT_TOKENS = 650  # instructions, form and boundaries of one request
_LABEL_SHARE = 1.1  # of the text, with its labels
_SENTENCE_TOKENS = 45
_REPAIRS = 1.1  # requests that have to be made twice
_FIRST_PAUSE, _LONGEST_PAUSE = timedelta(minutes=5), timedelta(hours=6)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What summarising would take, rather too much than too little. `cost_micros` in millionths
    of `currency`, None when the model's price is unknown. Covers what changed until `until`."""

    conversations: int
    tokens_in: int
    tokens_out: int
    cost_micros: int | None
    currency: str
    until: datetime


@dataclass(frozen=True, slots=True)
class SummaryStatus:
    """`offer` waits for a decision, `accepted` is left of what was accepted, `coming` is done
    without asking. `pause_reason` and `try_after` say why nothing is done at present."""

    model: str
    made: int
    waiting: int
    offer: Estimate | None
    accepted: Estimate | None
    coming: Estimate | None
    is_paused: bool
    pause_reason: str
    try_after: datetime | None


def making_of(model: LanguageModel) -> Making:
    return Making(model.name, MAKER, WHOLE_BELOW_TOKENS)


def summary_status(kernel: Kernel, principal: Principal) -> SummaryStatus | None:
    """None without a language model. Changes nothing."""
    model = kernel.language_model
    if model is None:
        return None
    now = utcnow()
    with kernel.store.read() as session:
        plan = _valid(find_plan(session, principal.account_id), model)
        counts = count_summaries(session, principal.account_id)
        offered_until = plan.offered_until if plan else now
        accepted_until = plan.accepted_until if plan else None
        estimates = [
            _estimate(kernel, model, session, principal.account_id, span, now, offered_until)
            for span in (
                changed_between(accepted_until, offered_until),
                changed_between(None, accepted_until) if accepted_until else None,
                changed_after(offered_until),
            )
        ]
    is_held = plan is not None and plan.try_after is not None and plan.try_after > now
    return SummaryStatus(
        model=model.name,
        made=counts.get("made", 0),
        waiting=counts.get("waiting", 0),
        offer=estimates[0],
        accepted=estimates[1],
        coming=estimates[2],
        is_paused=plan is not None and plan.paused_at is not None,
        pause_reason=plan.why if plan is not None and is_held else "",
        try_after=plan.try_after if plan is not None and is_held else None,
    )


def agreed_model(kernel: Kernel, account_id: str) -> LanguageModel | None:
    """The language model, if the account has agreed to its cost: by accepting an estimate, or
    because there was nothing old to estimate. For what is made of many conversations or memories
    at once. None as well while summaries are paused."""
    status = summary_status(kernel, Principal(account_id))
    if status is None or status.is_paused:
        return None
    has_agreed = status.offer is None or _has_accepted(kernel, account_id)
    return kernel.language_model if has_agreed else None


def _has_accepted(kernel: Kernel, account_id: str) -> bool:
    model = _required(kernel)
    with kernel.store.read() as session:
        plan = _valid(find_plan(session, account_id), model)
    return plan is not None and plan.accepted_until is not None


def accept_estimate(kernel: Kernel, principal: Principal, until: datetime) -> Estimate:
    """Agrees to the offer that was shown, named by its `until`, and starts the work.

    Raises Conflict when the offer is another one by now, and InvalidInput when there is none.
    """
    model = _required(kernel)
    now = utcnow()
    with kernel.store.write() as session:
        lock_account(session, principal.account_id)
        plan = _valid(find_plan_for_update(session, principal.account_id), model)
        if plan is None:
            if until > now:
                raise _other_offer()
            plan = _begin(session, principal.account_id, model, until)
        if plan.offered_until != until:
            raise _other_offer()
        span = changed_between(plan.accepted_until, until)
        offer = _estimate(kernel, model, session, principal.account_id, span, now, until)
        if offer is None:
            raise InvalidInput("No conversation waits for a summary.")
        plan.accepted_until = until
        plan.accepted_at = now
        plan.paused_at = None
        plan.conversations, plan.cost_micros = offer.conversations, offer.cost_micros
        plan.tokens_in, plan.tokens_out = offer.tokens_in, offer.tokens_out
        enqueue_summaries(session, principal.account_id)
    return offer


def pause_summaries(kernel: Kernel, principal: Principal) -> None:
    """Holds back what was accepted. What comes new goes on."""
    model = _required(kernel)
    with kernel.store.write() as session:
        _plan(session, principal.account_id, model).paused_at = utcnow()


def resume_summaries(kernel: Kernel, principal: Principal) -> None:
    """Goes on with what was accepted, also with what waits for its next try."""
    model = _required(kernel)
    with kernel.store.write() as session:
        plan = _plan(session, principal.account_id, model)
        plan.paused_at = plan.try_after = None
        plan.failures, plan.why = 0, ""
        forget_waiting(session, principal.account_id, utcnow())
        enqueue_summaries(session, principal.account_id)


def next_conversation(kernel: Kernel, model: LanguageModel, account_id: str) -> str | None:
    """What to summarise next, newest first; None when nothing may be done at present."""
    making, now = making_of(model), utcnow()
    with kernel.store.write() as session:
        plan = _plan(session, account_id, model)
        if plan.try_after is not None and plan.try_after > now:
            return None
        span = changed_after(plan.offered_until)
        coming = token_counts(session, account_id, making, span, now, first_time=True)
        if len(coming) > MOST_UNASKED_CONVERSATIONS or sum(coming) > MOST_UNASKED_TOKENS:
            plan.offered_until = now
        found = next_wanted(session, account_id, making, changed_after(plan.offered_until), now)
        if found is None and plan.accepted_until is not None and plan.paused_at is None:
            span = changed_between(None, plan.accepted_until)
            found = next_wanted(session, account_id, making, span, now)
        return found


def count_left(kernel: Kernel, model: LanguageModel, account_id: str) -> int:
    """Conversations that the job still has to do."""
    making, now = making_of(model), utcnow()
    with kernel.store.read() as session:
        plan = _valid(find_plan(session, account_id), model)
        if plan is None:
            return 0
        spans = [changed_after(plan.offered_until)]
        if plan.accepted_until is not None and plan.paused_at is None:
            spans.append(changed_between(None, plan.accepted_until))
        return sum(count_wanted(session, account_id, making, span, now) for span in spans)


def note_success(kernel: Kernel, model: LanguageModel, account_id: str) -> None:
    with kernel.store.write() as session:
        plan = _plan(session, account_id, model)
        if plan.failures or plan.why or plan.try_after:
            plan.failures, plan.why, plan.try_after = 0, "", None


def note_failure(
    kernel: Kernel,
    model: LanguageModel,
    account_id: str,
    failure: LanguageModelFailure,
    renews_at: datetime | None,
) -> datetime:
    """Holds the account's summaries back until the budget renews, else for a growing while;
    returns until when."""
    with kernel.store.write() as session:
        plan = _plan(session, account_id, model)
        pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(plan.failures, 10))
        plan.failures += 1
        plan.why = failure.message
        plan.try_after = renews_at or utcnow() + pause
        return plan.try_after


def has_work(kernel: Kernel, model: LanguageModel, account_id: str) -> bool:
    """Whether the job would find something to do now, or something to offer."""
    return next_conversation(kernel, model, account_id) is not None


def estimate_tokens_of(token_count: int, size: int) -> tuple[int, int]:
    """Tokens in and out for a conversation of `token_count`, in stretches of `size`."""
    parts = math.ceil(token_count * _LABEL_SHARE / size)
    tokens_in = token_count * _LABEL_SHARE + parts * _PROMPT_TOKENS
    tokens_out = parts * PART_SENTENCES * _SENTENCE_TOKENS
    notes = parts * PART_SENTENCES * (_SENTENCE_TOKENS - 15 + NOTE_OVERHEAD_TOKENS)
    while notes > SUMMARY_TOKENS:
        merges = math.ceil(notes / size)
        tokens_in += notes + merges * _PROMPT_TOKENS
        tokens_out += merges * WHOLE_SENTENCES * _SENTENCE_TOKENS
        if merges == 1:
            break
        notes = merges * WHOLE_SENTENCES * _SENTENCE_TOKENS
    return math.ceil(tokens_in * _REPAIRS), math.ceil(tokens_out * _REPAIRS)


def _estimate(
    kernel: Kernel,
    model: LanguageModel,
    session: ReadSession,
    account_id: str,
    span: object,
    now: datetime,
    until: datetime,
) -> Estimate | None:
    if span is None:
        return None
    counts = token_counts(session, account_id, making_of(model), span, now)  # type: ignore[arg-type]
    if not counts:
        return None
    size = max(300, stretch_tokens(model))
    each = [estimate_tokens_of(count, size) for count in counts]
    usage = Usage(sum(pair[0] for pair in each), sum(pair[1] for pair in each), True)
    price = price_of(kernel.settings)
    return Estimate(
        conversations=len(counts),
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        cost_micros=None if price is None else price.cost_micros(usage),
        currency=price.currency if price else kernel.settings.llm_currency,
        until=until,
    )


def _plan(session: WriteSession, account_id: str, model: LanguageModel) -> SummaryPlan:
    """The account's plan for this model; a new one offers everything that is there."""
    lock_account(session, account_id)
    plan = _valid(find_plan_for_update(session, account_id), model)
    return plan or _begin(session, account_id, model, utcnow())


def _begin(
    session: WriteSession, account_id: str, model: LanguageModel, until: datetime
) -> SummaryPlan:
    return session.merge(
        SummaryPlan(
            account_id=account_id,
            model=model.name,
            maker=MAKER,
            offered_until=until,
            accepted_until=None,
            accepted_at=None,
            paused_at=None,
            conversations=0,
            tokens_in=0,
            tokens_out=0,
            cost_micros=None,
            failures=0,
            why="",
            try_after=None,
        )
    )


def _valid(plan: SummaryPlan | None, model: LanguageModel) -> SummaryPlan | None:
    """A plan that was made for another model agreed to other costs."""
    is_same = plan is not None and plan.model == model.name and plan.maker == MAKER
    return plan if is_same else None


def _required(kernel: Kernel) -> LanguageModel:
    model = kernel.language_model
    if model is None:
        raise InvalidInput(
            "No language model is set up.", hint="docs/guides/language-models.md says how."
        )
    return model


def _other_offer() -> Conflict:
    return Conflict(
        "The estimate is another one by now.", hint="Look at it again, then accept that one."
    )
