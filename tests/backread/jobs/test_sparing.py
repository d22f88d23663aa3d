"""Jobs over many items: one that cannot be done costs itself, and no other."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from backread import log
from backread.cli.job_modules import load_jobs
from backread.domain import Principal
from backread.errors import Unavailable
from backread.jobs import JOBS, JobContext, job, one_of_many, run_pending
from backread.kernel import Kernel
from backread.store.models import (
    AgentSession,
    Conversation,
    ConversationDigest,
    Document,
    FilePassage,
    FolderRecord,
    Job,
    Passage,
    RecordChunk,
    StoredSummary,
)
from ingest.documents.projects import enqueue_documents
from ingest.indexing import enqueue_passages
from ingest.rereading import request_rereading
from recall.folders.deriving import derive_later
from recall.overview.asking import enqueue_overview
from recall.summarising import making
from tests.backread.jobs.conftest import add, read_job
from tests.ingest.exports import claude, import_files, write
from tests.language_model_server import language_model_server
from tests.recall.agents.sessions import loom_sessions
from tests.recall.chats import Chat, keep
from tests.recall.summarising.conftest import accept, boat, kernel_of
from tests.recall.summarising.models import sensible

BAD = "thornapple"


def fail_at(monkeypatch: pytest.MonkeyPatch, place: str, told: Callable[..., str]) -> None:
    """Has the function at `place` raise where `told` of its arguments holds the bad word."""
    module, name = place.rsplit(".", 1)
    original = getattr(__import__(module, fromlist=[name]), name)

    def failing(*arguments: Any, **named: Any) -> Any:
        if BAD in told(*arguments, **named):
            raise ValueError(f"cannot do {BAD}")
        return original(*arguments, **named)

    monkeypatch.setattr(place, failing)


def ended(kernel: Kernel, name: str) -> tuple[str, int]:
    """How the last job of the name ended, and how many items it left out."""
    with kernel.store.read() as session:
        row = session.scalars(select(Job).where(Job.name == name).order_by(Job.id.desc())).first()
    assert row is not None
    return row.state, row.left_out


def chats() -> list[Chat]:
    return [
        Chat("Pond", ["Where does the pond pump go?", "Beside the pond."]),
        Chat("Poison", [f"Is {BAD} poisonous?", "Very."]),
        Chat("Path", ["Which stones for the path?", "Slate."]),
    ]


@pytest.fixture
def three_items() -> Any:
    @job("sample.three_items")
    def three_items(context: JobContext) -> None:
        for number in range(3):
            with one_of_many("count", number, context) as attempt:
                if number == 1:
                    raise ValueError(BAD)
            context.report(number + (not attempt.failed), 3)

    @job("sample.away")
    def away(context: JobContext) -> None:
        with one_of_many("ask", 1, context):
            raise Unavailable("The endpoint is away.")

    yield
    del JOBS["sample.three_items"], JOBS["sample.away"]


def test_an_item_that_fails_is_counted_and_logged_without_its_words(
    kernel: Kernel, three_items: None, capsys: pytest.CaptureFixture[str]
) -> None:
    log.configure()
    job_id = add(kernel, "sample.three_items", None)
    run_pending(kernel)
    row = read_job(kernel.store, job_id)
    assert (row.state, row.left_out, row.done_units) == ("done", 1, 3)
    said = capsys.readouterr().err
    assert '"event": "item_left_out"' in said
    assert BAD not in said


def test_what_passes_by_itself_is_no_fault_of_the_item(kernel: Kernel, three_items: None) -> None:
    job_id = add(kernel, "sample.away", None)
    run_pending(kernel)
    row = read_job(kernel.store, job_id)
    assert (row.state, row.left_out, row.failures) == ("queued", 0, 1)


def test_a_text_that_cannot_be_embedded_is_found_by_its_words_and_holds_up_no_other(
    kernel: Kernel, principal: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_jobs()
    keep(kernel, principal, *chats(), index=False)
    fail_at(monkeypatch, "backread.llm.hashing._embed", lambda text: text)
    with kernel.store.write() as session:
        enqueue_passages(session, principal.account_id)
    run_pending(kernel, names=["ingest.embed_passages"])
    assert ended(kernel, "ingest.embed_passages") == ("done", 1)
    with kernel.store.read() as session:
        assert "" not in set(session.scalars(select(Passage.dense_with)))


def test_a_conversation_that_cannot_be_read_is_left_out_of_the_overview_alone(
    kernel: Kernel, principal: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_jobs()
    keep(kernel, principal, *chats(), index=False)
    fail_at(monkeypatch, "recall.overview.digests.names_in", lambda text: text)
    with kernel.store.write() as session:
        enqueue_overview(session, principal.account_id)
    run_pending(kernel, names=["recall.refresh_overview"])
    assert ended(kernel, "recall.refresh_overview") == ("done", 1)
    with kernel.store.read() as session:
        rows = list(session.scalars(select(ConversationDigest.is_private)))
    assert sorted(rows) == [False, False, True]


def test_a_session_that_cannot_be_read_keeps_no_other_from_being_read(
    kernel: Kernel, principal: Principal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_jobs()
    fail_at(
        monkeypatch,
        "recall.agents.updating.digest",
        lambda messages, folder: BAD if folder.endswith("kiln") else "",
    )
    import_files(kernel, principal, *loom_sessions(tmp_path))
    run_pending(kernel, names=["recall.read_agent_sessions"])
    assert ended(kernel, "recall.read_agent_sessions") == ("done", 1)
    with kernel.store.read() as session:
        read = {
            row.project: bool(row.body["writes"]) for row in session.scalars(select(AgentSession))
        }
    assert read == {"/home/ada/loom": True, "/home/ada/kiln": False}


def test_a_record_that_cannot_be_cut_has_no_parts_and_the_others_have(
    kernel: Kernel, principal: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    from recall.folders.catalogue import create_folder

    load_jobs()
    with kernel.store.write() as session:
        folder = create_folder(session, principal, "Plants")
        for text in ("The pond is deep.", f"{BAD} is poisonous.", "The path is slate."):
            record = FolderRecord(
                account_id=principal.account_id, folder_id=folder.id, name="x", content=text
            )
            session.add(record)
            session.flush()
            derive_later(session, record)
    fail_at(monkeypatch, "recall.folders.deriving.chunks", lambda name, content, **_: content)
    run_pending(kernel, names=["recall.derive_records"])
    assert ended(kernel, "recall.derive_records") == ("done", 1)
    with kernel.store.read() as session:
        assert len(list(session.scalars(select(RecordChunk.id)))) == 2
        assert "" not in set(session.scalars(select(FolderRecord.derived_with)))


def test_a_document_that_cannot_be_cut_keeps_no_other_from_being_found(
    kernel: Kernel, principal: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_jobs()
    texts = ("The pond is deep.", f"{BAD} is poisonous.", "The path is slate.")
    with kernel.store.write() as session:
        for number, text in enumerate(texts):
            session.add(
                Document(
                    account_id=principal.account_id,
                    platform="claude_ai",
                    external_id=str(number),
                    kind="document",
                    name=text,
                    text=text,
                    size_bytes=len(text),
                    sha256=hashlib.sha256(text.encode()).hexdigest(),
                )
            )
        enqueue_documents(session, principal.account_id)
    fail_at(monkeypatch, "ingest.documents.projects.passages_of", lambda name, pages: name)
    run_pending(kernel, names=["ingest.read_project_documents"])
    assert ended(kernel, "ingest.read_project_documents") == ("done", 1)
    with kernel.store.read() as session:
        assert len(list(session.scalars(select(FilePassage.text)))) == 2


def test_a_conversation_at_which_a_parser_fails_keeps_what_it_has(
    kernel: Kernel, principal: Principal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_jobs()
    raw = [claude(f"c{number}") for number in range(3)]
    import_files(kernel, principal, write(tmp_path / "c.json", raw))
    with kernel.store.write() as session:
        session.execute(update(Conversation).values(parser_version=0, title="garbled"))
        bad = session.scalars(select(Conversation.id).order_by(Conversation.id)).all()[1]
        request_rereading(session, principal)
    fail_at(
        monkeypatch,
        "ingest.rereading.rebuild_conversation",
        lambda session, account, identifier: BAD if identifier == bad else "",
    )
    run_pending(kernel, names=["ingest.read_again"])
    assert ended(kernel, "ingest.read_again") == ("done", 1)
    with kernel.store.read() as session:
        titles = {row.id: row.title for row in session.scalars(select(Conversation))}
    assert {title for identifier, title in titles.items() if identifier != bad} == {"Kiln"}
    assert titles[bad] == "garbled"


def test_a_conversation_that_cannot_be_summarised_waits_and_the_others_are(
    kernel: Kernel, principal: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    with language_model_server() as server:
        server.answer = sensible
        settings = kernel.settings.model_copy(
            update={"llm_model": "test-model", "llm_base_url": server.base_url}
        )
        asking = kernel_of(settings)
        ids = keep(asking, principal, *(boat(title=f"Boat {n}") for n in range(3)), index=False)
        fail_at(
            monkeypatch,
            "recall.summarising.making.overview_of",
            lambda kernel, account, identifier: BAD if identifier == ids[1] else "",
        )
        accept(asking, principal)
        asking.close()
    assert ended(kernel, making.SUMMARISE) == ("done", 1)
    with kernel.store.read() as session:
        rows = {row.conversation_id: row for row in session.scalars(select(StoredSummary))}
    assert {rows[each].state for each in (ids[0], ids[2])} == {"made"}
    assert (rows[ids[1]].state, rows[ids[1]].why) == ("waiting", "internal")
    assert rows[ids[1]].try_after is not None
