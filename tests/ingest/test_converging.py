"""The same chat by two routes: an export with ids, and a saved page without."""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from backread.domain import Principal
from backread.kernel import Kernel
from backread.store.models import Conversation, Message, Tombstone
from ingest.rebuild import rebuild_account
from tests.ingest.exports import (
    as_zip,
    chatgpt,
    chatgpt_message,
    claude,
    import_files,
    write,
)
from tests.ingest.stored import FIXTURES, assert_sound, stored_rows

CHAT = "6612a0aa-1111-4222-8333-0123456789ab"
TURNS = (
    "How do I keep bees calm in autumn?",
    "Use **little** smoke. See [the guide](https://example.com/bees).\n\n- move slowly",
    "continue",
    "Feed them syrup before the first frost, and leave the brood box closed.",
)
MORE = (
    "continue",
    "Weigh the hives every fortnight; below twenty kilograms they need candy.",
)


def official(turns: Sequence[str]) -> list[dict[str, Any]]:
    """An export, in which the model looked something up before its first answer."""
    look_up = chatgpt_message("assistant", "bees autumn", recipient="browser")
    found = chatgpt_message("tool", "Three pages about bees.")
    whole = chatgpt(CHAT, [turns[0], look_up, found, *turns[1:]], title="Bees")
    for place, (node, text) in enumerate(
        zip([f"{CHAT}-n0", *(f"{CHAT}-n{3 + n}" for n in range(len(turns)))], turns, strict=False)
    ):
        role = "assistant" if place % 2 else "user"
        whole["mapping"][node]["message"] |= chatgpt_message(role, text, at=1_709_640_000 + place)
    return [whole]


def page(turns: Sequence[str]) -> bytes:
    """What a browser script saved of it: other list marks, no link targets, a plugin's words."""
    parts = ["---", "title: Bees", f"source: https://chatgpt.com/c/{CHAT}", "---", "", "# Bees"]
    for place, text in enumerate(turns):
        flat = text.replace("- ", "* ").replace("**", "")
        flat = flat.replace("[the guide](https://example.com/bees)", "the guide")
        if place == 1:
            parts += ["#### Plugin (browser):", "Three pages about bees."]
        parts += ["#### ChatGPT:" if place % 2 else "#### You:", "", flat, ""]
    return "\n".join(parts).encode()


ROUTES = {
    "export.json": official(TURNS),
    "grown_export.json": official(TURNS + MORE),
    "page.md": page(TURNS),
    "grown_page.md": page(TURNS + MORE),
}


def _import(kernel: Kernel, principal: Principal, folder: Path, name: str) -> Any:
    return import_files(kernel, principal, write(folder / name, ROUTES[name]))


def _messages(kernel: Kernel) -> list[Message]:
    with kernel.store.read() as session:
        return list(session.scalars(select(Message).order_by(Message.position)))


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize("order", list(permutations(ROUTES)), ids="-".join)
def test_in_any_order_the_routes_make_one_chat_and_doing_it_again_changes_nothing(
    kernel: Kernel, principal: Principal, tmp_path: Path, order: tuple[str, ...]
) -> None:
    for name in order:
        _import(kernel, principal, tmp_path, name)
    with kernel.store.read() as session:
        (chat,) = session.scalars(select(Conversation))
    assert (chat.platform, chat.external_id, chat.title) == ("chatgpt", CHAT, "Bees")
    messages = _messages(kernel)
    spoken = [each for each in messages if each.kind == "dialogue"]
    assert [each.text for each in spoken] == [*TURNS, *MORE]
    assert all(each.external_id.startswith(CHAT) for each in messages)
    assert all(each.on_shown_line for each in messages)
    assert len(messages) == len(spoken) + 2
    assert_sound(kernel, principal)

    before = [stored_rows(kernel, table) for table in (Conversation, Message)]
    for name in order:
        totals = _import(kernel, principal, tmp_path, name).totals
        assert (totals.new, totals.updated, totals.unchanged) == (0, 0, 1)
    assert rebuild_account(kernel, principal.account_id).changed == 0
    assert [stored_rows(kernel, table) for table in (Conversation, Message)] == before


