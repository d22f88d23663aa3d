"""What of the expected answer the synthesis holds, and whether its citations are right."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from backread.kernel import Kernel
from backread.llm.counting import count_tokens
from backread.store.repositories.messages import shown_line
from benchmarks.recall_quality.data import BenchQuestion, BenchSet
from benchmarks.recall_quality.loading import Loaded
from recall.history import RecallAnswer, RecallRequest, recall_chat_history
from recall.sentences import stems

_BUDGETS = (600, 2000)
_REPEATS = 0.6  # share of stems from which two statements say the same


@dataclass(frozen=True, slots=True)
class _Measured:
    found: float
    coverage: float
    cited: float
    gold: float
    repeated: float
    tokens: float
    seconds: float


def print_synthesis(kernel: Kernel, data: BenchSet, loaded: Loaded, most: int) -> None:
    """For each budget: share answered; share of the expected answer's words that the answer holds;
    statements that stand word for word in the message they cite; statements from a conversation
    with evidence; statements that repeat another; tokens by the model's tokenizer, as a share of
    the budget (mean and largest)."""
    step = max(1, len(data.questions) // most)
    asked = [each for each in data.questions[::step] if each.answer]
    print(
        f"\n{len(asked)} questions  answered  coverage  verbatim  from gold  repeated  tokens  most"
    )
    for budget in _BUDGETS:
        rows = [_measure(kernel, loaded, each, budget) for each in asked]
        answered = [each for each in rows if each.found]
        print(
            f"{budget:8} tokens  {_mean(rows, 'found'):8.3f}  {_mean(rows, 'coverage'):8.3f}  "
            f"{_mean(answered, 'cited'):8.3f}  {_mean(answered, 'gold'):9.3f}  "
            f"{_mean(answered, 'repeated'):8.3f}  {_mean(answered, 'tokens'):6.3f}  "
            f"{max(each.tokens for each in rows):.3f}",
            flush=True,
        )


def _mean(rows: Sequence[_Measured], name: str) -> float:
    return statistics.mean(getattr(each, name) for each in rows) if rows else 0.0


def _measure(kernel: Kernel, loaded: Loaded, question: BenchQuestion, budget: int) -> _Measured:
    principal = loaded.principals[question.conv]
    asked_at = question.asked_at
    if asked_at is not None:
        asked_at -= timedelta(days=1)  # before the conversation that it is asked in
    request = RecallRequest(query=question.text[:4000], max_tokens=budget, asked_at=asked_at)
    started = datetime.now(UTC)
    answer = recall_chat_history(kernel, principal, request).answers[0]
    seconds = (datetime.now(UTC) - started).total_seconds()
    wanted = set(stems(question.answer))
    held = set(stems(" ".join(f"{each.text} {_day(each.date)}" for each in answer.statements)))
    texts = _texts(kernel, principal.account_id, answer)
    count = len(answer.statements) or 1
    return _Measured(
        found=float(answer.found),
        coverage=len(wanted & held) / len(wanted) if wanted else 1.0,
        cited=sum(each.text in texts.get(each.message_id, "") for each in answer.statements)
        / count,
        gold=sum(
            loaded.session_of[each.conversation_id] in question.gold_sessions
            for each in answer.statements
        )
        / count,
        repeated=_repeated([frozenset(stems(each.text)) for each in answer.statements]) / count,
        tokens=count_tokens(answer.summary) / budget,
        seconds=seconds,
    )


def _day(moment: datetime | None) -> str:
    return f"{moment.day} {moment:%B %Y}" if moment else ""


def _texts(kernel: Kernel, account_id: str, answer: RecallAnswer) -> dict[str, str]:
    """The cited messages, on one line each and without Markdown's emphasis."""
    texts: dict[str, str] = {}
    with kernel.store.read() as session:
        for conversation_id in {each.conversation_id for each in answer.statements}:
            for message in shown_line(session, account_id, conversation_id):
                texts[message.id] = " ".join(message.text.replace("*", "").split())
    return texts


def _repeated(statements: Sequence[frozenset[str]]) -> int:
    return sum(
        any(
            len(each & other) >= _REPEATS * len(each | other)
            for other in statements[:number]
            if each | other
        )
        for number, each in enumerate(statements)
    )
