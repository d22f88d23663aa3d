"""Projects: the folders that coding agents worked in, and what is known of each.

Everything is added up from the digests of the project's sessions at the moment of the call, so it
is as fresh as they are, and each statement names the session and message that it comes from.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime
from pathlib import PurePosixPath

from pydantic import BaseModel, Field

from backread.domain import Principal
from backread.kernel import Kernel
from backread.store.repositories import agent_sessions as store
from backread.store.repositories.agent_sessions import ReadSessionRow
from recall.agents.narrating import summary_in_words
from recall.agents.statements import same_statement
from recall.rendering import one_line
from recall.wire import ResultModel

RECENT_SESSIONS = 5
_MOST = 15
_MOST_STATEMENTS, _MOST_EVIDENCE = 20, 5


class Counted(ResultModel):
    """How often, and in how many sessions."""

    name: str
    count: int
    sessions: int


class Evidence(ResultModel):
    session_id: str
    message_id: str
    date: datetime | None


class Statement(ResultModel):
    """Something laid down, with how often it was said and where."""

    text: str
    evidence_count: int
    evidence: list[Evidence]


class Pattern(ResultModel):
    """Something that recurs from session to session."""

    kind: str = Field(description="command: run again and again; files: changed together.")
    text: str
    count: int
    sessions: list[str]


class ProjectProfile(ResultModel):
    """What is known of a project. Without sessions everything is empty."""

    project: str
    paths: list[str] = Field(description="The folders that this name stands for.")
    session_count: int
    first_session_at: datetime | None
    last_session_at: datetime | None
    top_concepts: list[Counted]
    most_accessed_files: list[Counted]
    most_modified_files: list[Counted]
    conventions: list[Statement]
    decisions: list[Statement]
    patterns: list[Pattern]
    session_ids: list[str]


class RecentSession(ResultModel):
    session_id: str
    project: str
    created_at: datetime | None
    summary: str


class ProjectListed(BaseModel):
    name: str
    path: str
    sessions: int
    last_session_at: datetime | None


def list_projects(kernel: Kernel, principal: Principal) -> list[ProjectListed]:
    """Every project, the one worked on last first."""
    with kernel.store.read() as session:
        found = store.project_folders(session, principal.account_id)
    return [
        ProjectListed(name=name_of(path), path=path, sessions=count, last_session_at=last)
        for path, count, last in found
    ]


def name_of(path: str) -> str:
    """The project's directory name, which is what agents call it by."""
    return PurePosixPath(path.replace("\\", "/")).name or path


def project_profile(kernel: Kernel, principal: Principal, name: str) -> ProjectProfile:
    """Of an unknown project: one that is empty, since a session may come."""
    with kernel.store.read() as session:
        paths = _paths(store.project_folders(session, principal.account_id), name)
        rows = store.sessions_of(session, principal.account_id, paths) if paths else []
    own = [row for row in rows if not row.is_subagent]
    moments = [row.first_at for row in own if row.first_at]
    return ProjectProfile(
        project=name,
        paths=paths,
        session_count=len(own),
        first_session_at=min(moments, default=None),
        last_session_at=max((row.last_at for row in own if row.last_at), default=None),
        top_concepts=_concepts(rows),
        most_accessed_files=_counted(rows, "reads", "writes"),
        most_modified_files=_counted(rows, "writes"),
        conventions=_statements(rows, "conventions"),
        decisions=_statements(rows, "decisions"),
        patterns=_patterns(rows),
        session_ids=[row.conversation_id for row in own],
    )


def recent_sessions(kernel: Kernel, principal: Principal, name: str) -> list[RecentSession]:
    """The five latest sessions with their summaries, newest first."""
    account_id = principal.account_id
    with kernel.store.read() as session:
        paths = _paths(store.project_folders(session, account_id), name)
        rows = (
            store.latest_sessions(session, account_id, paths, limit=RECENT_SESSIONS)
            if paths
            else []
        )
    return [
        RecentSession(
            session_id=row.conversation_id,
            project=name,
            created_at=row.first_at,
            summary=summary_in_words(kernel, principal, row.conversation_id) or one_line(row.title),
        )
        for row in rows
    ]


