"""What waits and what runs, as those who choose the next job need to see it: of every account."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, func, select
from sqlalchemy.dialects import postgresql, sqlite

from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Job, JobTurn

SERVER = ""  # the owner of jobs that are for no account
_MOST_SENT = 200


@dataclass(frozen=True, slots=True)
class WaitingGroup:
    """Jobs of one name and owner that wait, of which at least one is due."""

    owner: str
    name: str
    first_due: datetime


def waiting_groups(session: ReadSession, now: datetime) -> list[WaitingGroup]:
    """Read from an index alone, so that it is quick with tens of thousands of jobs, too."""
    first = func.min(Job.run_after)
    query = (
        select(Job.account_id, Job.name, first)
        .where(Job.state == "queued")
        .group_by(Job.account_id, Job.name)
        .having(first <= now)
    )
    return [
        WaitingGroup(account_id or SERVER, name, due)
        for account_id, name, due in session.execute(query)
    ]


def first_of_group(
    session: ReadSession, group: WaitingGroup, now: datetime, *, keys_running: Collection[str]
) -> Job | None:
    """The job of the group that has been due longest and whose key no running job has."""
    query = (
        select(Job)
        .where(
            Job.state == "queued",
            Job.account_id == group.owner if group.owner else Job.account_id.is_(None),
            Job.name == group.name,
            Job.run_after <= now,
        )
        .order_by(Job.run_after, Job.id)
        .limit(1)
    )
    if keys_running:
        query = query.where(Job.dedupe_key.not_in(keys_running))
    return session.scalar(query)


def running_jobs(session: ReadSession) -> list[Job]:
    """Rows that say that they run. Whether their workers still live is for the caller to find
    out."""
    return list(session.scalars(select(Job).where(Job.state == "running")))


def unsent_jobs(
    session: ReadSession, now: datetime, *, sent_before: datetime, created_before: datetime
) -> list[Job]:
    """Jobs that are due and that no message is under way for, oldest first. Those that have just
    been made are left out: whoever made them has sent them."""
    query = (
        select(Job)
        .where(
            Job.state == "queued",
            Job.run_after <= now,
            (Job.sent_at.is_(None) & ((Job.attempts > 0) | (Job.created_at <= created_before)))
            | (Job.sent_at <= sent_before),
        )
        .order_by(Job.run_after, Job.id)
    )
    return list(session.scalars(query.limit(_MOST_SENT)))


def last_turns(session: ReadSession, queue: str) -> dict[str, datetime]:
    """When each owner was served last, as far as that is known."""
    query = select(JobTurn.owner, JobTurn.served_at).where(JobTurn.queue == queue)
    return {turn.owner: turn.served_at for turn in session.execute(query)}


def note_turn(session: WriteSession, owner: str, queue: str, now: datetime) -> None:
    is_sqlite = session.get_bind().dialect.name == "sqlite"
    insert = sqlite.insert if is_sqlite else postgresql.insert
    statement = insert(JobTurn).values(owner=owner, queue=queue, served_at=now)
    session.execute(
        statement.on_conflict_do_update(
            index_elements=[JobTurn.owner, JobTurn.queue], set_={"served_at": now}
        )
    )


def forget_turns(session: WriteSession, now: datetime) -> None:
    """Removes turns of more than a day ago: those who wait now have waited for less."""
    session.execute(delete(JobTurn).where(JobTurn.served_at < now - timedelta(days=1)))


def queue_sizes(session: ReadSession) -> Sequence[tuple[str, str, int]]:
    """Name, state and number of the jobs that have not ended, and of those that failed and were
    not dismissed."""
    query = (
        select(Job.name, Job.state, func.count())
        .where(
            Job.state.in_(("queued", "running"))
            | (Job.state.in_(("failed", "dead")) & Job.dismissed_at.is_(None))
        )
        .group_by(Job.name, Job.state)
    )
    return [(name, state, count) for name, state, count in session.execute(query)]


def ended_since(session: ReadSession, since: datetime) -> Sequence[tuple[str, str, int]]:
    """Name, state and number of the jobs that ended since then."""
    query = (
        select(Job.name, Job.state, func.count())
        .where(Job.state.in_(("done", "failed", "dead", "cancelled")), Job.finished_at >= since)
        .group_by(Job.name, Job.state)
    )
    return [(name, state, count) for name, state, count in session.execute(query)]
