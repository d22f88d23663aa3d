"""Notes to git and back: nothing of them or of their history is lost."""

import shutil
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from dulwich import porcelain
from dulwich.repo import Repo
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from backread.domain import Principal
from backread.errors import BackreadError, Conflict
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.models import Note
from backread.store.repositories import notes as store
from recall.notes import writing
from recall.notes.files.exporting import export_notes
from recall.notes.files.importing import import_notes
from tests.conftest import new_principal

_numbers = count(1)
paths = st.sampled_from(["a.md", "work/b.md", "work/deep/c.md", "Ä 日.md", "work.md"])
bodies = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=30)
fronts = st.dictionaries(st.sampled_from("xyz"), st.integers() | st.booleans(), max_size=2)
steps = st.lists(
    st.tuples(
        st.sampled_from(["write", "write", "append", "delete", "restore"]), paths, bodies, fronts
    ),
    min_size=1,
    max_size=12,
)


def somebody(kernel: Kernel, client: str | None = None) -> Principal:
    principal = new_principal(kernel.store, f"traveller-{next(_numbers)}@example.org")
    return Principal(principal.account_id, principal.scopes, client_id=client)


def carry_out(kernel: Kernel, principal: Principal, wanted: Any) -> None:
    for kind, path, body, front in wanted:
        try:
            if kind == "write":
                writing.write_note(kernel, principal, path, body, _small(front))
            elif kind == "append":
                writing.edit_note(kernel, principal, path, body=body, mode="append")
            elif kind == "delete":
                writing.delete_note(kernel, principal, path)
            else:
                writing.restore_note(kernel, principal, path, number=1)
        except BackreadError:
            pass  # no such note there and then


def _small(front: dict[str, Any]) -> dict[str, Any]:
    return {key: value % 2**60 for key, value in front.items()}


def everything(kernel: Kernel, principal: Principal) -> list[tuple[Any, ...]]:
    with kernel.store.read() as session:
        return [
            (
                path,
                each.number,
                each.seq,
                each.kind,
                each.front,
                each.body,
                each.is_deleted,
                each.client_id,
                each.author,
                each.made_at,
            )
            for each, path in store.revisions_page(session, principal.account_id, 0)
        ]


def present(kernel: Kernel, principal: Principal) -> dict[str, tuple[Any, ...]]:
    with kernel.store.read() as session:
        return {
            note.path: (note.title, note.tags, note.created_at, note.updated_at, note.deleted_at)
            for note in session.scalars(select(Note).where(Note.account_id == principal.account_id))
        }


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps, st.sampled_from([None, "brc_client"]))
def test_notes_and_their_history_come_back_as_they_were(
    kernel: Kernel, tmp_path: Path, wanted: Any, client: str | None
) -> None:
    one, other = somebody(kernel, client), somebody(kernel)
    carry_out(kernel, one, wanted)
    target = tmp_path / f"repo-{next(_numbers)}"
    exported = export_notes(kernel, one, target)
    history = everything(kernel, one)
    assert exported.commits == len(history)
    report = import_notes(kernel, other, target)
    assert everything(kernel, other) == history
    assert present(kernel, other) == present(kernel, one)
    assert report.revisions == len(history)
    assert report.found == sum(report.counts.values()) == len(present(kernel, one))
    assert set(report.counts) <= {"new"}
    again = import_notes(kernel, other, target)
    assert everything(kernel, other) == history
    assert set(again.counts) <= {"unchanged"}
    shutil.rmtree(target)


def test_each_revision_is_a_commit_of_who_made_it_with_a_clean_working_tree(
    kernel: Kernel, tmp_path: Path, principal: Principal
) -> None:
    writing.write_note(kernel, principal, "work/a.md", "one", {"tags": ["x"]})
    client = Principal(principal.account_id, client_id="brc_someclient")
    writing.edit_note(kernel, client, "work/a.md", body="two", mode="append")
    writing.write_note(kernel, principal, "b.md", "b")
    writing.delete_note(kernel, principal, "b.md")
    export_notes(kernel, principal, tmp_path / "repo")
    with Repo(str(tmp_path / "repo")) as repo:
        commits = [entry.commit for entry in repo.get_walker()]
        assert [each.message.decode().splitlines()[0] for each in commits] == [
            "Delete b.md",
            "Write b.md",
            "Edit work/a.md",
            "Write work/a.md",
        ]
        assert commits[0].author == b"ada <ada@example.org>"
        assert commits[2].author == b"brc_someclient <brc_someclient@client.backread.invalid>"
        status = porcelain.status(repo)
        assert not any(status.staged.values())
        assert not status.unstaged
        assert not status.untracked
    assert (tmp_path / "repo/work/a.md").read_text() == "---\ntags:\n  - x\n---\none\ntwo"
    assert not (tmp_path / "repo/b.md").exists()
    with pytest.raises(Conflict):
        export_notes(kernel, principal, tmp_path / "repo")


def test_another_repositorys_history_is_taken_for_the_notes_that_it_has_now(
    kernel: Kernel, tmp_path: Path, principal: Principal
) -> None:
    folder = tmp_path / "vault"
    repo = porcelain.init(str(folder))
    for text, moment in (("one", 1_600_000_000), ("two", 1_700_000_000)):
        (folder / "a.md").write_text(text)
        (folder / f"{text}.md").write_text("gone")
        porcelain.add(repo, [str(folder / "a.md"), str(folder / f"{text}.md")])
        porcelain.commit(
            repo,
            message=f"say {text}".encode(),
            author=b"Grace <grace@example.org>",
            committer=b"Grace <grace@example.org>",
            author_timestamp=moment,
            commit_timestamp=moment,
        )
    (folder / "one.md").unlink()
    repo.close()
    (folder / "a.md").write_text("three")
    report = import_notes(kernel, principal, folder)
    assert report.counts == {"new": 2}
    found = [each for each in everything(kernel, principal) if each[0] == "a.md"]
    assert [each[5] for each in found] == ["one", "two", "three"]
    assert [each[8] for each in found] == ["Grace", "Grace", ""]
    assert found[0][9].year == 2020
    assert utcnow() - found[2][9] < timedelta(minutes=5)


def test_history_of_notes_that_are_here_is_not_written_over(
    kernel: Kernel, tmp_path: Path, principal: Principal
) -> None:
    writing.write_note(kernel, principal, "a.md", "one")
    export_notes(kernel, principal, tmp_path / "repo")
    writing.write_note(kernel, principal, "a.md", "mine")
    report = import_notes(kernel, principal, tmp_path / "repo")
    assert report.counts == {"updated": 1}
    assert [each[5] for each in everything(kernel, principal)] == ["one", "mine", "one"]
