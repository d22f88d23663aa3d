"""Pages of a search while notes change, and the counts of a tree."""

import random
from contextlib import suppress
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backread.domain import Principal
from backread.errors import NotFound
from backread.kernel import Kernel
from recall.notes import writing
from recall.notes.searching import search_notes
from recall.notes.tree import ENTRIES_PER_FOLDER, MOST_ENTRIES, list_tree
from recall.notes.views import NoteTree
from tests.conftest import new_principal

_accounts = count(1)
_quick = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def somebody(kernel: Kernel) -> Principal:
    return new_principal(kernel.store, f"searcher-{next(_accounts)}@example.org")


@_quick
@given(
    scores=st.lists(st.integers(1, 3), min_size=1, max_size=12),
    limit=st.integers(1, 4),
    seed=st.integers(0, 1000),
)
def test_pages_show_each_note_once_whatever_is_written_between_them(
    kernel: Kernel, scores: list[int], limit: int, seed: int
) -> None:
    principal, dice = somebody(kernel), random.Random(seed)
    for index, score in enumerate(scores):
        writing.write_note(kernel, principal, f"{index:02}.md", "needle " * score)
    expected = search_notes(kernel, principal, "needle", limit=50).results
    shown: list[tuple[str, int]] = []
    cursor = ""
    while True:
        page = search_notes(kernel, principal, "needle", limit=limit, cursor=cursor)
        shown += [(each.path, each.score) for each in page.results]
        if page.next_cursor is None:
            break
        assert len(page.results) == limit
        cursor = page.next_cursor
        for _ in range(dice.randint(0, 3)):
            _change_something(kernel, principal, dice, len(scores))
    assert shown == [(each.path, each.score) for each in expected]


def _change_something(
    kernel: Kernel, principal: Principal, dice: random.Random, count: int
) -> None:
    path = f"{dice.randrange(count + 2):02}.md"
    if dice.random() < 0.3:
        with suppress(NotFound):  # deleted before
            writing.delete_note(kernel, principal, path)
        return
    writing.write_note(kernel, principal, path, "needle " * dice.randint(0, 5))


@_quick
@given(
    st.lists(
        st.lists(st.sampled_from(["a", "b", "work"]), min_size=0, max_size=4).map(
            lambda parts: "/".join([*parts, "n.md"])
        ),
        max_size=12,
        unique=True,
    ),
    st.sampled_from(["", "a", "work", "work/a"]),
    st.integers(1, 2),
)
def test_a_trees_counts_are_those_of_the_paths(
    kernel: Kernel, paths: list[str], folder: str, depth: int
) -> None:
    principal = somebody(kernel)
    for path in paths:
        writing.write_note(kernel, principal, path, "x")
    tree = list_tree(kernel, principal, folder=folder, depth=depth)
    inside = [path for path in paths if path.startswith(f"{folder}/" if folder else "")]
    assert (tree.files, tree.truncated) == (len(inside), False)
    level = len(folder.split("/")) if folder else 0
    _check_level(tree.entries, inside, level, depth)


def _check_level(entries: Any, inside: list[str], level: int, depth: int) -> None:
    folders = sorted(
        {"/".join(path.split("/")[: level + 1]) for path in inside if path.count("/") > level}
    )
    files = sorted(path for path in inside if path.count("/") == level)
    assert [each.path for each in entries if each.type == "folder"] == folders
    assert [each.path for each in entries if each.type == "file"] == files
    for each in entries:
        if each.type != "folder":
            continue
        below = [path for path in inside if path.startswith(f"{each.path}/")]
        assert each.files == len(below)
        shown = getattr(each, "entries", None)
        assert (shown is not None) is (depth > 1)
        if shown is not None:
            _check_level(shown, below, level + 1, depth - 1)


def _entries(tree: NoteTree) -> int:
    return len(tree.entries) + sum(len(each.entries or ()) for each in tree.entries)


@pytest.mark.parametrize("per_folder", [80, 100])
def test_a_whole_answer_has_no_more_than_five_hundred_entries(
    kernel: Kernel, principal: Principal, per_folder: int
) -> None:
    for index in range(7):
        for each in range(per_folder):
            writing.write_note(kernel, principal, f"f{index}/{each:03}.md", "x")
    tree = list_tree(kernel, principal)
    assert per_folder <= ENTRIES_PER_FOLDER
    assert _entries(tree) <= MOST_ENTRIES
    assert tree.truncated is True
    assert [each.files for each in tree.entries] == [per_folder] * 7
    opened = [each for each in tree.entries if each.entries is not None]
    assert len(opened) == (MOST_ENTRIES - 7) // per_folder


def test_letters_that_fold_to_more_than_one_are_found(kernel: Kernel, principal: Principal) -> None:
    writing.write_note(kernel, principal, "a.md", "Die STRASSE und die Straße, İstanbul")
    for query, score in (("straße", 2), ("strasse", 2), ("STRASSE", 2), ("i̇stanbul", 1)):
        (found,) = search_notes(kernel, principal, query).results
        assert (query, found.score) == (query, score)
