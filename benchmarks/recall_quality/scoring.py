"""Recall and reciprocal rank, as the sets' own scorer counts them."""

import statistics
from collections.abc import Sequence

from benchmarks.recall_quality.data import BenchQuestion
from benchmarks.recall_quality.running import Answers


def by_kind(questions: Sequence[BenchQuestion], answers: Answers) -> list[str]:
    """R@10 of turns (sessions where a set has no gold turns) for each kind of question."""
    kinds: dict[str, list[float]] = {}
    for question in questions:
        if question.gold_msgs:
            row = figures(question.gold_msgs, answers.turns[question.qid])
        elif question.gold_sessions:
            row = figures(question.gold_sessions, answers.sessions[question.qid])
        else:
            continue
        kinds.setdefault(question.kind, []).append(row[1])
    return [
        f"  {kind:26s} {statistics.mean(some):.3f}  n {len(some)}"
        for kind, some in sorted(kinds.items())
    ]


def score(questions: Sequence[BenchQuestion], answers: Answers) -> str:
    """One line of figures. Questions without gold are left out."""
    turns = [
        figures(question.gold_msgs, answers.turns[question.qid])
        for question in questions
        if question.gold_msgs
    ]
    sessions = [
        figures(question.gold_sessions, answers.sessions[question.qid])
        for question in questions
        if question.gold_sessions
    ]
    milliseconds = sorted(answers.milliseconds.values())
    p50 = milliseconds[len(milliseconds) // 2]
    p95 = milliseconds[int(len(milliseconds) * 0.95)]
    return f"     {_means(turns)} |        {_means(sessions)} | {p50:6.1f} {p95:6.1f}"


def figures(gold: frozenset[str], ranked: Sequence[str]) -> tuple[float, ...]:
    """R@5, R@10, MRR@10 and whether the first ten hold all gold, of one question."""
    first = next((place for place, each in enumerate(ranked[:10], start=1) if each in gold), 0)
    return (
        len(gold & set(ranked[:5])) / len(gold),
        len(gold & set(ranked[:10])) / len(gold),
        1 / first if first else 0.0,
        float(gold <= set(ranked[:10])),
    )


def _means(rows: Sequence[tuple[float, ...]]) -> str:
    if not rows:
        return "   –      –      –      –  "
    return "  ".join(f"{statistics.mean(column):.3f}" for column in zip(*rows, strict=True))
