"""Published sample exports, which cannot be redistributed, import with the counts that are in
them. `BACKREAD_TEST_SAMPLES` names the folder that they lie in, a folder for each platform."""

import os
from pathlib import Path

import pytest

from backread.domain import Principal
from backread.kernel import Kernel
from backread.store.repositories.browsing import ConversationFilter, list_conversations
from tests.ingest.exports import import_files
from tests.samples.expected import EXPECTED, Expected

_FOLDER = os.environ.get("BACKREAD_TEST_SAMPLES", "")
SAMPLES = Path(_FOLDER) if _FOLDER else Path("no-samples")

pytestmark = [
    pytest.mark.samples,
    pytest.mark.skipif(not _FOLDER, reason="BACKREAD_TEST_SAMPLES is not set"),
]


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize("expected", EXPECTED, ids=lambda expected: expected.path)
def test_a_sample_imports_with_the_counts_that_are_in_it(
    expected: Expected, kernel: Kernel, principal: Principal
) -> None:
    report = import_files(kernel, principal, SAMPLES / expected.path)
    totals = report.totals
    assert (totals.found, totals.new, totals.skipped) == (
        expected.found,
        expected.new,
        expected.skipped,
    )
    assert (totals.updated, totals.unchanged, totals.failed) == (0, 0, 0)
    assert sum(report.news.values()) == expected.news
    assert report.platforms == ({expected.platform: expected.found} if expected.platform else {})
    assert report.state == ("readable" if expected.platform else "failed")
    said = [item.reason for item in report.items if item.reason]
    said += [report.error.message] if report.error else []
    assert bool(said) == bool(expected.reason)
    assert all(expected.reason in each for each in said)
    assert len(report.warnings) == bool(expected.warning)
    assert all(expected.warning in each for each in report.warnings)
    with kernel.store.read() as session:
        stored = list_conversations(session, principal, ConversationFilter(), limit=1000)
    assert len(stored) == expected.new
    assert sum(conversation.message_count for conversation in stored) == expected.dialogue


def test_every_sample_has_its_expected_outcome() -> None:
    paths = [each.path for each in EXPECTED]
    files = [
        path.relative_to(SAMPLES).as_posix()
        for path in SAMPLES.rglob("*")
        if path.is_file() and path.name != "NOTE.md"
    ]
    uncovered = [
        file
        for file in files
        if sum(file == path or file.startswith(f"{path}/") for path in paths) != 1
    ]
    assert files
    assert uncovered == []
    assert [path for path in paths if not (SAMPLES / path).exists()] == []


def test_all_samples_at_once_are_imported_once(kernel: Kernel, principal: Principal) -> None:
    folders = sorted(path for path in SAMPLES.iterdir() if path.is_dir())
    first = import_files(kernel, principal, *folders)
    assert first.state == "readable"
    assert first.totals.failed == 0
    assert first.totals.found == sum(each.found for each in EXPECTED)
    again = import_files(kernel, principal, *folders)
    assert again.totals.found == first.totals.found
    assert (again.totals.new, again.totals.updated, again.totals.failed) == (0, 0, 0)
    assert again.messages_new == 0
