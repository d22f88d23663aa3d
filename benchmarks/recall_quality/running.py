"""Asks the product every question of a set."""

import json
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from backread.kernel import Kernel
from benchmarks.recall_quality.ablation import Variant
from benchmarks.recall_quality.data import BenchQuestion, BenchSet
from benchmarks.recall_quality.loading import Loaded
from recall.query import understand
from recall.retrieval import retrieve

_DEPTH = 200  # passages, so that at least ten conversations are among them


@dataclass(frozen=True, slots=True)
class Answers:
    """Per question: turns and sessions, best first, and milliseconds taken."""

    turns: dict[str, list[str]]
    sessions: dict[str, list[str]]
    milliseconds: dict[str, float]

    def write(self, folder: Path, name: str, variant: str) -> None:
        """Run files of the sets' scorer, one a level."""
        slug = variant.replace("+ ", "plus_").replace(" ", "_")
        for level, ranked in (("msg", self.turns), ("session", self.sessions)):
            path = folder / f"{name}.{slug}.{level}.jsonl"
            lines = [
                json.dumps({"qid": qid, "ranked": ids, "ms": round(self.milliseconds[qid], 2)})
                for qid, ids in ranked.items()
            ]
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def run_variant(kernel: Kernel, data: BenchSet, loaded: Loaded, variant: Variant) -> Answers:
    answers = Answers({}, {}, {})
    for question in data.questions:
        started = time.perf_counter()
        turns, sessions = _ask(kernel, loaded, question, variant)
        answers.milliseconds[question.qid] = (time.perf_counter() - started) * 1000
        answers.turns[question.qid] = turns
        answers.sessions[question.qid] = sessions
    return answers


def _ask(
    kernel: Kernel, loaded: Loaded, question: BenchQuestion, variant: Variant
) -> tuple[list[str], list[str]]:
    asked = understand(
        question.text,
        asked_at=question.asked_at or datetime.now(UTC),
        as_of=question.asked_at if variant.as_of else None,
    )
    own = [each for each, name in loaded.session_of.items() if name == question.asked_in_session]
    if not variant.words:
        asked = replace(asked, lexical="")
    found = retrieve(
        kernel,
        loaded.principals[question.conv],
        [asked],
        limit=_DEPTH,
        weights=variant.weights,
        signs=variant.signs,
        leave_out=[own] if own else (),
    )[0]
    turns: list[str] = []
    sessions: list[str] = []
    for passage in found.passages:
        turns.append(loaded.msg_of[passage.message_id])
        sessions.append(loaded.session_of[passage.conversation_id])
    return list(dict.fromkeys(turns)), list(dict.fromkeys(sessions))
