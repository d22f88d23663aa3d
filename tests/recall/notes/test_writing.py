"""Notes against a model: any order of writing, editing, deleting and restoring."""

import threading
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from backread.domain import Principal
from backread.errors import BackreadError, Conflict, InvalidInput, NotFound
from backread.kernel import Kernel
from backread.notes.frontmatter import join, read, write
from backread.store.repositories.notes import revisions_page
from recall.notes import reading, writing
from recall.notes.searching import search_notes
from recall.notes.tree import list_tree
from tests.conftest import new_principal

paths = st.sampled_from(["a.md", "b.md", "work/a.md", "work/deep/c.md"])
bodies = st.text(st.sampled_from("ab\n #x"), max_size=8)
values = st.dictionaries(st.sampled_from("xyz"), st.integers(0, 2), max_size=2)


class NotesMachine(RuleBasedStateMachine):
    """The model: what each path says, and every file's text at each revision; None is deleted."""

    kernel: Kernel
    count = 0

    def __init__(self) -> None:
        super().__init__()
        NotesMachine.count += 1
        email = f"machine-{NotesMachine.count}@example.org"
        self.principal = new_principal(self.kernel.store, email)
        self.history: dict[str, list[tuple[dict[str, Any], str] | None]] = {}

    def _there(self, path: str) -> tuple[dict[str, Any], str] | None:
        return self.history.get(path, [None])[-1]

    def _says(self, path: str, wanted: tuple[dict[str, Any], str]) -> None:
        if self._there(path) != wanted:
            self.history.setdefault(path, []).append(wanted)

    @rule(path=paths, body=bodies, front=values)
    def write(self, path: str, body: str, front: dict[str, Any]) -> None:
        writing.write_note(self.kernel, self.principal, path, body, front)
        self._says(path, (front, body))

    @rule(path=paths, body=bodies, front=values)
    def append(self, path: str, body: str, front: dict[str, Any]) -> None:
        there = self._there(path)
        if there is None:
            with pytest.raises(NotFound):
                writing.edit_note(self.kernel, self.principal, path, body=body, mode="append")
            return
        writing.edit_note(self.kernel, self.principal, path, body=body, values=front, mode="append")
        between = "\n" if there[1] and not there[1].endswith("\n") else ""
        self._says(path, (there[0] | front, there[1] + between + body))

    @rule(path=paths, old=st.text(st.sampled_from("ab"), min_size=1, max_size=2), new=bodies)
    def replace(self, path: str, old: str, new: str) -> None:
        there = self._there(path)
        count = there[1].count(old) if there else 0
        if there:  # overlapping ones count, too
            count = sum(there[1].startswith(old, at) for at in range(len(there[1])))
        change: dict[str, Any] = {"mode": "str_replace", "old": old, "new": new}
        if there is None or count != 1:
            kind = NotFound if there is None else InvalidInput
            with pytest.raises(kind) as raised:
                writing.edit_note(self.kernel, self.principal, path, **change)
            assert there is None or f"{count} times" in str(raised.value)
            return
        writing.edit_note(self.kernel, self.principal, path, **change)
        self._says(path, (there[0], there[1].replace(old, new)))

    @rule(path=paths)
    def delete(self, path: str) -> None:
        if self._there(path) is None:
            with pytest.raises(NotFound):
                writing.delete_note(self.kernel, self.principal, path)
            return
        writing.delete_note(self.kernel, self.principal, path)
        self.history[path].append(None)

    @rule(path=paths, number=st.integers(1, 6) | st.none())
    def restore(self, path: str, number: int | None) -> None:
        versions = self.history.get(path, [])
        wanted: tuple[dict[str, Any], str] | None = None
        if number is None:
            wanted = next((each for each in reversed(versions) if each is not None), None)
        elif number <= len(versions):
            wanted = versions[number - 1]
        if wanted is None:
            with pytest.raises((NotFound, InvalidInput)):
                writing.restore_note(self.kernel, self.principal, path, number=number)
            return
        writing.restore_note(self.kernel, self.principal, path, number=number)
        self._says(path, wanted)

    @rule(path=paths, body=bodies)
    def write_over_what_was_seen_before(self, path: str, body: str) -> None:
        if path not in self.history:
            return
        with self.kernel.store.read() as session:
            note = reading.get_note(session, self.principal, path)
            stale = f"{note.id}-{note.number - 1}"
        with pytest.raises(Conflict):
            writing.write_note(self.kernel, self.principal, path, body, expected=stale)

    @invariant()
    def reads_as_the_model(self) -> None:
        with self.kernel.store.read() as session:
            for path, versions in self.history.items():
                view = reading.note_view(reading.get_note(session, self.principal, path))
                last = next(each for each in reversed(versions) if each is not None)
                assert (view.frontmatter, view.body) == last
                assert view.deleted is (versions[-1] is None)
                found = reading.history(session, self.principal, path)
                texts = [None if each.is_deleted else each.text for each in reversed(found)]
                assert texts == [
                    None if each is None else join(write(each[0]), each[1]) for each in versions
                ]
                assert [each.number for each in found] == list(range(len(versions), 0, -1))
            seqs = [each.seq for each, _ in revisions_page(session, self.principal.account_id, 0)]
            assert seqs == list(range(1, sum(map(len, self.history.values())) + 1))

    @invariant()
    def lists_and_finds_what_is_there(self) -> None:
        there = {path: each[-1] for path, each in self.history.items() if each[-1] is not None}
        assert list_tree(self.kernel, self.principal).files == len(there)
        found = {each.path for each in search_notes(self.kernel, self.principal, "a").results}
        assert found >= {path for path, each in there.items() if each and "a" in each[1]}
        assert found <= set(there)


