"""Which job comes next, and when one that runs gives its place to another.

Those that people wait for come before the background, and backfills last. Among jobs of one rank
accounts take turns: the one that has the fewest jobs running, and then the one whose last turn is
longest ago. So an account with twenty thousand jobs and an account with one wait equally long.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import attrgetter

from backread.jobs.liveness import is_dead
from backread.jobs.registry import Queue, is_backfill, queue_of
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.engine import ReadSession
from backread.store.models import Job
from backread.store.repositories.job_queue import (
    SERVER,
    WaitingGroup,
    first_of_group,
    last_turns,
    running_jobs,
    waiting_groups,
)

_NEVER = datetime.min.replace(tzinfo=UTC)
_TURN_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Place:
    """A worker that takes jobs of `queues`, up to `slots` at a time.

    The last free slot is kept for an account that has nothing running here, so that an account
    with one long job does not keep the others out. Where all are taken, the job that has had its
    place longest gives it up after `turn_seconds`.
    """

    queues: tuple[Queue, ...]
    slots: int
    group: str  # what the names of this worker's processes begin with
    turn_seconds: float = _TURN_SECONDS

    @property
    def most_per_owner(self) -> int:
        return max(1, self.slots - 1)


@dataclass(frozen=True, slots=True)
class _Candidate:
    rank: tuple[int, bool]
    owner: str
    running: int  # jobs of the owner that run on the queue
    served_at: datetime
    losses: int
    due: datetime
    source: Job | WaitingGroup

    @property
    def order(self) -> tuple[tuple[int, bool], int, datetime, int, datetime]:
        return self.rank, self.running, self.served_at, self.losses, self.due


def is_claimable(settings: Settings, job: Job, now: datetime) -> bool:
    """True for a queued job that is due and a running one whose lease is void."""
    if job.state == "queued":
        return job.run_after <= now
    return job.state == "running" and is_void(settings, job, now)


def is_void(settings: Settings, job: Job, now: datetime) -> bool:
    """Whether nobody holds the running job any more."""
    return job.lease_until is None or job.lease_until <= now or is_dead(settings, job.worker)


def next_job(kernel: Kernel, place: Place, names: Sequence[str] | None = None) -> Job | None:
    """The job whose turn it is, if one may begin. Of `names` only, if they are given."""
    now = utcnow()
    with kernel.store.read() as session:
        running = running_jobs(session)
        held, void = _split(kernel.settings, running, now)
        keys = {job.dedupe_key for job in running if job.dedupe_key}
        candidates = _candidates(session, place, held, void, now)
        for each in sorted(candidates, key=attrgetter("order")):
            if names is not None and each.source.name not in names:
                continue
            if _count(_here(place, held), each.owner) >= place.most_per_owner:
                continue
            if isinstance(each.source, Job):
                return each.source
            job = first_of_group(session, each.source, now, keys_running=keys)
            if job is not None:
                return job
    return None


def must_give_way(kernel: Kernel, place: Place, job_id: str) -> bool:
    """Whether a job waits that should have the place of this running one."""
    now = utcnow()
    with kernel.store.read() as session:
        running = running_jobs(session)
        held, void = _split(kernel.settings, running, now)
        keys = {job.dedupe_key for job in running if job.dedupe_key}
        here = _here(place, held)
        if len(here) < place.slots:
            return False  # there is room
        for each in _candidates(session, place, held, void, now):
            outranked = _outranked(place, each, here, held)
            if not outranked:
                continue
            if max(outranked, key=lambda job: _replaceable(place, job)).id != job_id:
                continue
            # One whose key a running job has could not begin, and this one would come back.
            if isinstance(each.source, Job) or first_of_group(
                session, each.source, now, keys_running=keys
            ):
                return True
    return False


def _outranked(
    place: Place, waiting: _Candidate, here: Sequence[Job], held: Sequence[Job]
) -> list[Job]:
    """Jobs whose place the waiting one should have. Of an account that may have no further one
    here its own alone: with the place of any other it could not begin."""
    is_full = _count(here, waiting.owner) >= place.most_per_owner
    return [
        job
        for job in here
        if _goes_before(place, waiting, job, held)
        and (not is_full or (job.account_id or SERVER) == waiting.owner)
    ]


def _goes_before(place: Place, waiting: _Candidate, job: Job, held: Sequence[Job]) -> bool:
    rank = _rank(place, job.name)
    if waiting.rank != rank:
        return waiting.rank < rank
    owner = job.account_id or SERVER
    return waiting.owner != owner and waiting.running < _count_queue(held, owner, job.name)


def _replaceable(place: Place, job: Job) -> tuple[tuple[int, bool], float]:
    """Of the lowest rank, and of these the one that has had its place longest."""
    began = job.claimed_at or _NEVER
    return _rank(place, job.name), -began.timestamp() if job.claimed_at else 0.0


def _candidates(
    session: ReadSession, place: Place, held: Sequence[Job], void: Sequence[Job], now: datetime
) -> list[_Candidate]:
    turns = {queue: last_turns(session, queue) for queue in place.queues}
    sources: list[tuple[str, str, int, datetime, Job | WaitingGroup]] = [
        (group.owner, group.name, 0, group.first_due, group)
        for group in waiting_groups(session, now)
    ]
    sources += [
        (job.account_id or SERVER, job.name, job.losses, job.run_after, job) for job in void
    ]
    return [
        _Candidate(
            _rank(place, name),
            owner,
            _count_queue(held, owner, name),
            turns[queue_of(name)].get(owner, _NEVER),
            losses,
            due,
            source,
        )
        for owner, name, losses, due, source in sources
        if queue_of(name) in place.queues
    ]


def _rank(place: Place, name: str) -> tuple[int, bool]:
    return place.queues.index(queue_of(name)), is_backfill(name)


def _split(
    settings: Settings, running: Sequence[Job], now: datetime
) -> tuple[list[Job], list[Job]]:
    """Those that somebody holds, and those whose worker is gone."""
    void = [job for job in running if is_void(settings, job, now)]
    gone = {job.id for job in void}
    return [job for job in running if job.id not in gone], void


def _here(place: Place, held: Sequence[Job]) -> list[Job]:
    return [
        job
        for job in held
        if job.worker.startswith(place.group) and queue_of(job.name) in place.queues
    ]


def _count(held: Sequence[Job], owner: str) -> int:
    return sum((job.account_id or SERVER) == owner for job in held)


def _count_queue(held: Sequence[Job], owner: str, name: str) -> int:
    queue = queue_of(name)
    return _count([job for job in held if queue_of(job.name) is queue], owner)