def _paths(found: Sequence[tuple[str, int, datetime | None]], name: str) -> list[str]:
    """The folder with this very path; else those with this name. Several folders of one name are
    one project here: checkouts of it on several machines are the usual reason."""
    wanted = name.rstrip("/\\")
    paths = [path for path, _, _ in found]
    if wanted in paths:
        return [wanted]
    return [path for path in paths if name_of(path) == wanted]


def _counted(rows: Sequence[ReadSessionRow], *keys: str) -> list[Counted]:
    times: Counter[str] = Counter()
    sessions: Counter[str] = Counter()
    for row in rows:
        of_session: Counter[str] = Counter()
        for key in keys:
            of_session.update(row.body.get(key, {}))
        times.update(of_session)
        sessions.update(of_session.keys())
    ranked = sorted(times, key=lambda name: (-times[name], -sessions[name], name))
    return [
        Counted(name=name, count=times[name], sessions=sessions[name]) for name in ranked[:_MOST]
    ]


def _concepts(rows: Sequence[ReadSessionRow]) -> list[Counted]:
    """By the sessions that have them, then by how often: one long session must not fill the list.
    Spellings that differ in case are one, under the one that is written most."""
    times: dict[str, Counter[str]] = defaultdict(Counter)
    sessions: Counter[str] = Counter()
    for row in rows:
        of_session = row.body.get("concepts", {})
        for term, count in of_session.items():
            times[term.casefold()][term] += count
        sessions.update({term.casefold() for term in of_session})
    ranked = sorted(times, key=lambda key: (-sessions[key], -times[key].total(), key))
    return [
        Counted(
            name=times[key].most_common(1)[0][0], count=times[key].total(), sessions=sessions[key]
        )
        for key in ranked[:_MOST]
    ]


def _statements(rows: Sequence[ReadSessionRow], key: str) -> list[Statement]:
    """The same thing said twice is one statement with two pieces of evidence."""
    found: dict[tuple[str, ...], list[tuple[str, Evidence]]] = defaultdict(list)
    for row in rows:
        for text, message_id in row.body.get(key, ()):
            evidence = Evidence(
                session_id=row.conversation_id, message_id=message_id, date=row.last_at
            )
            found[same_statement(text) or (text,)].append((text, evidence))
    ranked = sorted(found.values(), key=len, reverse=True)  # stable: the newest first
    return [
        Statement(
            text=said[0][0],
            evidence_count=len(said),
            evidence=[each for _, each in said[:_MOST_EVIDENCE]],
        )
        for said in ranked[:_MOST_STATEMENTS]
    ]


def _patterns(rows: Sequence[ReadSessionRow]) -> list[Pattern]:
    """Commands and pairs of changed files that come back in a second session at least."""
    commands: dict[str, list[tuple[str, int]]] = defaultdict(list)
    together: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in rows:
        for command, count in row.body.get("commands", {}).items():
            commands[command].append((row.conversation_id, count))
        changed = sorted(row.body.get("writes", {}))[:30]
        for place, left in enumerate(changed):
            for right in changed[place + 1 :]:
                together[left, right].append(row.conversation_id)
    found = [
        Pattern(
            kind="command",
            text=command,
            count=sum(count for _, count in used),
            sessions=[each for each, _ in used[:_MOST_EVIDENCE]],
        )
        for command, used in commands.items()
        if len(used) > 1
    ]
    found += [
        Pattern(
            kind="files",
            text=f"{left} and {right}",
            count=len(sessions),
            sessions=sessions[:_MOST_EVIDENCE],
        )
        for (left, right), sessions in together.items()
        if len(sessions) > 1
    ]
    return sorted(found, key=lambda each: (-len(each.sessions), -each.count, each.text))[:_MOST]
