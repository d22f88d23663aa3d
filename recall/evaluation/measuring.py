"""Asks an archive the questions that were made from it, and counts."""

import time
from collections.abc import Sequence

from pydantic import Field

from backread.domain import Principal
from backread.errors import InvalidInput
from backread.kernel import Kernel
from recall.dates.window import zone_named
from recall.evaluation.questions import (
    MadeQuestion,
    first_moment,
    made_questions,
    unanswerable_questions,
)
from recall.evidence import weigh
from recall.history import RecallRequest, recall_chat_history
from recall.links import reader_link
from recall.query import understand
from recall.retrieval import Mode, retrieve
from recall.wire import ResultModel

MAX_QUESTIONS = 1000
LEAST_QUESTIONS = 5
_UNANSWERABLE = 20
_DEPTH = 20
_IN_A_CALL = 15
_TIMED = 60
_SHOWN = 10
_MOST_MISSED = 5


class Figures(ResultModel):
    """Shares of `questions` whose message is among the first 1, 5, 10 or 20; `mrr`: the mean of
    one over its place, 0 beyond the tenth. `conversation_at10`: the right chat is."""

    questions: int
    at1: float
    at5: float
    at10: float
    at20: float
    mrr: float
    conversation_at10: float


class Missed(ResultModel):
    """A question whose message was not among the first 10, and where the message is."""

    question: str
    reader_url: str


class Evaluation(ResultModel):
    """How well recall finds things in one archive, measured on it."""

    mode: str
    seed: int
    wanted: int = Field(description="Questions that were asked for; a small archive gives fewer.")
    all: Figures
    plain: Figures
    dated: Figures
    answered: float = Field(description="Share of questions with an answer that got one.")
    unanswerable: int
    not_found: float = Field(description="Share of unanswerable questions told so.")
    milliseconds_p50: float
    milliseconds_p95: float
    missed: list[Missed] = Field(description="Some of the questions that found nothing of theirs.")

    @property
    def text(self) -> str:
        """A table for a terminal, and what its columns mean."""
        head = f"{'questions':<18} {'n':>5} {'R@1':>6} {'R@5':>6} {'R@10':>6} {'R@20':>6}"
        lines = [f"{head} {'MRR':>6} {'chat@10':>8}"]
        for name, some in (
            ("all", self.all),
            ("without a time", self.plain),
            ("dated", self.dated),
        ):
            if some.questions:
                lines.append(
                    f"{name:<18} {some.questions:>5} {some.at1:>6.3f} {some.at5:>6.3f} "
                    f"{some.at10:>6.3f} {some.at20:>6.3f} {some.mrr:>6.3f} "
                    f"{some.conversation_at10:>8.3f}"
                )
        lines += [
            "",
            f"Answered, of questions that have an answer: {self.answered:.3f}",
            f"Told “not found”, of {self.unanswerable} about things never said: "
            f"{self.not_found:.3f}",
            f"One recall takes {self.milliseconds_p50:.0f} ms (median), "
            f"{self.milliseconds_p95:.0f} ms (95 of 100 are faster); mode {self.mode}.",
            "",
            "Each question names some words of a sentence that you wrote. R@5 is the share whose",
            "message was among the first 5 found, chat@10 the share whose conversation was among",
            "the first 10. MRR is 1 when the message always comes first, .5 when always second.",
        ]
        if self.all.questions < self.wanted:
            lines.append(f"Your chats gave {self.all.questions} of {self.wanted} questions.")
        if self.missed:
            lines += ["", "Not among the first 10, for example:"]
            lines += [f"  {each.question}\n    {each.reader_url}" for each in self.missed]
        return "\n".join(lines)


