"""Reads one labelled set."""

import gzip
import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

_FORMATS = ("%I:%M %p on %d %B, %Y", "%Y-%m-%d")


@dataclass(frozen=True, slots=True)
class Document:
    """One turn. `msg` and `session` are the set's own ids."""

    conv: str
    session: str
    msg: str
    role: str
    at: datetime | None
    text: str


@dataclass(frozen=True, slots=True)
class BenchQuestion:
    conv: str
    qid: str
    text: str
    gold_msgs: frozenset[str]
    gold_sessions: frozenset[str]
    asked_in_session: str
    asked_at: datetime | None
    kind: str = ""
    answer: str = ""


@dataclass(frozen=True, slots=True)
class BenchSet:
    documents: list[Document]
    questions: list[BenchQuestion]


def read_set(folder: Path, convs: Collection[str] | None = None) -> BenchSet:
    """The set, or those of its histories. Raises FileNotFoundError when the folder holds none."""
    documents = [
        Document(
            conv=row["conv"],
            session=row["session"],
            msg=row["msg"],
            role=row["role"],
            at=_time(row.get("ts")),
            text=row["text"],
        )
        for row in _rows(folder / "docs.jsonl.gz")
    ]
    questions = [
        BenchQuestion(
            conv=row["conv"],
            qid=row["qid"],
            text=row["text"],
            gold_msgs=frozenset(row["gold_msgs"]),
            gold_sessions=frozenset(row["gold_sessions"]),
            asked_in_session=row.get("asked_in_session") or "",
            asked_at=_end_of_day(_time(row.get("asked_at"))),
            kind=row.get("type") or "",
            answer=str(row.get("answer") or ""),
        )
        for row in _rows(folder / "queries.jsonl.gz")
    ]
    if convs is not None:
        documents = [each for each in documents if each.conv in convs]
        questions = [each for each in questions if each.conv in convs]
    return BenchSet(documents, questions)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _end_of_day(moment: datetime | None) -> datetime | None:
    """The sets name the day of a question only: what was said on it may have been said before."""
    return moment and moment + timedelta(days=1, microseconds=-1)


def _time(value: str | None) -> datetime | None:
    text = re.sub(r"\s*\([A-Za-z]+\)$", "", (value or "").strip())
    for pattern in _FORMATS:
        try:
            return datetime.strptime(text, pattern).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None
