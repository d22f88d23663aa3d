"""Background work as people see it: on the Activity page, over REST, and at the command line."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from backread.domain import Principal
from backread.errors import AccessDenied
from backread.jobs import cancel
from backread.jobs.pausing import pause, resume
from backread.jobs.words import JobWords, words_of
from backread.store.base import utcnow
from backread.store.engine import ReadSession, WriteSession
from backread.store.models import Account, Job
from backread.store.repositories.accounts import OWNER
from backread.store.repositories.imports import import_names
from backread.store.repositories.job_queue import queue_sizes
from backread.store.repositories.jobs import (
    DEAD_LETTERS,
    count_visible,
    find_visible_job,
    visible_jobs,
)
from ingest.accept import RUN_JOB
from ingest.controls import cancel_import, pause_import

_RUNNING_SHOWN = 50
_WAITING_SHOWN = 10
_FAILED_SHOWN = 50
_ENDED_SHOWN = 15
_ENDED_READ = 300  # of which many may be one line
_ENDED = ("done", "cancelled")
_ONE_STRETCH = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class JobView:
    """One job in words. `seconds_left` and `rate` (units in a second) are known only while it
    runs and gets on."""

    id: str
    name: str
    label: str
    subject: str  # what it is about, e.g. the file's name
    href: str  # the page with more about it, or ""
    state: str
    attempts: int
    done_units: int
    total_units: int
    left_out: int  # items that it could not do and went on without
    unit: str
    rate: float
    seconds_left: int | None
    error: str
    error_code: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    run_after: datetime
    can_stop: bool
    can_pause: bool
    is_paused: bool
    can_retry: bool
    is_dismissed: bool
    is_of_server: bool

    @property
    def seconds(self) -> float | None:
        """How long it took from its first start."""
        if self.started_at is None or self.finished_at is None:
            return None
        return max(0.0, (self.finished_at - self.started_at).total_seconds())

    @property
    def waits_for_retry(self) -> bool:
        is_later = self.run_after > utcnow() and not self.is_paused
        return self.state == "queued" and bool(self.error) and is_later


@dataclass(frozen=True, slots=True)
class QueueSize:
    """Of the whole server, for owners: how many jobs of a kind there are, never whose."""

    label: str
    queued: int
    running: int
    failed: int


@dataclass(frozen=True, slots=True)
class JobLine:
    """One line of a list: a job, or the latest of `count` that did the same and are done."""

    latest: JobView
    count: int = 1
    since: datetime | None = None  # when the first of several was done


@dataclass(frozen=True, slots=True)
class Activity:
    running: list[JobView]
    waiting: list[JobView]
    failed: list[JobView]
    ended: list[JobLine]
    counts: dict[str, int]  # queued, running, failed
    server: list[QueueSize] | None  # None for who is no owner


def read_activity(session: ReadSession, principal: Principal) -> Activity:
    """What a person may see of the background work, newest first."""

    def some(states: Sequence[str], limit: int) -> list[Job]:
        return visible_jobs(session, principal, states=states, limit=limit)

    lists = [
        some(("running",), _RUNNING_SHOWN),
        some(("queued",), _WAITING_SHOWN),
        some(DEAD_LETTERS, _FAILED_SHOWN),
        some(_ENDED, _ENDED_READ),
    ]
    names = import_names(
        session,
        principal.account_id,
        [_import_id(job) for jobs in lists for job in jobs if _import_id(job)],
    )
    running, waiting, failed, ended = ([view_of(job, names) for job in jobs] for jobs in lists)
    return Activity(
        running,
        waiting,
        failed,
        in_lines(ended)[:_ENDED_SHOWN],
        count_visible(session, principal),
        _server(session) if _is_owner(session, principal) else None,
    )


def in_lines(jobs: Sequence[JobView]) -> list[JobLine]:
    """Jobs, newest first, with those as one line that did the same for the same owner, are done,
    and followed each other within an hour. Imports, and what failed, ran, waits or has left
    something out, are never taken together."""
    lines: list[JobLine] = []
    open_lines: dict[tuple[str, bool], int] = {}
    for job in jobs:
        kind = (job.name, job.is_of_server)
        place = open_lines.get(kind)
        is_alone = job.state != "done" or job.name == RUN_JOB or job.left_out > 0
        if is_alone or job.finished_at is None:
            lines.append(JobLine(job))
            continue
        if place is not None:
            line = lines[place]
            before = line.since or line.latest.finished_at
            if before is not None and before - job.finished_at <= _ONE_STRETCH:
                lines[place] = replace(line, count=line.count + 1, since=job.finished_at)
                continue
        open_lines[kind] = len(lines)
        lines.append(JobLine(job))
    return lines


def read_job(session: ReadSession, principal: Principal, job_id: str) -> JobView:
    """Raises NotFound."""
    job = find_visible_job(session, principal, job_id)
    wanted = [_import_id(job)] if _import_id(job) else []
    return view_of(job, import_names(session, principal.account_id, wanted))


def read_jobs(
    session: ReadSession, principal: Principal, *, states: Sequence[str], limit: int
) -> list[JobView]:
    """Newest first."""
    jobs = visible_jobs(session, principal, states=states, limit=limit)
    wanted = [_import_id(job) for job in jobs if _import_id(job)]
    names = import_names(session, principal.account_id, wanted)
    return [view_of(job, names) for job in jobs]


def stop_job(session: WriteSession, principal: Principal, job_id: str) -> str:
    """Calls a person's own job off; returns its state afterwards. One that runs ends within
    seconds. Raises NotFound, and AccessDenied for what the server does for itself."""
    job = find_visible_job(session, principal, job_id)
    if job.account_id is None:
        raise AccessDenied("The server needs this job; it cannot be stopped.")
    if job.name == RUN_JOB and job.state in {"queued", "running"}:
        cancel_import(session, principal, _import_id(job))
        return find_visible_job(session, principal, job_id).state
    return cancel(session, principal.account_id, job_id)


def pause_job(session: WriteSession, principal: Principal, job_id: str) -> str:
    """Holds a job back until it is resumed, also across restarts; an import is resumed from its
    report, whose id is returned, else nothing. Raises NotFound, and AccessDenied for jobs that
    cannot be paused."""
    job = find_visible_job(session, principal, job_id)
    if job.name == RUN_JOB:
        pause_import(session, principal, _import_id(job))
        return _import_id(job)
    if not words_of(job.name).can_pause or job.account_id is None:
        raise AccessDenied("Jobs of this kind cannot be paused.")
    pause(session, job)
    return ""


def resume_job(session: WriteSession, principal: Principal, job_id: str) -> None:
    """Lets a job go on that was paused. Raises NotFound."""
    resume(session, find_visible_job(session, principal, job_id))


def view_of(job: Job, names: dict[str, str]) -> JobView:
    words = words_of(job.name)
    import_id = _import_id(job)
    is_open = job.state in {"queued", "running"}
    return JobView(
        id=job.id,
        name=job.name,
        label=words.label,
        subject=names.get(import_id, ""),
        href=f"/imports/{import_id}" if import_id in names else "",
        state=job.state,
        attempts=job.attempts,
        done_units=job.done_units,
        total_units=job.total_units,
        left_out=job.left_out,
        unit=words.unit,
        rate=job.units_per_second if job.state == "running" else 0.0,
        seconds_left=_seconds_left(job),
        error=job.error,
        error_code=job.error_code,
        created_at=job.created_at,
        started_at=job.started_at,
        finished_at=job.finished_at,
        run_after=job.run_after,
        can_stop=is_open and _may_stop(job, words),
        can_pause=is_open and _may_pause(job, words),
        is_paused=is_open and job.paused_at is not None,
        can_retry=job.state in DEAD_LETTERS,
        is_dismissed=job.dismissed_at is not None,
        is_of_server=job.account_id is None,
    )


def _may_stop(job: Job, words: JobWords) -> bool:
    return words.can_stop and job.account_id is not None and job.cancel_requested_at is None


def _may_pause(job: Job, words: JobWords) -> bool:
    can = job.name == RUN_JOB or (words.can_pause and job.account_id is not None)
    return can and job.paused_at is None and job.cancel_requested_at is None


def _seconds_left(job: Job) -> int | None:
    left = job.total_units - job.done_units
    if job.state != "running" or job.units_per_second <= 0 or left <= 0:
        return None
    return round(left / job.units_per_second)


def _import_id(job: Job) -> str:
    return str(job.args.get("import_id", "")) if job.name == RUN_JOB else ""


def _is_owner(session: ReadSession, principal: Principal) -> bool:
    account = session.get(Account, principal.account_id)
    return account is not None and account.role == OWNER


def _server(session: ReadSession) -> list[QueueSize]:
    sizes: dict[str, dict[str, int]] = {}
    for name, state, count in queue_sizes(session):
        counts = sizes.setdefault(words_of(name).label, {"queued": 0, "running": 0, "failed": 0})
        counts["failed" if state in DEAD_LETTERS else state] += count
    return [QueueSize(label, **counts) for label, counts in sorted(sizes.items())]