def evaluate(
    kernel: Kernel,
    principal: Principal,
    *,
    questions: int = 100,
    seed: int = 1,
    mode: Mode = "speed",
) -> Evaluation:
    """Reads the archive and changes nothing. Raises InvalidInput when it holds too little to make
    questions from, or for a number of questions out of range."""
    if not LEAST_QUESTIONS <= questions <= MAX_QUESTIONS:
        raise InvalidInput(
            f"The number of questions is {questions}; {LEAST_QUESTIONS} to {MAX_QUESTIONS} are "
            "allowed."
        )
    zone = zone_named(principal.timezone)
    with kernel.store.read() as session:
        account_id = principal.account_id
        made = made_questions(session, account_id, count=questions, seed=seed, zone=zone)
        absent = unanswerable_questions(session, account_id, count=_UNANSWERABLE, seed=seed)
    if len(made) < LEAST_QUESTIONS:
        raise InvalidInput(
            "The archive holds too little to make questions from.",
            hint="Import chats with at least a few dozen messages of your own, then try again.",
        )
    ranks, chats, answered = _ranks(kernel, principal, made, mode)
    _, _, told = _ranks(kernel, principal, absent, mode)
    p50, p95 = _milliseconds(kernel, principal, made[:_TIMED], mode)
    dated = [n for n, each in enumerate(made) if each.is_dated]
    plain = [n for n, each in enumerate(made) if not each.is_dated]
    return Evaluation(
        mode=mode,
        seed=seed,
        wanted=questions,
        all=_figures(ranks, chats, range(len(made))),
        plain=_figures(ranks, chats, plain),
        dated=_figures(ranks, chats, dated),
        answered=_mean(answered),
        unanswerable=len(absent),
        not_found=1 - _mean(told) if absent else 0.0,
        milliseconds_p50=p50,
        milliseconds_p95=p95,
        missed=[
            Missed(
                question=each.text,
                reader_url=reader_link(
                    kernel.settings.origin, each.source.conversation_id, each.source.message_id
                ),
            )
            for each, rank in zip(made, ranks, strict=True)
            if each.source is not None and not 0 < rank <= _SHOWN
        ][:_MOST_MISSED],
    )


def _ranks(
    kernel: Kernel, principal: Principal, made: Sequence[MadeQuestion], mode: Mode
) -> tuple[list[int], list[int], list[float]]:
    """For each question the place of its message and of its conversation, 0 for none, and whether
    it would be answered."""
    asked_at = first_moment(made)
    ranks, chats, answered = [], [], []
    for start in range(0, len(made), _IN_A_CALL):
        some = made[start : start + _IN_A_CALL]
        asked = [understand(each.text, asked_at=asked_at, zone=principal.timezone) for each in some]
        found = retrieve(kernel, principal, asked, limit=_DEPTH, mode=mode)
        for each, one in zip(some, found, strict=True):
            answered.append(float(weigh(one).is_enough))
            messages = list(dict.fromkeys(passage.message_id for passage in one.passages))
            conversations = list(dict.fromkeys(p.conversation_id for p in one.passages))
            source = each.source
            ranks.append(_place(messages, source.message_id if source else ""))
            chats.append(_place(conversations, source.conversation_id if source else ""))
    return ranks, chats, answered


def _place(listed: Sequence[str], wanted: str) -> int:
    return listed.index(wanted) + 1 if wanted in listed else 0


def _figures(ranks: Sequence[int], chats: Sequence[int], which: Sequence[int]) -> Figures:
    own = [ranks[n] for n in which]

    def within(most: int) -> float:
        return _mean([float(0 < rank <= most) for rank in own])

    return Figures(
        questions=len(own),
        at1=within(1),
        at5=within(5),
        at10=within(10),
        at20=within(20),
        mrr=_mean([1 / rank if 0 < rank <= 10 else 0.0 for rank in own]),
        conversation_at10=_mean([float(0 < chats[n] <= 10) for n in which]),
    )


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 4) if values else 0.0


def _milliseconds(
    kernel: Kernel, principal: Principal, made: Sequence[MadeQuestion], mode: Mode
) -> tuple[float, float]:
    taken = []
    for each in made:
        started = time.perf_counter()
        recall_chat_history(kernel, principal, RecallRequest(query=each.text, mode=mode))
        taken.append((time.perf_counter() - started) * 1000)
    taken.sort()
    last = len(taken) - 1
    return round(taken[last // 2], 2), round(taken[round(last * 0.95)], 2)
