"""What an import finds beside its conversations, and what a second import makes of it."""

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, select, update

from backread.domain import Principal
from backread.identity import statement_hash
from backread.kernel import Kernel
from backread.store.models import (
    Companion,
    Conversation,
    Document,
    Memory,
    Message,
    SuggestedMemory,
)
from backread.store.repositories.memories import add_memory, default_bucket
from ingest.rebuild import rebuild_account
from ingest.report import ImportReport
from tests.exports import chatgpt, chatgpt_node, chatgpt_tree, claude
from tests.ingest.companions.exports import document, memories, project
from tests.ingest.exports import as_json, as_zip, import_files, write
from tests.ingest.stored import assert_sound, count_rows

KEY = "sk_live_4eC39HqLyjWDarjtT1zdp7dc"
TOKEN = "ghp_q8WzR3vTn5LkYc2Hd7Xf9Ps4Bm6Gj1Ua0EiO"


def finds(report: ImportReport) -> tuple[int, int, int]:
    return report.memories_found, report.documents_found, report.secrets_found


def suggestions(kernel: Kernel) -> list[SuggestedMemory]:
    with kernel.store.read() as session:
        return list(session.scalars(select(SuggestedMemory).order_by(SuggestedMemory.text)))


def documents(kernel: Kernel) -> dict[str, str]:
    with kernel.store.read() as session:
        return {each.external_id: each.text for each in session.scalars(select(Document))}


def remembering(conversation_id: str, *statements: str, **more: Any) -> dict[str, Any]:
    """A ChatGPT conversation in which the model writes to its memory."""
    nodes = [chatgpt_node(f"{conversation_id}-q", None, "user", "Remember this.")]
    for place, statement in enumerate(statements):
        parent = nodes[-1]["id"]
        nodes.append(
            chatgpt_node(
                f"{conversation_id}-b{place}", parent, "assistant", statement, recipient="bio"
            )
        )
    nodes.append(chatgpt_node(f"{conversation_id}-a", nodes[-1]["id"], "assistant", "Noted."))
    return chatgpt_tree(conversation_id, nodes, **more)


