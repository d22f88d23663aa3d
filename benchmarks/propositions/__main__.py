"""How near the propositions that are made without a model come to those a reader writes down.

    python -m benchmarks.propositions [--show]

A made and a labelled fact are the same when the F1 of their words is at least .75; each counts
once. The baseline is the text of the record cut into sentences.
"""

import argparse
import re
from collections import Counter
from collections.abc import Callable, Sequence

from benchmarks.propositions.labelled import LABELLED
from recall.folders.propositions import propositions
from recall.sentences import sentences

_SAME = 0.75
Maker = Callable[[str, str], Sequence[str]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="store_true", help="print what was missed and added")
    show = parser.parse_args().show
    made: tuple[tuple[str, Maker], ...] = (
        ("propositions", lambda name, text: [each.text for each in propositions(name, text)]),
        ("sentences", lambda _, text: list(sentences(text))),
    )
    print(f"{len(LABELLED)} records, {sum(len(each.facts) for each in LABELLED)} labelled facts")
    for name, maker in made:
        right = wanted = given = 0
        for each in LABELLED:
            found = maker(each.name, each.content)
            pairs = _matched(each.facts, found)
            right, wanted, given = right + len(pairs), wanted + len(each.facts), given + len(found)
            if show and name == "propositions":
                _print_rest(each.name, each.facts, found, pairs)
        print(f"  {name:<13} precision {right / given:.3f}   recall {right / wanted:.3f}")


def _matched(facts: Sequence[str], found: Sequence[str]) -> list[tuple[int, int]]:
    scored = sorted(
        (
            (_f1(fact, other), row, column)
            for row, fact in enumerate(facts)
            for column, other in enumerate(found)
        ),
        key=lambda each: (-each[0], each[1], each[2]),
    )
    rows, columns, pairs = set(), set(), []
    for score, row, column in scored:
        if score >= _SAME and row not in rows and column not in columns:
            rows.add(row)
            columns.add(column)
            pairs.append((row, column))
    return pairs


def _f1(left: str, right: str) -> float:
    first, second = (Counter(re.findall(r"\w+", each.lower())) for each in (left, right))
    shared = sum((first & second).values())
    return 2 * shared / (sum(first.values()) + sum(second.values())) if shared else 0.0


def _print_rest(
    name: str, facts: Sequence[str], found: Sequence[str], pairs: Sequence[tuple[int, int]]
) -> None:
    rows, columns = {row for row, _ in pairs}, {column for _, column in pairs}
    for number, fact in enumerate(facts):
        if number not in rows:
            print(f"    {name}: missed  {fact}")
    for number, fact in enumerate(found):
        if number not in columns:
            print(f"    {name}: besides {fact}")


if __name__ == "__main__":
    main()
