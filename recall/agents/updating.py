"""Keeps the digests of agents' sessions, and the graph, in step with the conversations."""

from backread.errors import NotFound
from backread.follow_ups import CONVERSATIONS_CHANGED
from backread.jobs import UPKEEP, JobContext, Queue, enqueue, job, one_of_many
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.engine import WriteSession
from backread.store.models import AgentSession, Conversation, GraphEntity, GraphRelation
from backread.store.repositories import agent_sessions as store
from recall.agents.digesting import DIGEST_VERSION, SessionDigest, SessionMessage, digest
from recall.agents.graphing import GRAPH_VERSION, SessionGraph, graph_of

READ_SESSIONS = "recall.read_agent_sessions"

_BATCH = 50
_MOST_MESSAGES = 20_000  # of a session; what comes later is not read
_SUBAGENT = "/agent-"


def made_with(settings: Settings) -> str:
    """Names what reads sessions. Turning the graph on or off has them read again."""
    graph = f"graph.{GRAPH_VERSION}" if settings.graph_extraction_enabled else "no-graph"
    return f"session.{DIGEST_VERSION}-{graph}"


def read_sessions(kernel: Kernel, account_id: str, context: JobContext | None = None) -> int:
    """Reads up to 50 sessions that are new or have changed; returns how many. One that cannot be
    read is kept empty until it changes or another version reads it."""
    way = made_with(kernel.settings)
    with kernel.store.read() as session:
        found = store.sessions_to_read(session, account_id, way, limit=_BATCH)
    for conversation in found:
        if context is not None:
            context.check()
        _read(kernel, conversation, way, context)
    return len(found)


def read_all_sessions(kernel: Kernel, account_id: str) -> None:
    while read_sessions(kernel, account_id):
        pass


@job(READ_SESSIONS, queue=Queue.BACKGROUND)
def read_agent_sessions(context: JobContext) -> None:
    """Reads what is new of the account. Resumes where it was stopped."""
    if context.account_id is None:
        raise ValueError(f"job {context.job_id} is for no account")
    done = 0
    while count := read_sessions(context.kernel, context.account_id, context):
        done += count
        context.report(done, done)


def after_change(kernel: Kernel, session: WriteSession, account_id: str) -> None:
    """An import or a deletion has changed conversations."""
    enqueue(
        session,
        READ_SESSIONS,
        account_id=account_id,
        dedupe_key=f"agent_sessions:{account_id}",
    )


def catch_up(kernel: Kernel) -> None:
    """After an upgrade, and after the graph was turned on or off."""
    with kernel.store.read() as session:
        accounts = store.accounts_with_sessions_to_read(session, made_with(kernel.settings))
    for account_id in accounts:
        with kernel.store.write() as session:
            after_change(kernel, session, account_id)


def _read(kernel: Kernel, conversation: Conversation, way: str, context: JobContext | None) -> None:
    folder = conversation.project
    found, graph = SessionDigest(), None
    with one_of_many("read_session", conversation.id, context):
        with kernel.store.read() as session:
            messages = [
                SessionMessage(each.id, each.role, each.kind, each.text, each.asides)
                for each in store.messages_of_session(session, conversation.id, most=_MOST_MESSAGES)
            ]
        found = digest(messages, folder)
        if kernel.settings.graph_extraction_enabled:
            graph = graph_of(found, messages)
    row = AgentSession(
        conversation_id=conversation.id,
        account_id=conversation.account_id,
        made_with=way,
        source_changed_at=conversation.changed_at,
        project=folder.rstrip("/\\")[:500],
        is_subagent=_SUBAGENT in conversation.external_id,
        body=found.body(),
    )
    try:
        with kernel.store.write() as session:
            if session.get(Conversation, conversation.id) is None:
                raise NotFound("The conversation was deleted meanwhile.")
            store.replace_session(session, row)
            if graph is not None:
                _keep_graph(session, row, graph)
    except NotFound:
        return


def _keep_graph(session: WriteSession, row: AgentSession, graph: SessionGraph) -> None:
    owner = {"account_id": row.account_id, "conversation_id": row.conversation_id}
    session.add_all(
        GraphEntity(
            **owner,
            type=entity.type,
            name=entity.name,
            count=count,
            message_id=graph.first.get(entity, ""),
        )
        for entity, count in graph.entities.items()
    )
    session.add_all(
        GraphRelation(
            **owner,
            relation=edge.relation,
            source_type=edge.source.type,
            source=edge.source.name,
            target_type=edge.target.type,
            target=edge.target.name,
            count=count,
            message_id=graph.first.get(edge, ""),
        )
        for edge, count in graph.relations.items()
    )


CONVERSATIONS_CHANGED.append(after_change)
UPKEEP.append(catch_up)
