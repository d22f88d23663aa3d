"""Whether recall answers what an archive holds, and says "not found" to what it does not.

    python -m benchmarks.abstention [--seed 7]

240 pairs of questions over an invented archive (`pairs.py`), asked through recall itself. "Right"
means that the sentence that answers is among the statements. The first half of the pairs may be
looked at when thresholds are chosen; the second is for reporting.
"""

import argparse
import tempfile
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from backread.domain import Principal
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.migrate import upgrade
from benchmarks.abstention.pairs import Pair, archive_and_pairs
from benchmarks.written_chats import WrittenChat, keep, new_account
from recall.history import RecallAnswer, RecallQuery, RecallRequest, recall_chat_history

_START = datetime(2024, 1, 8, 18, tzinfo=UTC)
_IN_A_CALL = 15


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=7)
    chats, pairs = archive_and_pairs(parser.parse_args().seed)
    with tempfile.TemporaryDirectory(prefix="backread-abstention-") as home:
        kernel = Kernel(Settings(home=Path(home)))
        upgrade(kernel.store)
        principal = new_account(kernel, "pairs")
        written = [
            WrittenChat(str(number), chat.title, chat.turns, _START + timedelta(days=3 * number))
            for number, chat in enumerate(chats)
        ]
        keep(kernel, principal, written)
        known = _ask(kernel, principal, [each.answerable for each in pairs])
        unknown = _ask(kernel, principal, [each.unanswerable for each in pairs])
        kernel.close()
    half = len(pairs) // 2
    for name, part in (("first half", slice(0, half)), ("second half", slice(half, None))):
        _print(name, pairs[part], known[part], unknown[part])


def _print(
    name: str, pairs: Sequence[Pair], known: Sequence[RecallAnswer], unknown: Sequence[RecallAnswer]
) -> None:
    answered = sum(each.found for each in known) / len(known)
    right = sum(
        any(pair.said == statement.text for statement in each.statements)
        for pair, each in zip(pairs, known, strict=True)
    )
    print(f"{name}: {len(pairs)} pairs")
    print(f"  answerable: answered {answered:.3f}, right sentence {right / len(pairs):.3f}")
    total, abstained = Counter[str](), Counter[str]()
    for pair, each in zip(pairs, unknown, strict=True):
        for kind in (pair.kind, "all"):
            total[kind] += 1
            abstained[kind] += not each.found
    for kind, count in total.items():
        print(f"  unanswerable, {kind}: not found {abstained[kind] / count:.3f} of {count}")


def _ask(kernel: Kernel, principal: Principal, texts: Sequence[str]) -> list[RecallAnswer]:
    answers: list[RecallAnswer] = []
    for start in range(0, len(texts), _IN_A_CALL):
        queries = [RecallQuery(query=text) for text in texts[start : start + _IN_A_CALL]]
        answers += recall_chat_history(kernel, principal, RecallRequest(queries=queries)).answers
    return answers


if __name__ == "__main__":
    main()