def test_memories_in_chats_become_suggestions_with_their_message_and_no_memories(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    report = import_files(
        kernel, principal, write(tmp_path / "a.json", [remembering("a", "Has two daughters.")])
    )
    assert finds(report) == (1, 0, 0)
    assert report.totals.new == report.totals.found == 1
    (suggestion,) = suggestions(kernel)
    assert (suggestion.text, suggestion.platform, suggestion.source, suggestion.state) == (
        "Has two daughters.",
        "chatgpt",
        "Saved memory",
        "open",
    )
    with kernel.store.read() as session:
        message = session.get(Message, suggestion.message_id)
        assert message is not None
        assert message.text == "Has two daughters."
        assert message.conversation_id == suggestion.conversation_id
    assert suggestion.import_id == report.id
    assert count_rows(kernel, Memory) == 0


def test_a_second_import_suggests_nothing_again_whatever_was_decided(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    path = write(tmp_path / "a.json", [remembering("a", "Likes clay.", "Likes tea.")])
    assert finds(import_files(kernel, principal, path)) == (2, 0, 0)
    with kernel.store.write() as session:
        first = session.scalars(select(SuggestedMemory)).first()
        assert first is not None
        first.state = "dismissed"
    assert finds(import_files(kernel, principal, path)) == (0, 0, 0)
    later = [
        remembering("a", "Likes clay.", "Likes tea."),
        remembering("b", "likes  CLAY.", "New."),
    ]
    later[0]["title"] = "Renamed, so that it is read again"
    assert finds(import_files(kernel, principal, write(tmp_path / "b.json", later))) == (1, 0, 0)
    assert [each.text for each in suggestions(kernel)] == ["Likes clay.", "Likes tea.", "New."]
    assert sorted(each.state for each in suggestions(kernel)) == ["dismissed", "open", "open"]


def test_what_is_a_memory_already_is_not_suggested(
    kernel: Kernel, principal: Principal, stranger: Principal, tmp_path: Path
) -> None:
    for owner, text in ((principal, "Likes clay."), (stranger, "Likes tea.")):
        with kernel.store.write() as session:
            add_memory(
                session,
                account_id=owner.account_id,
                bucket_id=default_bucket(session, owner.account_id).id,
                text=text,
                text_hash=statement_hash(text),
                client_id=None,
            )
    path = write(tmp_path / "a.json", [remembering("a", "likes clay.", "Likes tea.")])
    assert finds(import_files(kernel, principal, path)) == (1, 0, 0)
    assert [each.text for each in suggestions(kernel)] == ["Likes tea."]


def test_two_accounts_review_apart(
    kernel: Kernel, principal: Principal, stranger: Principal, tmp_path: Path
) -> None:
    path = write(tmp_path / "a.json", [remembering("a", "Likes clay.")])
    assert finds(import_files(kernel, principal, path)) == (1, 0, 0)
    assert finds(import_files(kernel, stranger, path)) == (1, 0, 0)
    assert len({each.account_id for each in suggestions(kernel)}) == 2


def test_claude_s_memories_and_projects_come_in_with_its_chats(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    path = as_zip(
        {
            "conversations.json": [claude()],
            "memories.json": [memories("**Work**\n\nRuns a pottery.\n\n- Teaches")],
            "projects.json": [project(document(1), document(2), prompt_template="Be brief.")],
        },
        tmp_path / "claude.zip",
    )
    report = import_files(kernel, principal, path)
    assert finds(report) == (2, 3, 0)
    assert (report.totals.found, report.totals.new, report.warnings) == (1, 1, [])
    assert documents(kernel) == {
        "document-1": "Fire slowly.",
        "document-2": "Fire slowly.",
        "project-1:instructions": "Be brief.",
    }
    assert finds(import_files(kernel, principal, path)) == (0, 0, 0)
    assert count_rows(kernel, Companion) == 2
    assert_sound(kernel, principal)


@pytest.mark.parametrize("member", ["memories.json", "memories/account-1.json"])
def test_companions_alone_are_an_import_too(
    kernel: Kernel, principal: Principal, tmp_path: Path, member: str
) -> None:
    content = [memories()] if member == "memories.json" else memories()
    report = import_files(kernel, principal, as_zip({member: content}, tmp_path / "m.zip"))
    assert (report.state, report.totals.found, report.error) == ("readable", 0, None)
    assert finds(report) == (1, 0, 0)
    again = import_files(kernel, principal, as_zip({member: content}, tmp_path / "m.zip"))
    assert (again.state, finds(again)) == ("readable", (0, 0, 0))


def test_a_changed_document_is_updated_and_its_former_text_kept(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    old = project(document(1, "Old."), document(2, "Gone later."))
    new = project(document(1, "New."), document(3, "Added."), updated_at="2026-04-01T00:00:00Z")
    import_files(kernel, principal, write(tmp_path / "old.json", [old]))
    report = import_files(kernel, principal, write(tmp_path / "new.json", [new]))
    assert finds(report) == (0, 2, 0)
    expected = {"document-1": "New.", "document-2": "Gone later.", "document-3": "Added."}
    assert documents(kernel) == expected
    assert count_rows(kernel, Companion) == 2  # the raw form of both is here
    older = {**old, "name": "Renamed before that"}
    report = import_files(kernel, principal, write(tmp_path / "older.json", [older]))
    assert finds(report) == (0, 0, 0)
    assert documents(kernel) == expected


def test_documents_of_two_accounts_do_not_meet(
    kernel: Kernel, principal: Principal, stranger: Principal, tmp_path: Path
) -> None:
    path = write(tmp_path / "p.json", [project(document(1))])
    assert finds(import_files(kernel, principal, path)) == (0, 1, 0)
    assert finds(import_files(kernel, stranger, path)) == (0, 1, 0)
    assert count_rows(kernel, Document) == 2


def test_a_trial_run_counts_the_same_and_stores_nothing(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    path = as_zip(
        {
            "conversations.json": [
                remembering("a", "Likes clay."),
                remembering("b", "Likes clay."),
                chatgpt("c", [f"My key is {KEY}", "Revoke it."]),
            ],
            "memories.json": [memories("Runs a pottery.")],
            "projects.json": [project(document(1))],
            "more/projects.json": [project(document(1))],
        },
        tmp_path / "all.zip",
    )
    trial = import_files(kernel, principal, path, dry_run=True)
    for table in (Companion, Document, SuggestedMemory, Conversation):
        assert count_rows(kernel, table) == 0
    real = import_files(kernel, principal, path)
    assert finds(trial) == finds(real) == (2, 1, 1)


def test_a_damaged_companion_costs_only_itself(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    broken = b'[{"uuid": "p", "docs": [}, ' + as_json(project(document(1)))[1:] + b"]"
    path = as_zip({"conversations.json": [claude()], "projects.json": broken}, tmp_path / "c.zip")
    report = import_files(kernel, principal, path)
    assert report.totals.new == 1
    assert report.state == "readable"


def test_odd_characters_in_companions_are_stored(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    raw = project(document(1, "a\x00b \ud800 c", filename="n\x00ame" * 400), name="P" * 2000)
    # With escapes, as exports write what is half a character.
    escaped = json.dumps([raw, memories("x\x00y \ud800z")]).encode()
    report = import_files(kernel, principal, write(tmp_path / "p.json", escaped))
    assert finds(report) == (1, 1, 0)
    assert documents(kernel) == {"document-1": "ab  c"}


def test_secrets_are_counted_by_kind_and_never_told(
    kernel: Kernel, principal: Principal, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(
        tmp_path / "a.json",
        [
            chatgpt("a", [f"STRIPE={KEY} and {TOKEN}", f"Never share {KEY}."]),
            chatgpt("b", [f"Use {TOKEN}", "No."]),
            chatgpt("c", ["Nothing here", "at all"]),
        ],
    )
    report = import_files(kernel, principal, path)
    assert report.secrets_found == 3
    assert report.secrets_by_kind == {"GitHub token": 2, "Stripe key": 1}
    with kernel.store.read() as session:
        query = select(Conversation.external_id, Conversation.secret_count, Conversation.secrets)
        rows = {row[0]: (row[1], row[2]) for row in session.execute(query)}
    assert rows == {
        "a": (2, {"GitHub token": 1, "Stripe key": 1}),
        "b": (1, {"GitHub token": 1}),
        "c": (0, {}),
    }
    printed = capsys.readouterr()
    for secret in (KEY, TOKEN):
        assert secret not in report.model_dump_json()
        assert secret not in printed.out + printed.err


def test_secrets_in_attachments_and_tool_output_count_and_only_new_ones_in_a_later_import(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    attached = claude("x", ["Look at my settings", "I see."])
    attached["chat_messages"][0]["attachments"] = [
        {"file_name": ".env", "file_type": "txt", "extracted_content": f"KEY={KEY}"}
    ]
    first = import_files(kernel, principal, write(tmp_path / "1.json", [attached]))
    assert first.secrets_by_kind == {"Stripe key": 1}
    grown = claude("x", ["Look at my settings", "I see.", "And?", "Done."])
    grown["chat_messages"][0]["attachments"] = attached["chat_messages"][0]["attachments"]
    grown["chat_messages"][3]["content"].append(
        {"type": "tool_result", "name": "shell", "content": [{"type": "text", "text": TOKEN}]}
    )
    grown["updated_at"] = "2024-03-06T12:00:00Z"
    second = import_files(kernel, principal, write(tmp_path / "2.json", [grown]))
    assert second.totals.updated == 1
    assert second.secrets_by_kind == {"GitHub token": 1}
    with kernel.store.read() as session:
        assert session.scalar(select(Conversation.secret_count)) == 2


def test_reading_everything_again_brings_back_what_is_derived_and_respects_decisions(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    path = as_zip(
        {
            "conversations.json": [remembering("a", "Likes clay.", f"Keeps {KEY} in a drawer.")],
            "memories.json": [memories("Runs a pottery.\n\nTeaches.")],
            "projects.json": [project(document(1))],
        },
        tmp_path / "all.zip",
    )
    import_files(kernel, principal, path)
    with kernel.store.write() as session:
        for suggestion in session.scalars(select(SuggestedMemory)):
            if suggestion.text == "Teaches.":
                suggestion.state = "dismissed"
            else:
                session.delete(suggestion)
        session.execute(delete(Document))
        session.execute(update(Conversation).values(secret_count=0, secrets={}))
    rebuild_account(kernel, principal.account_id)
    found = suggestions(kernel)
    assert [each.text for each in found] == [
        f"Keeps {KEY} in a drawer.",
        "Likes clay.",
        "Runs a pottery.",
        "Teaches.",
    ]
    assert [each.state for each in found] == ["open", "open", "open", "dismissed"]
    assert all(each.message_id for each in found if each.platform == "chatgpt")
    assert documents(kernel) == {"document-1": "Fire slowly."}
    with kernel.store.read() as session:
        assert session.scalar(select(Conversation.secret_count)) == 1
    rebuild_account(kernel, principal.account_id)
    assert len(suggestions(kernel)) == 4
    assert_sound(kernel, principal)


def test_claude_code_s_memory_files_come_in_with_its_sessions_and_other_notes_do_not(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    project = tmp_path / "projects" / "-home-ada-kiln"
    line = {
        "type": "user",
        "uuid": "u1",
        "parentUuid": None,
        "sessionId": "s1",
        "timestamp": "2026-02-01T12:00:00Z",
        "message": {"role": "user", "content": "Fire the kiln."},
    }
    write(project / "s1.jsonl", as_json(line))
    write(project / "memory" / "tests.md", b"- Uses pytest\n- Likes short names\n")
    write(tmp_path / "projects" / "notes" / "memory" / "diary.md", b"- Nobody's memory\n")
    report = import_files(kernel, principal, tmp_path / "projects")
    assert (report.totals.found, report.totals.new) == (1, 1)
    assert finds(report) == (2, 0, 0)
    assert {each.platform for each in suggestions(kernel)} == {"claude_code"}
    assert finds(import_files(kernel, principal, tmp_path / "projects")) == (0, 0, 0)