def test_public_ids_stay_when_a_better_copy_comes(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    _import(kernel, principal, tmp_path, "page.md")
    first = {each.id for each in _messages(kernel)}
    _import(kernel, principal, tmp_path, "grown_export.json")
    assert first < {each.id for each in _messages(kernel)}


def test_a_page_adds_only_what_it_has_more(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    _import(kernel, principal, tmp_path, "export.json")
    before = stored_rows(kernel, Message)
    report = _import(kernel, principal, tmp_path, "page.md")
    assert (report.totals.unchanged, report.messages_new) == (1, 0)
    assert stored_rows(kernel, Message) == before
    report = _import(kernel, principal, tmp_path, "grown_page.md")
    assert (report.totals.updated, report.messages_new) == (1, 2)
    assert [each.text for each in _messages(kernel) if each.on_shown_line][-2:] == list(MORE)


def test_a_page_of_another_answer_becomes_another_branch(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    _import(kernel, principal, tmp_path, "export.json")
    other = (*TURNS[:1], "Wear white, and visit them at noon when the foragers are out.")
    import_files(kernel, principal, write(tmp_path / "other.md", page(other)))
    messages = _messages(kernel)
    assert [m.text for m in messages if not m.on_shown_line] == [other[1]]
    assert [m.text for m in messages if m.on_shown_line and m.kind == "dialogue"] == list(TURNS)
    assert_sound(kernel, principal)


def test_answers_that_a_page_joined_are_the_messages_they_were(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    _import(kernel, principal, tmp_path, "export.json")
    node = {"id": "more", "parent": f"{CHAT}-n5", "children": []}
    told = official(TURNS)[0]
    told["mapping"]["more"] = node | {
        "message": chatgpt_message("assistant", "And keep mice out.", at=1_709_640_009)
    }
    told["current_node"] = "more"
    import_files(kernel, principal, write(tmp_path / "told.json", [told]))
    joined = (*TURNS[:3], f"{TURNS[3]}\n\nAnd keep mice out.")
    report = import_files(kernel, principal, write(tmp_path / "joined.md", page(joined)))
    assert (report.totals.unchanged, report.messages_new) == (1, 0)


def test_what_was_deleted_stays_deleted_by_the_other_route(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    with kernel.store.write() as session:
        session.add(
            Tombstone(account_id=principal.account_id, platform="chatgpt", external_id=CHAT)
        )
    assert _import(kernel, principal, tmp_path, "page.md").totals.skipped == 1
    assert _messages(kernel) == []


def test_a_file_of_both_routes_makes_one_chat(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    members = {name: ROUTES[name] for name in ("page.md", "grown_export.json")}
    report = import_files(kernel, principal, as_zip(members, tmp_path / "both.zip"))
    assert (report.totals.found, report.platforms) == (2, {"chatgpt": 2})
    assert [m.text for m in _messages(kernel) if m.kind == "dialogue"] == [*TURNS, *MORE]


@pytest.mark.parametrize("transcript_first", [True, False])
def test_a_transcript_of_cursor_is_the_chat_of_its_database(
    kernel: Kernel, principal: Principal, tmp_path: Path, transcript_first: bool
) -> None:
    chat = "0a1b2c3d-0000-4000-8000-00000000c0de"
    bubbles = [(1, "How fast is the wheel?"), (2, "Counting."), (2, "Nine turns.")]
    database = tmp_path / "state.vscdb"
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("CREATE TABLE cursorDiskKV (key TEXT UNIQUE, value BLOB)")
        heads = [{"bubbleId": f"b{n}", "type": kind} for n, (kind, _) in enumerate(bubbles)]
        values: dict[str, Any] = {
            f"composerData:{chat}": {"fullConversationHeadersOnly": heads, "name": "Wheel"}
        }
        for place, (kind, text) in enumerate(bubbles):
            values[f"bubbleId:{chat}:b{place}"] = {"type": kind, "text": text}
        connection.executemany(
            "INSERT INTO cursorDiskKV VALUES (?, ?)",
            [(key, json.dumps(value)) for key, value in values.items()],
        )
    transcript = FIXTURES / "cursor" / "transcript.jsonl"
    named = write(tmp_path / f"{chat}.jsonl", transcript.read_bytes())
    for path in (named, database) if transcript_first else (database, named):
        import_files(kernel, principal, path)
    messages = _messages(kernel)
    assert [each.external_id for each in messages] == ["b0", "b1", "b2"]
    assert [each.text for each in messages] == [text for _, text in bubbles]
    assert_sound(kernel, principal)


@pytest.mark.parametrize("page_first", [True, False])
def test_a_page_that_somebody_saved_of_claude_is_the_chat_of_the_export(
    kernel: Kernel, principal: Principal, tmp_path: Path, page_first: bool
) -> None:
    chat = "0a1b2c3d-1111-4000-8000-00000000c0de"
    saved = f"# Kiln\n\nURL: https://claude.ai/chat/{chat}\n\n## User\n\nHow hot?\n\n"
    paths = [
        write(tmp_path / "page.md", f"{saved}## Assistant\n\nAbout 1,240 °C.\n".encode()),
        write(tmp_path / "c.json", [claude(chat, ("How hot?", "About 1,240 °C."))]),
    ]
    for path in paths if page_first else reversed(paths):
        import_files(kernel, principal, path)
    messages = _messages(kernel)
    assert [each.external_id for each in messages] == [f"{chat}-m0", f"{chat}-m1"]
    assert_sound(kernel, principal)
