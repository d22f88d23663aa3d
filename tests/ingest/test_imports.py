"""Imports from the door to the report, over every container."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from backread.domain import Principal
from backread.errors import NotFound
from backread.jobs import JobCancelled, Progress, run_pending
from backread.kernel import Kernel
from backread.store.models import (
    Conversation,
    ImportItem,
    Job,
    Message,
)
from ingest.accept import RUN_JOB
from ingest.controls import cancel_import
from ingest.indexing import EMBED_PASSAGES
from ingest.report import list_reports, read_report
from tests.ingest.exports import (
    NOON,
    as_json,
    as_zip,
    assert_adds_up,
    chatgpt,
    chatgpt_message,
    claude,
    claude_message,
    import_files,
    queue_import,
    write,
)
from tests.ingest.stored import assert_sound, count_rows, stored_texts
from tests.support import waiting_jobs

FIXTURES = Path(__file__).parents[1] / "fixtures" / "exports"


def test_a_bare_json_file_is_imported_with_a_report(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    report = import_files(kernel, principal, write(tmp_path / "any name", [chatgpt()]))
    assert report.state == "readable"
    assert report.totals.new == 1
    assert report.messages_new == 2
    assert report.platforms == {"chatgpt": 1}
    assert report.dates.earliest is not None
    assert report.dates.earliest.year == 2024
    assert report.bytes_done == report.bytes_total > 0
    assert report.items[0].title == "Swifts"
    assert stored_texts(kernel, principal) == ["When do swifts leave?", "At the end of July."]
    assert_sound(kernel, principal)


def test_a_single_conversation_and_lines_of_them_are_imported(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    one = write(tmp_path / "one.json", chatgpt("one"))
    lines = write(tmp_path / "lines.jsonl", as_json(claude("a")) + b"\n" + as_json(claude("b")))
    report = import_files(kernel, principal, one, lines)
    assert report.platforms == {"chatgpt": 1, "claude_ai": 2}


def test_a_chosen_file_without_chats_is_told_but_notes_in_a_folder_are_not(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    folder = tmp_path / "export"
    one = write(folder / "one.json", chatgpt("one"))
    note = write(folder / "notes.md", b"Nothing that was said in a chat.")
    page = write(folder / "chat.html", b"<html></html>")
    assert import_files(kernel, principal, folder).warnings == []
    report = import_files(kernel, principal, one, note, page)
    (warning,) = report.warnings
    assert warning.startswith("notes.md was not imported.")
    assert report.totals.unchanged == 1


def test_the_old_chatgpt_zip_is_imported(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    members = {
        "conversations.json": [chatgpt("a"), chatgpt("b")],
        "user.json": {"id": "u", "email": "ada@example.org"},
        "message_feedback.json": [{"conversation_id": "a", "rating": "thumbsUp"}],
        "shared_conversations.json": [{"conversation_id": "a", "is_anonymous": True}],
        "model_comparisons.json": [],
        "chat.html": b"<html></html>",
    }
    report = import_files(kernel, principal, as_zip(members, tmp_path / "renamed.bin"))
    assert (report.totals.new, report.totals.failed) == (2, 0)
    assert report.warnings == []


def test_the_sharded_chatgpt_zip_is_imported_and_a_missing_shard_is_told(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_77"}
    turn = chatgpt_message("user", "")
    turn["content"] = {"content_type": "multimodal_text", "parts": [picture, "See?"]}
    shards = ["conversations-000.json", "conversations-001.json", "conversations-002.json"]
    members = {
        "export_manifest.json": {
            "version": 1,
            "export_files": [{"path": name, "size_bytes": 1} for name in shards],
            "logical_files": {"conversations.json": {"files": shards, "sharded": True}},
        },
        "conversations-000.json": [chatgpt("a", (turn, "Yes."))],
        "conversations-001.json": [chatgpt("b")],
        "conversation_asset_file_names.json": {"file_77.dat": "plan.png"},
        "user_settings.json": {"x": 1},
        "file_77.dat": b"\x89PNG",
    }
    report = import_files(kernel, principal, as_zip(members, tmp_path / "export.zip"))
    assert report.totals.new == 2
    assert len(report.warnings) == 1
    assert "conversations-002.json" in report.warnings[0]
    with kernel.store.read() as session:
        named = session.scalars(select(Message.attachments).where(Message.text == "See?")).one()
    assert named[0]["name"] == "plan.png"


def test_parts_chosen_together_complete_each_other(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    shards = ["conversations-000.json", "conversations-001.json"]
    manifest = {
        "export_files": [],
        "logical_files": {"conversations.json": {"files": shards}},
    }
    first = as_zip(
        {"export_manifest.json": manifest, shards[0]: [chatgpt("a")]}, tmp_path / "1.zip"
    )
    second = write(tmp_path / shards[1], [chatgpt("b")])
    report = import_files(kernel, principal, first, second)
    assert report.totals.new == 2
    assert report.warnings == []


@pytest.mark.parametrize("form", ["zip", "folder"])
def test_every_claude_generation_is_imported(
    kernel: Kernel, principal: Principal, tmp_path: Path, form: str
) -> None:
    generations: list[dict[str, Any]] = [
        {
            "conversations.json": [claude("flat")],
            "users.json": [{"uuid": "u", "full_name": "Ada", "email_address": "a@example.org"}],
            "projects.json": [{"uuid": "p", "name": "Pots", "docs": [], "prompt_template": ""}],
            "memories.json": [{"account_uuid": "u", "conversations_memory": "Likes clay."}],
        },
        {
            "design_chats/d.json": {
                "uuid": "design",
                "title": "Poster",
                "messages": [
                    {"uuid": "d0", "role": "user", "content": {"kind": "chat", "content": "Red."}}
                ],
            },
            "projects/p.json": {"uuid": "p", "docs": [], "prompt_template": ""},
        },
        {"conversations.json": [claude("alone in its zip")]},
    ]
    paths = []
    for number, members in enumerate(generations):
        if form == "zip":
            paths.append(as_zip(members, tmp_path / f"{number}.zip"))
            continue
        for name, content in members.items():
            write(tmp_path / str(number) / name, content)
        paths.append(tmp_path / str(number))
    report = import_files(kernel, principal, *paths)
    assert report.platforms == {"claude_ai": 3}
    assert report.totals.new == 3
    assert report.memories_found == 1
    assert report.warnings == []


def test_a_folder_of_downloaded_zips_is_imported(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    folder = tmp_path / "Downloads"
    folder.mkdir()
    as_zip({"conversations.json": [claude("a")]}, folder / "conversations-000.zip")
    as_zip({"conversations.json": [claude("b")]}, folder / "conversations-001.zip")
    (folder / "secret.json").symlink_to(write(tmp_path / "outside.json", [claude("outside")]))
    (folder / "cat.jpg").write_bytes(b"\xff\xd8\xff")
    report = import_files(kernel, principal, folder)
    assert report.totals.new == 2


def test_fixtures_of_both_platforms_are_imported_and_hold_together(
    kernel: Kernel, principal: Principal
) -> None:
    paths = sorted(FIXTURES.glob("*/many_shapes.json"))
    report = import_files(kernel, principal, *paths)
    assert report.platforms == {"chatgpt": 2, "claude_ai": 3}
    assert (report.totals.new, report.totals.skipped) == (4, 1)
    assert [item.reason for item in report.items if item.outcome == "skipped"] == [
        "It has no messages."
    ]
    assert_sound(kernel, principal)


def test_accounts_share_nothing(
    kernel: Kernel, principal: Principal, stranger: Principal, tmp_path: Path
) -> None:
    path = write(tmp_path / "c.json", [chatgpt()])
    mine = import_files(kernel, principal, path)
    theirs = import_files(kernel, stranger, path)
    assert (mine.totals.new, theirs.totals.new) == (1, 1)
    with kernel.store.read() as session:
        with pytest.raises(NotFound):
            read_report(session, stranger, mine.id)
        assert [report.id for report in list_reports(session, stranger)] == [theirs.id]
    assert mine.items[0].conversation_id != theirs.items[0].conversation_id


def test_unknown_shapes_are_in_the_report(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    message = claude_message("m", "assistant", "", content=[{"type": "hologram"}])
    raw = [claude("a", ("hello", message)), claude("b", ("hello", message | {"uuid": "n"}))]
    report = import_files(kernel, principal, write(tmp_path / "c.json", raw))
    assert report.news == {"block:hologram": 2}


def test_uploaded_copies_are_removed_at_the_end_and_a_persons_own_files_never(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    uploaded = write(kernel.settings.uploads_dir / "u.json", [chatgpt("a")])
    wrong = write(kernel.settings.uploads_dir / "w.json", b"nonsense")
    own = write(tmp_path / "own.json", [chatgpt("b")])
    import_files(kernel, principal, uploaded, own, owns_files=True)
    import_files(kernel, principal, wrong, owns_files=True)
    assert not uploaded.exists()
    assert not wrong.exists()
    assert own.exists()


def test_an_import_that_waits_can_be_called_off(
    kernel: Kernel, principal: Principal, stranger: Principal, tmp_path: Path
) -> None:
    path = write(tmp_path / "c.json", [chatgpt()])
    import_id = queue_import(kernel, principal, path)
    with kernel.store.write() as session, pytest.raises(NotFound):
        cancel_import(session, stranger, import_id)
    with kernel.store.write() as session:
        assert cancel_import(session, principal, import_id) == "cancelled"
    run_pending(kernel, names=[RUN_JOB])
    with kernel.store.read() as session:
        assert read_report(session, principal, import_id).state == "cancelled"
    assert count_rows(kernel, Conversation) == 0


def test_uploads_of_an_import_that_is_called_off_before_it_began_are_removed(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    uploaded = write(kernel.settings.uploads_dir / "u.json", [chatgpt("a")])
    own = write(tmp_path / "own.json", [chatgpt("b")])
    for path, owns_files in ((uploaded, True), (own, False)):
        import_id = queue_import(kernel, principal, path, owns_files=owns_files)
        with kernel.store.write() as session:
            assert cancel_import(session, principal, import_id) == "cancelled"
    assert not uploaded.exists()
    assert own.exists()


def test_an_import_that_runs_can_be_called_off_and_says_so(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    path = write(tmp_path / "c.json", [chatgpt(f"c{n}") for n in range(450)])
    import_id = queue_import(kernel, principal, path)

    def call_off(progress: Progress) -> None:
        with kernel.store.read() as session:
            if read_report(session, principal, import_id).totals.new:
                raise JobCancelled

    run_pending(kernel, names=[RUN_JOB], on_progress=call_off)
    with kernel.store.read() as session:
        report = read_report(session, principal, import_id)
    assert report.state == "cancelled"
    assert report.error is not None
    assert 0 < report.totals.new < 450
    assert_adds_up(report)
    assert_sound(kernel, principal)
    with kernel.store.read() as session:  # what is kept of it is to be found by meaning, too
        assert waiting_jobs(session, EMBED_PASSAGES)


def test_vectors_are_asked_for_after_the_import(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    import_files(kernel, principal, write(tmp_path / "c.json", [chatgpt()]))
    with kernel.store.read() as session:
        names = set(session.scalars(select(Job.name).where(Job.state == "queued")))
    assert "ingest.embed_passages" in names


def test_many_small_batches_come_to_the_same_as_one(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    raw = [chatgpt(f"c{n}", ("Question", f"Answer {n}")) for n in range(450)]
    report = import_files(kernel, principal, as_zip({"c.json": raw}, tmp_path / "c.zip"))
    assert report.totals.new == 450
    assert count_rows(kernel, Message) == 900
    assert count_rows(kernel, ImportItem) == 450


def test_times_are_the_platforms_and_never_the_imports(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    timeless = chatgpt("b", [chatgpt_message("user", "When?", at=None)])
    timeless |= {"create_time": None, "update_time": None}
    import_files(kernel, principal, write(tmp_path / "c.json", [chatgpt("a"), timeless]))
    with kernel.store.read() as session:
        dated = session.scalars(select(Conversation).where(Conversation.external_id == "a")).one()
        undated = session.scalars(select(Conversation).where(Conversation.external_id == "b")).one()
    assert dated.first_message_at is not None
    assert dated.first_message_at.timestamp() == NOON
    assert dated.last_message_at is not None
    assert dated.last_message_at.timestamp() == NOON + 60
    assert undated.first_message_at is None
    assert undated.last_message_at is None
