"""Notes by meaning and words; with the deterministic embedder, which compares spelling."""

import pytest

from backread.domain import Principal
from backread.errors import InvalidInput
from backread.jobs import run_pending
from backread.kernel import Kernel
from ingest import indexing  # noqa: F401 - its jobs
from recall.notes import writing
from recall.notes.meaning import related_notes, similar_notes


@pytest.fixture
def filled(kernel: Kernel, principal: Principal) -> Kernel:
    long = "\n\n".join(f"Paragraph {index} about nothing much." for index in range(200))
    writing.write_note(kernel, principal, "garden/soil.md", "# Soil\n\nloam for tomatoes #beds")
    writing.write_note(kernel, principal, "long.md", f"{long}\n\nGreenhouse thermostat settings.")
    writing.write_note(kernel, principal, "gardening.md", "tomatoes in pots")
    run_pending(kernel)
    return kernel


def test_a_note_is_found_by_any_of_its_passages_once(filled: Kernel, principal: Principal) -> None:
    found = similar_notes(filled, principal, "where are the thermostat settings?").results
    assert found[0].path == "long.md"
    assert "thermostat" in found[0].snippet
    assert len({each.path for each in found}) == len(found)


def test_folder_tags_and_limit_narrow_it(filled: Kernel, principal: Principal) -> None:
    def paths(**more: object) -> list[str]:
        found = similar_notes(filled, principal, "tomatoes", **more)  # type: ignore[arg-type]
        return [each.path for each in found.results]

    assert set(paths()) >= {"garden/soil.md", "gardening.md"}
    assert paths(folder="garden") == ["garden/soil.md"]
    assert paths(tags=["beds"]) == ["garden/soil.md"]
    assert len(paths(limit=1)) == 1
    for wrong in ({"limit": 0}, {"limit": 51}, {"tags": ["x"] * 51}):
        with pytest.raises(InvalidInput):
            paths(**wrong)
    with pytest.raises(InvalidInput):
        similar_notes(filled, principal, " ")


def test_changed_deleted_and_purged_notes_are_not_found_by_what_they_said(
    filled: Kernel, principal: Principal, stranger: Principal
) -> None:
    writing.write_note(filled, principal, "gardening.md", "herbs")
    writing.delete_note(filled, principal, "garden/soil.md")
    assert similar_notes(filled, principal, "tomatoes in pots").results == []  # before any job
    run_pending(filled)
    writing.purge_note(filled, principal, "garden/soil.md")
    run_pending(filled)
    assert [each.path for each in similar_notes(filled, principal, "herbs").results] == [
        "gardening.md"
    ]
    assert similar_notes(filled, stranger, "herbs").results == []


def test_a_search_of_everything_finds_a_new_note_at_once(
    kernel: Kernel, principal: Principal
) -> None:
    writing.write_note(kernel, principal, "new.md", "the word barnacle")
    assert [each.path for each in related_notes(kernel, principal, "Barnacle", limit=3)] == [
        "new.md"
    ]
