"""Answers in whole sentences, where a language model is configured.

The model gets what retrieval found and nothing else, and each of its sentences is kept only when
the passages it cites support it. Where there is no model, or it fails, is slow, or its budget is
spent, the sentences that were said stand, as without one.
"""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from backread.kernel import Kernel
from recall.found import Found
from recall.summarising.answering import ANSWER_SECONDS, answer_from
from recall.synthesis import Statement, Synthesis

_AT_ONCE = 5
_LEAST_SECONDS = 1.0


def in_words(
    kernel: Kernel,
    account_id: str,
    found: Sequence[Found],
    syntheses: Sequence[Synthesis],
    budgets: Sequence[int],
) -> list[Synthesis]:
    """The syntheses, those that the model could put into words replaced. All queries of a call
    share one time limit. An answer that is "not found" stays so and asks no model; a model that
    finds no answer in the passages makes it "not found"."""
    if kernel.language_model is None:
        return list(syntheses)
    until = time.monotonic() + ANSWER_SECONDS

    def one(number: int) -> Synthesis:
        own, question = syntheses[number], found[number].question
        left = until - time.monotonic()
        if not own.statements or question.is_span or left < _LEAST_SECONDS:
            return own
        said = answer_from(
            kernel,
            account_id,
            question.text,
            found[number].passages,
            max_tokens=budgets[number],
            timeout_seconds=left,
        )
        if said is None:
            return own
        statements = [
            Statement(
                each.text,
                each.passages[0],
                1.0,
                order,
                others=tuple(each.passages[1:]),
                is_worded=True,
            )
            for order, each in enumerate(said)
        ]
        return Synthesis(statements, own.left)

    if len(found) == 1:
        return [one(0)]
    with ThreadPoolExecutor(min(_AT_ONCE, len(found)), "recall-words") as threads:
        return list(threads.map(one, range(len(found))))
