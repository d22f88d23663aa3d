"""Whether questions that name a time, in eight languages, find what was said then.

    python -m benchmarks.dated_questions [--show]

292 questions over an invented archive. Counted for each language: the days read from the question
are those that are meant (by hand, `meanings.py`); the first passage found is of a chat on the
topic in that time; the time is a filter, not a preference. `--show` prints what was misread.
"""

import argparse
import tempfile
from collections import Counter
from datetime import UTC, datetime, time
from pathlib import Path

from backread.domain import Principal
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.migrate import upgrade
from benchmarks.dated_questions.archive import Chat, chats, written
from benchmarks.dated_questions.meanings import ASKED
from benchmarks.dated_questions.questions import LANGUAGES, DatedQuestion, dated_questions
from benchmarks.written_chats import keep, new_account
from recall.query import understand
from recall.retrieval import retrieve

_ASKED_AT = datetime.combine(ASKED, time(15), UTC)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--show", action="store_true")
    shows = parser.parse_args().show
    print("language   questions   days right   is a filter   chat found first")
    with tempfile.TemporaryDirectory(prefix="backread-dated-") as home:
        kernel = Kernel(Settings(home=Path(home)))
        upgrade(kernel.store)
        for language in LANGUAGES:
            questions = [each for each in dated_questions() if each.language == language]
            principal = new_account(kernel, language)
            made = {str(chat.number): chat for chat in chats(language, questions)}
            ids = keep(kernel, principal, [written(language, chat) for chat in made.values()])
            kept = {identifier: made[key] for identifier, key in ids.items()}
            counts: Counter[str] = Counter()
            for question in questions:
                counts.update(_right(kernel, principal, kept, question, shows=shows))
            shares = [counts[name] / len(questions) for name in ("days", "filter", "chat")]
            print(
                f"{language:8} {len(questions):11} {shares[0]:12.3f} {shares[1]:13.3f} "
                f"{shares[2]:18.3f}",
                flush=True,
            )
        kernel.close()


def _right(
    kernel: Kernel,
    principal: Principal,
    kept: dict[str, Chat],
    question: DatedQuestion,
    *,
    shows: bool,
) -> list[str]:
    asked = understand(question.text, asked_at=_ASKED_AT)
    after, before = asked.time.after, asked.time.before
    found = retrieve(kernel, principal, [asked], limit=5)[0]
    right = []
    if question.meaning.fits(after and after.date(), before and before.date()):
        right.append("days")
    elif shows:
        print(f"  {question.kind}: {question.text} was read as {after} to {before}")
    if asked.is_time_strict:
        right.append("filter")
    if found.passages:
        chat = kept[found.passages[0].conversation_id]
        meaning = question.meaning
        first, last = meaning.from_ or meaning.first, meaning.to or meaning.last
        is_inside = (first is None or first <= chat.on) and (last is None or chat.on <= last)
        if chat.topic == question.topic and is_inside:
            right.append("chat")
        elif shows:
            print(f"  {question.kind}: {question.text} found {chat}")
    return right


if __name__ == "__main__":
    main()