def test_any_order_of_changes_leaves_what_the_model_says(kernel: Kernel) -> None:
    machine = type("Machine", (NotesMachine,), {"kernel": kernel})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=25,
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_of_many_who_saw_one_version_only_one_changes_it(
    kernel: Kernel, principal: Principal
) -> None:
    note = writing.write_note(kernel, principal, "a.md", "start")
    seen = reading.version_of(note)
    outcomes: list[str] = []

    def change(name: str) -> None:
        try:
            writing.write_note(kernel, principal, "a.md", name, expected=seen)
            outcomes.append(name)
        except Conflict:
            outcomes.append("")

    threads = [threading.Thread(target=change, args=(f"by {each}",)) for each in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    winners = [each for each in outcomes if each]
    assert len(outcomes) == 8
    assert len(winners) == 1
    with kernel.store.read() as session:
        assert reading.get_note(session, principal, "a.md").body == winners[0]


def test_changes_made_at_once_are_all_kept_in_one_order(
    kernel: Kernel, principal: Principal
) -> None:
    problems: list[BackreadError] = []

    def append(name: str) -> None:
        try:
            writing.write_note(kernel, principal, f"{name}.md", "x")
            writing.edit_note(kernel, principal, "all.md", body=name, mode="append")
        except BackreadError as error:
            problems.append(error)

    writing.write_note(kernel, principal, "all.md", "")
    names = [f"n{each}" for each in range(8)]
    threads = [threading.Thread(target=append, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    with kernel.store.read() as session:
        body = reading.get_note(session, principal, "all.md").body
        seqs = [each.seq for each, _ in revisions_page(session, principal.account_id, 0)]
    assert sorted(body.split("\n")) == names
    assert seqs == list(range(1, 18))


def test_a_file_keeps_its_front_matter_as_it_is_written(
    kernel: Kernel, principal: Principal
) -> None:
    text = "---\n# mine\nstatus: 'open'\n---\nbody\n"
    writing.write_file(kernel, principal, "a.md", text)
    note = writing.edit_note(kernel, principal, "a.md", values={"n": 1})
    assert join(note.front, note.body) == "---\n# mine\nstatus: 'open'\nn: 1\n---\nbody\n"
    assert read(note.front) == {"status": "open", "n": 1}
    with pytest.raises(InvalidInput):
        writing.write_file(kernel, principal, "a.md", "---\n[\n---\nx")
