"""Everything that Backread keeps can leave it in one file, and comes back whole elsewhere."""

import io
import json
import random
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from backread.domain import Principal
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.models import (
    Bucket,
    Capture,
    Conversation,
    Document,
    Memory,
    Message,
    SuggestedMemory,
    Tombstone,
)
from ingest.own_archive.form import body_of
from ingest.own_archive.writing import ArchiveWriter
from ingest.rebuild import rebuild_account
from recall.memories import Source, memories_and_buckets, store_memory
from tests.conftest import new_principal
from tests.ingest.exports import (
    NOON,
    as_json,
    as_zip,
    chatgpt,
    import_files,
    write,
)
from tests.ingest.importers.parsing import EXPORTS
from tests.ingest.stored import assert_sound, count_rows

_PROJECT = {
    "uuid": "p-1",
    "name": "Boat",
    "description": "",
    "prompt_template": "Be salty.",
    "docs": [{"uuid": "d-1", "filename": "hull.txt", "content": "oak", "created_at": "2024-03-05"}],
}
_MEMORIES = [
    {"account_uuid": "u", "conversations_memory": "Sails on Sundays.", "project_memories": {}}
]


@pytest.fixture
def elsewhere(tmp_path: Path, sqlite_template: Path) -> Iterator[tuple[Kernel, Principal]]:
    """Another Backread, with an account of its own."""
    home = tmp_path / "elsewhere"
    home.mkdir()
    shutil.copy(sqlite_template, home / "backread.db")
    kernel = Kernel(Settings(home=home, embedding_model="hashing"))
    yield kernel, new_principal(kernel.store, "cleo@example.org")
    kernel.close()


def _export(kernel: Kernel, principal: Principal) -> bytes:
    return b"".join(ArchiveWriter(kernel, principal).pieces())


