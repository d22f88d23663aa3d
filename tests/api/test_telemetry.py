"""Figures and traces of a server that is used, and that neither they nor its log tell what was
said, asked or remembered."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from starlette.testclient import TestClient

from backread import log
from backread.domain import Principal, Scope
from backread.jobs import JOBS, JobContext, Queue, enqueue, job
from backread.jobs.broker import RUN_JOB, app
from backread.jobs.picking import Place
from backread.jobs.worker import KernelTask, SharedFlag
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.models import Account
from backread.telemetry import tracing
from backread.telemetry.spans import span
from recall.exporting import export_conversation
from recall.history import RecallRequest, recall_chat_history
from tests.api.archive import Importer, importer, run_jobs
from tests.api.exports import dialogue
from tests.api.mcp_server.calls import Caller
from tests.api.oauth.flow import new_flow
from tests.api.web.pages import csrf_of
from tests.recall.chats import GARDEN, keep

MARKER = "quillwort"
TOKEN = "figures-please"


@pytest.fixture(scope="session")
def exporter() -> InMemorySpanExporter:
    """Of all spans of this process: OpenTelemetry takes one provider and keeps it."""
    exporter = InMemorySpanExporter()
    tracing.use(tracing.provider_for(exporter, "test", at_once=True))
    return exporter


@pytest.fixture
def spans(exporter: InMemorySpanExporter) -> Iterator[InMemorySpanExporter]:
    exporter.clear()
    yield exporter
    exporter.clear()


@pytest.fixture
def settings(home: Any, database: str, spans: InMemorySpanExporter) -> Settings:
    """With the page of figures; made after the spans, so that the database has some."""
    return Settings(
        home=home,
        database_url=database,
        embedding_model="hashing",
        client_documents="off",
        metrics_token=TOKEN,
    )


@pytest.fixture
def bring_in(signed_in: TestClient) -> Importer:
    return importer(signed_in)


def figures(browser: TestClient) -> str:
    answer = browser.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain")
    return answer.text


def told(spans: InMemorySpanExporter) -> str:
    return "\n".join(span.to_json() for span in spans.get_finished_spans())


def test_figures_need_their_token(browser: TestClient, signed_in: TestClient) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {TOKEN}"}):
        assert signed_in.get("/metrics", headers=headers).status_code == 401


def test_figures_tell_of_requests_by_route_and_of_jobs_by_state(
    signed_in: TestClient, kernel: Kernel, owner: Account
) -> None:
    signed_in.get("/c/nonsense-of-mine")
    with kernel.store.write() as session:
        enqueue(session, "ingest.embed_memories", account_id=owner.id)
    text = figures(signed_in)
    assert 'route="/c/{conversation_id}",status="4xx"' in text
    assert "nonsense-of-mine" not in text
    assert 'backread_jobs{job="ingest.embed_memories",state="queued"} 1.0' in text
    assert 'backread_job_oldest_due_seconds{queue="background"}' in text
    assert owner.id not in text


def test_each_request_job_and_step_of_a_recall_has_a_span(
    signed_in: TestClient,
    kernel: Kernel,
    owner: Account,
    spans: InMemorySpanExporter,
    bring_in: Importer,
) -> None:
    bring_in(dialogue("how do I prune roses", "In March, above a bud."))
    principal = Principal(owner.id, scopes=frozenset(Scope))
    recall_chat_history(kernel, principal, RecallRequest(query="prune roses"))
    found = spans.get_finished_spans()
    names = {span.name for span in found}
    steps = {"recall.understand", "recall.retrieve", "recall.synthesise"}
    assert names >= {"request", "job", *steps}
    (request,) = [
        span for span in found if (span.attributes or {}).get("backread.route") == "/api/v1/imports"
    ]
    assert (request.attributes or {})["backread.status"] == 202
    jobs = [span.attributes or {} for span in found if span.name == "job"]
    assert ("ingest.run_import", "done") in {
        (each["backread.job"], each["backread.state"]) for each in jobs
    }


def test_a_job_goes_on_with_the_trace_of_its_request_down_to_the_statements(
    signed_in: TestClient, spans: InMemorySpanExporter, bring_in: Importer
) -> None:
    bring_in(dialogue("how do I prune roses", "In March, above a bud."))
    found = spans.get_finished_spans()
    (request,) = [
        span for span in found if (span.attributes or {}).get("backread.route") == "/api/v1/imports"
    ]
    together = [span for span in found if span.context.trace_id == request.context.trace_id]
    jobs = {(span.attributes or {})["backread.job"] for span in together if span.name == "job"}
    # The import, which the request asked for, and what the import asked for.
    assert jobs >= {"ingest.run_import", "ingest.embed_passages"}
    statements = {
        (each["backread.statement"], each.get("backread.table"))
        for span in together
        if span.name == "database" and (each := span.attributes or {})
    }
    assert statements >= {("insert", "jobs"), ("insert", "conversations"), ("select", "passages")}
    assert all(
        key in {"backread.statement", "backread.table", "error.type"}
        for span in found
        if span.name == "database"
        for key in span.attributes or {}
    )


def test_a_task_of_a_worker_is_linked_from_the_job_that_ran_in_it(
    settings: Settings, kernel: Kernel, spans: InMemorySpanExporter, failing: None
) -> None:
    with span("request"), kernel.store.write() as session:
        job_id = enqueue(session, "sample.quotes", account_id=None)
    KernelTask.settings, KernelTask.open_kernel = settings, Kernel
    KernelTask.stopping, KernelTask.place = SharedFlag(), Place(tuple(Queue), 1, "")
    try:
        app.tasks[RUN_JOB](job_id)
    finally:
        KernelTask.close_kernel()
    by_name = {each.name: each for each in spans.get_finished_spans()}
    request, task, run = by_name["request"], by_name["task"], by_name["job"]
    assert (task.attributes or {})["backread.task"] == RUN_JOB
    assert run.context.trace_id == request.context.trace_id != task.context.trace_id
    assert [link.context.span_id for link in run.links] == [task.context.span_id]


def test_the_secret_in_an_address_of_an_export_is_told_nowhere(
    signed_in: TestClient,
    kernel: Kernel,
    owner: Account,
    spans: InMemorySpanExporter,
    capsys: pytest.CaptureFixture[str],
) -> None:
    log.configure("DEBUG")
    principal = Principal(owner.id, scopes=frozenset(Scope))
    (garden,) = keep(kernel, principal, GARDEN, index=False)
    token = export_conversation(kernel, principal, garden).url.rsplit("/", 1)[1]
    for path in (f"/exports/{token}", f"/exports/{token}%00", f"/exports/{token}/more"):
        signed_in.get(path)
        signed_in.head(path)
        signed_in.post(path)
    output = capsys.readouterr()
    assert 'route="/exports/{token}",status="2xx"' in figures(signed_in)
    assert token not in output.out + output.err + told(spans) + figures(signed_in)


@pytest.fixture
def failing() -> Iterator[None]:
    @job("sample.quotes")
    def quotes(context: JobContext) -> None:
        raise ValueError(f"cannot read: {MARKER}") from KeyError(MARKER)

    yield
    del JOBS["sample.quotes"]


def use_tools(browser: TestClient) -> None:
    """An agent stores a memory, recalls it and the chat, reads what it can, and calls wrongly."""
    token = new_flow(browser).tokens(scopes=["chat-history:read", "memory:read", "memory:write"])
    agent = Caller(browser, token["access_token"])
    calls: dict[str, dict[str, Any]] = {
        "store_memory": {"text": f"Ada planted a {MARKER} by the pond."},
        "search_memories": {"query": f"{MARKER} pond"},
        "recall_chat_history": {"queries": [{"query": f"what is {MARKER}"}]},
    }
    for tool, arguments in calls.items():
        answer = agent.call(tool, arguments)
        assert not answer.get("isError"), answer
        assert MARKER in str(answer) or tool == "store_memory"
    assert agent.call("store_memory", {"text": MARKER, MARKER: MARKER})["isError"]
    assert agent.call("recall_chat_history", {"queries": f"{MARKER}\x00", "from": MARKER})[
        "isError"
    ]
    agent.rpc("tools/call", {"name": MARKER, "arguments": {MARKER: MARKER}})
    agent.rpc("resources/read", {"uri": f"agentmemory://project/{MARKER}/profile"})
    agent.modern("resources/read", {"uri": f"agentmemory://project/{MARKER}/recent"})
    agent.rpc("prompts/get", {"name": MARKER, "arguments": {MARKER: MARKER}})
    agent.rpc(MARKER, {MARKER: MARKER})


def write_records(browser: TestClient) -> None:
    """A person makes a folder with a key, and an agent writes and finds a record with it."""
    made = browser.post("/api/v1/folders", json={"name": f"About {MARKER}"})
    assert made.status_code == 201, made.text
    folder = f"/api/v1/folders/{made.json()['id']}"
    key = browser.post(f"{folder}/keys", json={"name": f"{MARKER} robot"}).json()["key"]
    agent = Caller(browser, key, path="/mcp/memories")
    record = {"name": MARKER, "content": f"{MARKER} is green.", "metadata": {MARKER: MARKER}}
    assert not agent.call("create_memory", record).get("isError")
    assert not agent.call("vector_search", {"query": MARKER}).get("isError")
    assert agent.call("create_memory", {**record, "metadata": {MARKER: [MARKER]}})["isError"]
    assert agent.call("find_memory", {"name": f"no {MARKER}"})["isError"]


def test_neither_log_nor_figures_nor_spans_hold_what_was_said_asked_or_remembered(
    signed_in: TestClient,
    kernel: Kernel,
    owner: Account,
    spans: InMemorySpanExporter,
    bring_in: Importer,
    failing: None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    log.configure("DEBUG")
    signed_in.headers["X-CSRF-Token"] = csrf_of(signed_in)
    bring_in(dialogue(f"what is {MARKER}", f"A {MARKER} is a fern ally.", title=MARKER))
    principal = Principal(owner.id, scopes=frozenset(Scope))
    result = recall_chat_history(kernel, principal, RecallRequest(query=f"what is {MARKER}"))
    assert MARKER in result.text
    assert MARKER in signed_in.get("/search", params={"q": MARKER}).text
    use_tools(signed_in)
    write_records(signed_in)
    signed_in.get(f"/c/{MARKER}")
    signed_in.get(f"/{MARKER}?{MARKER}={MARKER}")
    with kernel.store.write() as session:
        enqueue(session, "sample.quotes", account_id=owner.id)
    run_jobs(signed_in)

    written = capsys.readouterr().err
    lines = [json.loads(line) for line in written.splitlines() if line.startswith("{")]
    assert {"job_failed", "job_ended"} <= {line["event"] for line in lines}
    (failure,) = [line for line in lines if line["event"] == "job_failed"]
    assert "builtins.ValueError" in failure["exception"]
    assert (failure["job"], failure["account_id"]) == ("sample.quotes", owner.id)
    assert MARKER not in written
    assert MARKER not in figures(signed_in)
    assert MARKER not in told(spans)
    assert owner.email not in written + told(spans) + figures(signed_in)
