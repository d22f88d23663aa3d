"""What stands beside the messages of a chat is found like them: documents, code, attachments."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, select, update

from backread.domain import Principal
from backread.jobs import run_pending
from backread.kernel import Kernel
from backread.store.models import Conversation, Message, Passage
from ingest.rereading import request_rereading
from ingest.verify import verify_account
from recall.history import RecallRequest, recall_chat_history
from recall.search import SearchHit, SearchQuery, search
from tests.ingest.exports import as_zip, claude, claude_message, import_files

PLAN = """# Hive plan
The frames are boiled in soda on the first warm day of February.

Feed the colony with fondant until the hazel blooms.
"""
LATER = PLAN.replace("with fondant until the hazel blooms", "with candy until the willow blooms")
CODE = """def weigh_hive(sensor):
    total = sensor.read_grams()
    return total - EMPTY_BOX_GRAMS
"""
LEASE = "The orchard is leased for nine years from Agathe Brunner, against forty jars of honey."


def made(command: str, identifier: str, **more: Any) -> dict[str, Any]:
    told = {"command": command, "id": identifier, "type": "text/markdown"} | more
    return {"type": "tool_use", "name": "artifacts", "id": "call", "input": told}


def turn(place: int, text: str, *blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    sender = "assistant" if place % 2 else "human"
    content = [{"type": "text", "text": text, "citations": []}, *blocks]
    at = f"2024-03-{place + 1:02}T12:00:00.000000Z"
    return claude_message(f"m{place}", sender, text, content=content, created_at=at, **more)


@pytest.fixture
def archive(kernel: Kernel, principal: Principal, tmp_path: Path) -> Kernel:
    lease = {"file_name": "lease.pdf", "file_type": "pdf", "extracted_content": LEASE}
    turns = [
        turn(0, "Please write down what we said.", attachments=[lease]),
        turn(1, "Here it is.", made("create", "plan", title="Hive plan", content=PLAN)),
        turn(2, "The second part is out of date."),
        turn(3, "I changed it.", made("rewrite", "plan", title="Hive plan", content=LATER)),
        turn(4, "And the script?"),
        turn(5, "Done.", made("create", "code", title="scale.py", content=CODE)),
    ]
    chats = [
        claude("bees", turns),
        claude("glaze", ["How thick is the glaze?", "Two coats, as thick as cream."]),
    ]
    import_files(kernel, principal, as_zip({"conversations.json": chats}, tmp_path / "c.zip"))
    run_pending(kernel)
    return kernel


def hits(kernel: Kernel, principal: Principal, text: str) -> Sequence[SearchHit]:
    return search(kernel, principal, SearchQuery(text=text)).hits


def said_at(kernel: Kernel, hit: SearchHit) -> str:
    with kernel.store.read() as session:
        return session.scalar(select(Message.text).where(Message.id == hit.message_id)) or ""


@pytest.mark.parametrize(
    ("text", "document", "message"),
    [
        ("frames boiled in soda", "Hive plan", "I changed it."),
        ("candy until the willow", "Hive plan", "I changed it."),
        ("read_grams", "scale.py", "Done."),
        ("who leases the orchard", "lease.pdf", "Please write down what we said."),
    ],
)
def test_a_text_beside_the_chat_is_found_at_the_message_that_brought_it(
    archive: Kernel, principal: Principal, text: str, document: str, message: str
) -> None:
    top = hits(archive, principal, text)[0]
    assert top.document == document
    assert said_at(archive, top) == message


def test_a_message_is_of_no_document(archive: Kernel, principal: Principal) -> None:
    assert next(hit.document for hit in hits(archive, principal, "thick as cream")) == ""


def test_what_a_later_version_dropped_is_still_found_at_its_own_message(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    old = "Queen cells hang on the third comb, near the brood."
    turns = [
        turn(0, "Write it down."),
        turn(1, "First.", made("create", "notes", title="Notes", content=old)),
        turn(2, "In German."),
        turn(3, "Second.", made("rewrite", "notes", title="Notes", content="Weiselzellen.")),
    ]
    import_files(
        kernel, principal, as_zip({"conversations.json": [claude("n", turns)]}, tmp_path / "c.zip")
    )
    (top, *_) = hits(kernel, principal, "queen cells comb")
    assert (top.document, said_at(kernel, top)) == ("Notes (an earlier version)", "First.")
    assert [said_at(kernel, hit) for hit in hits(kernel, principal, "Weiselzellen")] == ["Second."]
    assert verify_account(kernel, principal.account_id).problems == []


def test_an_archive_of_an_older_release_is_sound_and_has_them_once_it_is_read_again(
    archive: Kernel, principal: Principal
) -> None:
    with archive.store.write() as session:
        session.execute(delete(Passage).where(Passage.document != ""))
        session.execute(update(Conversation).values(parser_version=1))
    assert not any(hit.document for hit in hits(archive, principal, "frames boiled in soda"))
    assert verify_account(archive, principal.account_id).problems == []
    with archive.store.write() as session:
        request_rereading(session, principal)
    run_pending(archive)
    assert hits(archive, principal, "frames boiled in soda")[0].document == "Hive plan"
    assert verify_account(archive, principal.account_id).problems == []


def test_a_document_with_one_changed_line_is_not_found_twice(
    archive: Kernel, principal: Principal
) -> None:
    of_plan = [hit for hit in hits(archive, principal, "boiled soda") if hit.document]
    assert len(of_plan) == 1
    assert "willow" in of_plan[0].text


def test_an_answer_says_which_document_it_quotes(archive: Kernel, principal: Principal) -> None:
    request = RecallRequest(query="Who is the orchard leased from?")
    answer = recall_chat_history(archive, principal, request).answers[0]
    (statement, *_) = answer.statements
    assert "Agathe Brunner" in statement.text
    assert statement.document == "lease.pdf"
    assert "the user, in the document “lease.pdf”" in answer.summary


def test_code_is_quoted_by_its_line(archive: Kernel, principal: Principal) -> None:
    request = RecallRequest(query="weigh hive sensor EMPTY_BOX_GRAMS")
    answer = recall_chat_history(archive, principal, request).answers[0]
    quoted = {each.text for each in answer.statements if each.document == "scale.py"}
    assert "return total - EMPTY_BOX_GRAMS" in quoted


def test_all_of_it_holds_together(archive: Kernel, principal: Principal) -> None:
    assert verify_account(archive, principal.account_id).problems == []