def _files(archive: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        assert opened.testzip() is None
        return {name: opened.read(name) for name in opened.namelist()}


def _lines(archive: bytes, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in _files(archive)[name].splitlines()]


def _content(archive: bytes) -> dict[str, Any]:
    """All that must be the same in an archive of an archive."""
    files = _files(archive)
    manifest = json.loads(files.pop("manifest.json"))
    return {**files, "counts": manifest["counts"]}


def _told(kernel: Kernel) -> list[tuple[Any, ...]]:
    """Every message with its place in its conversation, without ids that are the account's own."""
    query = (
        select(
            Conversation.platform,
            Conversation.external_id,
            Conversation.title,
            Conversation.is_starred,
            Message.position,
            Message.external_id,
            Message.on_shown_line,
            Message.kind,
            Message.text,
            Message.created_at,
            Message.asides,
            Message.attachments,
        )
        .join(Message, Message.conversation_id == Conversation.id)
        .order_by(Conversation.platform, Conversation.external_id, Message.position)
    )
    with kernel.store.read() as session:
        return [tuple(row) for row in session.execute(query)]


def _fill(kernel: Kernel, principal: Principal, folder: Path) -> None:
    """Conversations of several platforms with branches, captures of one chat at three times, one
    of them with text that no UTF-8 is; memories, a document, a decision and a deletion."""
    for slug in ("claude_code", "codex", "cursor", "librechat", "openwebui", "transcript"):
        shutil.copytree(EXPORTS / slug, folder / slug)
    import_files(kernel, principal, folder)
    three = (["A?", "B."], ["A?", "B.", "C?"], ["A?", "B\ud800."])
    for number, turns in enumerate(three):
        chat = chatgpt("grown", turns, update_time=NOON + 1000 * number, is_starred=True)
        import_files(kernel, principal, write(folder / f"{number}.json", as_json([chat])))
    broken = as_json([chatgpt("raw", ["Odd?", "Yes."])]).replace(b"Odd", b"Od\xff")
    import_files(kernel, principal, write(folder / "raw.json", broken))
    beside = {"projects.json": [_PROJECT], "memories.json": _MEMORIES}
    import_files(kernel, principal, as_zip(beside, folder / "claude.zip"))
    store_memory(kernel, principal, "Prefers oak.")
    with kernel.store.write() as session:
        bucket = Bucket(account_id=principal.account_id, name="Boat")
        session.add(bucket)
        session.add(
            Tombstone(account_id=principal.account_id, platform="chatgpt", external_id="gone")
        )
        session.flush()
        session.execute(
            update(SuggestedMemory).values(state="dismissed", decided_at=bucket.created_at)
        )
        bucket_id = bucket.id
    store_memory(kernel, principal, "Owns a dinghy.", bucket_id=bucket_id)


def test_an_archive_comes_back_whole_in_another_backread(
    kernel: Kernel, principal: Principal, elsewhere: tuple[Kernel, Principal], tmp_path: Path
) -> None:
    _fill(kernel, principal, tmp_path / "in")
    archive = _export(kernel, principal)
    other, cleo = elsewhere
    report = import_files(other, cleo, write(tmp_path / "all.zip", archive))
    assert report.state == "readable"
    assert (report.totals.failed, report.totals.skipped) == (0, 0)
    assert report.totals.new == count_rows(kernel, Conversation)
    assert _told(other) == _told(kernel)
    assert count_rows(other, Document) == count_rows(kernel, Document) > 0
    assert _content(_export(other, cleo)) == _content(archive)
    assert_sound(other, cleo)
    again = import_files(other, cleo, tmp_path / "all.zip")
    assert (again.totals.new, again.totals.updated, again.totals.failed) == (0, 0, 0)
    assert again.totals.unchanged == count_rows(kernel, Capture)
    assert count_rows(other, Capture) == count_rows(kernel, Capture)
    assert rebuild_account(other, cleo.account_id).changed == 0


def test_every_capture_of_a_chat_is_kept_in_order_byte_for_byte(
    kernel: Kernel, principal: Principal, elsewhere: tuple[Kernel, Principal], tmp_path: Path
) -> None:
    _fill(kernel, principal, tmp_path / "in")
    archive = _export(kernel, principal)
    lines = _lines(archive, "captures.ndjson")
    grown = [line for line in lines if line["external_id"] == "grown"]
    bodies = [json.loads((body_of(line) or b"").decode("utf-8", "replace")) for line in grown]
    assert [len(body["mapping"]) for body in bodies] == [3, 4, 3]
    assert [line["captured_at"] for line in grown] == sorted(line["captured_at"] for line in grown)
    (raw,) = [line for line in lines if line["external_id"] == "raw"]
    assert "body" not in raw
    assert "body_base64" in raw
    other, cleo = elsewhere
    import_files(other, cleo, write(tmp_path / "all.zip", archive))
    columns = (Capture.content_hash, Capture.captured_at, Capture.importer, Capture.platform)
    kept = []
    for side in (kernel, other):
        with side.store.read() as session:
            query = select(*columns).order_by(*columns)
            kept.append([tuple(row) for row in session.execute(query)])
    assert kept[0] == kept[1]


def test_memories_keep_their_dates_and_buckets_and_decisions_hold(
    kernel: Kernel, principal: Principal, elsewhere: tuple[Kernel, Principal], tmp_path: Path
) -> None:
    _fill(kernel, principal, tmp_path / "in")
    other, cleo = elsewhere
    store_memory(other, cleo, "prefers  OAK.")  # says the same as one of the archive's
    path = write(tmp_path / "all.zip", _export(kernel, principal))
    report = import_files(other, cleo, path)
    assert "From the archive: 1 memory added, 1 here already." in report.warnings
    query = select(Memory.text, Memory.created_at, Bucket.name, Bucket.is_default).join(Bucket)
    with kernel.store.read() as ours, other.store.read() as theirs:
        (dinghy,) = ours.execute(query.where(Memory.text == "Owns a dinghy."))
        assert theirs.execute(query.where(Memory.text == "Owns a dinghy.")).one() == dinghy
        assert theirs.scalars(select(Bucket.name).where(Bucket.is_default)).all() == ["General"]
        states = set(theirs.scalars(select(SuggestedMemory.state)))
    assert states == {"dismissed"}
    before = count_rows(other, Memory)
    import_files(other, cleo, path)
    assert count_rows(other, Memory) == before


def test_a_suggestion_whose_memory_was_deleted_for_good_is_not_made_elsewhere(
    kernel: Kernel, principal: Principal, elsewhere: tuple[Kernel, Principal], tmp_path: Path
) -> None:
    beside = as_zip({"memories.json": _MEMORIES}, tmp_path / "claude.zip")
    import_files(kernel, principal, beside)
    with kernel.store.write() as session:
        session.execute(update(SuggestedMemory).values(state="erased", text="", source=""))
    other, cleo = elsewhere
    import_files(other, cleo, write(tmp_path / "all.zip", _export(kernel, principal)))
    import_files(other, cleo, beside)
    with kernel.store.read() as ours, other.store.read() as theirs:
        query = select(SuggestedMemory.state, SuggestedMemory.text, SuggestedMemory.text_hash)
        assert theirs.execute(query).all() == ours.execute(query).all()


def test_a_deletion_is_taken_along_unless_the_chat_is_here(
    kernel: Kernel, principal: Principal, elsewhere: tuple[Kernel, Principal], tmp_path: Path
) -> None:
    with kernel.store.write() as session:
        for own_id in ("gone", "kept"):
            session.add(
                Tombstone(account_id=principal.account_id, platform="chatgpt", external_id=own_id)
            )
    path = write(tmp_path / "all.zip", _export(kernel, principal))
    other, cleo = elsewhere
    import_files(other, cleo, write(tmp_path / "kept.json", as_json([chatgpt("kept")])))
    report = import_files(other, cleo, path)
    assert report.state == "readable"
    assert report.warnings == ["From the archive: 1 deletion added, 1 here already."]
    later = write(tmp_path / "later.json", as_json([chatgpt("gone"), chatgpt("kept")]))
    totals = import_files(other, cleo, later).totals
    assert (totals.skipped, totals.unchanged) == (1, 1)


def test_the_archive_holds_every_conversation_to_read(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    chat = chatgpt("c", ["Which *oar*?", "Ash."], title='Oars: "long" / short…')
    import_files(kernel, principal, write(tmp_path / "a.json", as_json([chat])))
    archive = _export(kernel, principal)
    (name,) = [name for name in _files(archive) if name.endswith(".md")]
    assert name.startswith("conversations/chatgpt/2024-03-05_oars-long-short_")
    text = _files(archive)[name].decode()
    assert 'title: "Oars: \\"long\\" / short…"' in text
    assert "## You · 2024-03-05 12:00 UTC\n\nWhich *oar*?" in text
    assert "Ash." in text
    manifest = json.loads(_files(archive)["manifest.json"])
    assert manifest["backread_archive"] == 1
    assert manifest["counts"]["conversations"] == manifest["counts"]["captures"] == 1


def test_an_unpacked_archive_is_read_as_well_and_its_readable_copies_are_not(
    kernel: Kernel, principal: Principal, elsewhere: tuple[Kernel, Principal], tmp_path: Path
) -> None:
    import_files(kernel, principal, write(tmp_path / "a.json", as_json([chatgpt()])))
    folder = tmp_path / "unpacked"
    for name, body in _files(_export(kernel, principal)).items():
        write(folder / name, body)
    other, cleo = elsewhere
    report = import_files(other, cleo, folder)
    assert (report.totals.found, report.totals.new) == (1, 1)
    assert report.platforms == {"chatgpt": 1}


def test_of_an_account_only_its_own_leaves(
    kernel: Kernel, principal: Principal, stranger: Principal, tmp_path: Path
) -> None:
    import_files(kernel, principal, write(tmp_path / "a.json", as_json([chatgpt("mine")])))
    store_memory(kernel, principal, "Mine.")
    archive = _export(kernel, stranger)
    assert set(json.loads(_files(archive)["manifest.json"])["counts"].values()) == {0}
    assert not [name for name in _files(archive) if name.endswith(".md")]


def test_an_archive_joins_chats_that_are_there_in_the_order_of_the_imports(
    kernel: Kernel, principal: Principal, elsewhere: tuple[Kernel, Principal], tmp_path: Path
) -> None:
    def chat(*texts: str) -> bytes:  # of a format without any times
        roles = ("user", "assistant")
        messages = [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)]
        own = {"id": "c", "name": "N", "model": "m", "prompt": "", "messages": messages}
        return as_json({"version": 4, "history": [own], "folders": [], "prompts": []})

    for name, texts in (("1", ("A", "B")), ("2", ("A", "B", "C"))):
        import_files(kernel, principal, write(tmp_path / f"{name}.json", chat(*texts)))
    archive = _export(kernel, principal)
    other, cleo = elsewhere
    import_files(other, cleo, write(tmp_path / "3.json", chat("A", "other")))
    import_files(other, cleo, write(tmp_path / "all.zip", archive))
    shown = [row[8] for row in _told(other) if row[6]]
    assert shown == ["A", "B", "C"]
    assert rebuild_account(other, cleo.account_id).changed == 0


def test_damaged_and_hostile_lines_cost_only_themselves(
    kernel: Kernel, principal: Principal, elsewhere: tuple[Kernel, Principal], tmp_path: Path
) -> None:
    import_files(kernel, principal, write(tmp_path / "a.json", as_json([chatgpt()])))
    (line,) = _lines(_export(kernel, principal), "captures.ndjson")
    records: list[Any] = [
        line,
        line | {"sha256": "0" * 64},
        {"backread": "capture", "importer": "chatgpt"},
        line | {"importer": "none", "captured_at": "2199-01-01T00:00:00Z"},
        {"backread": "memory", "text": "x" * 10_001},
        {"backread": "memory", "text": ["no"], "bucket": {}},
        {"backread": "tombstone", "platform": "p" * 99, "external_id": "x"},
        {"backread": "bucket", "name": 7},
        {"backread": "suggestion", "platform": "chatgpt", "text": "x", "state": "sold"},
        {"backread": "suggestion", "platform": "chatgpt", "text": "", "state": "erased"},
        {"backread": "suggestion", "platform": "chatgpt", "text": "x", "state": "erased"},
        {"backread": "hologram"},
        {"backread": None},
    ]
    body = b"\n".join(as_json(each) for each in records)
    other, cleo = elsewhere
    report = import_files(other, cleo, write(tmp_path / "x.ndjson", body))
    assert (report.totals.new, report.totals.unchanged, report.totals.failed) == (1, 1, 2)
    reasons = " ".join(item.reason for item in report.items)
    assert "checksum" in reasons
    assert "no raw data" in reasons
    assert any("2 that could not be read" in each for each in report.warnings)
    assert (count_rows(other, Memory), count_rows(other, Tombstone)) == (0, 0)
    assert_sound(other, cleo)


def test_a_trial_run_of_an_archive_stores_nothing(
    kernel: Kernel, principal: Principal, elsewhere: tuple[Kernel, Principal], tmp_path: Path
) -> None:
    import_files(kernel, principal, write(tmp_path / "a.json", as_json([chatgpt()])))
    store_memory(kernel, principal, "Mine.")
    path = write(tmp_path / "all.zip", _export(kernel, principal))
    other, cleo = elsewhere
    report = import_files(other, cleo, path, dry_run=True)
    assert report.totals.new == 1
    assert (count_rows(other, Conversation), count_rows(other, Memory)) == (0, 0)


def test_the_manifest_alone_says_what_to_choose(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    manifest = _files(_export(kernel, principal))["manifest.json"]
    report = import_files(kernel, principal, write(tmp_path / "manifest.json", manifest))
    assert report.error is not None
    assert "list of what an archive of Backread holds" in report.error.message


def test_an_archive_comes_in_small_pieces_and_half_of_one_is_refused_in_words(
    kernel: Kernel, principal: Principal, elsewhere: tuple[Kernel, Principal], tmp_path: Path
) -> None:
    noise = random.Random(7)  # hardly compressible, the same on every run
    chats = [
        chatgpt(f"c{n}", [noise.randbytes(50_000).hex(), "Long."], title="Noise") for n in range(30)
    ]
    import_files(kernel, principal, write(tmp_path / "a.json", as_json(chats)))
    sizes = [len(piece) for piece in ArchiveWriter(kernel, principal).pieces()]
    assert len(sizes) > 4
    assert max(sizes) < 1024**2 < sum(sizes)
    half = _export(kernel, principal)[: sum(sizes) // 2]
    other, cleo = elsewhere
    report = import_files(other, cleo, write(tmp_path / "half.zip", half))
    assert report.error is not None
    assert "incomplete" in report.error.message


def test_memories_keep_their_source_and_their_former_versions(
    kernel: Kernel, principal: Principal, elsewhere: tuple[Kernel, Principal], tmp_path: Path
) -> None:
    import_files(kernel, principal, write(tmp_path / "chats.json", as_json([chatgpt("home")])))
    with kernel.store.read() as session:
        chat = session.scalars(select(Conversation.id)).one()
    first = store_memory(kernel, principal, "Lives in Zurich.", source=Source(chat))
    second = store_memory(
        kernel, principal, "Lives in Basel.", supersedes=first.memory_id, source=Source(chat)
    )
    store_memory(kernel, principal, "Lives in Porto.", supersedes=second.memory_id)
    store_memory(kernel, principal, "Lives in Zurich.")  # again
    path = write(tmp_path / "all.zip", _export(kernel, principal))
    other, cleo = elsewhere
    for _ in range(2):
        import_files(other, cleo, path)
        found = memories_and_buckets(other, cleo, every=True)
        by_id = {each.memory_id: each for each in found.memories}
        assert len(by_id) == 4
        line = [each for each in found.memories if each.supersedes]
        assert {each.text: by_id[each.supersedes[0]].text for each in line} == {
            "Lives in Porto.": "Lives in Basel.",
            "Lives in Basel.": "Lives in Zurich.",
        }
        former = [each for each in found.memories if each.superseded_at]
        assert sorted(each.text for each in former) == ["Lives in Basel.", "Lives in Zurich."]
        assert all(each.conversation_id for each in former)
