"""Everything that happens by the clock, as one table.

Beat sends each entry to a worker; the worker that has no broker keeps the table itself. Every
entry may be missed, done late or done twice.
"""

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Connection, text

from backread.jobs import expiring
from backread.jobs.broker import SWEEP
from backread.jobs.dead_letters import revive
from backread.jobs.registry import UPKEEP
from backread.jobs.sweeper import sweep
from backread.kernel import Kernel
from backread.log import get_logger
from backread.store.base import utcnow
from backread.store.repositories.job_queue import forget_turns, running_jobs
from backread.store.repositories.jobs import delete_finished
from backread.telemetry.spans import span

__all__ = ["SCHEDULE", "Entry", "expiring"]  # importing `expiring` registers its upkeep

_HOUR = 3600.0
# A vacuum writes the whole file anew and keeps everybody else from writing meanwhile.
_VACUUM_AT_MOST_BYTES = 1024**3
_VACUUM_WORTH_BYTES = 64 * 1024**2
_VACUUM_WORTH_SHARE = 0.25

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Entry:
    name: str  # of the Celery task
    seconds: float  # between two times
    run: Callable[[Kernel], object]
    for_broker: bool = False  # is of no use where jobs are looked up in the database

    @property
    def expires_seconds(self) -> float:
        """A message older than this is dropped: the next one does the same."""
        return max(15.0, self.seconds)


def prune_jobs(kernel: Kernel) -> None:
    """Removes jobs that ended `job_keep_days` ago, and old turns."""
    now = utcnow()
    with kernel.store.write() as session:
        delete_finished(session, now, keep_days=kernel.settings.job_keep_days)
        forget_turns(session, now)


def do_upkeep(kernel: Kernel) -> None:
    """Does what the packages registered in `UPKEEP`: old uploads and trial runs, expired sign-ins,
    tokens, sessions and event streams, accounts whose erasing was cut short, and derived rows that
    lag behind. One that fails keeps no other from its turn."""
    for clear_away in UPKEEP:
        name = getattr(clear_away, "__name__", "")
        try:
            with span("upkeep", job=name):
                clear_away(kernel)
        except Exception as error:  # noqa: BLE001 - an edge like a job's: logged, and next time again
            _log.exception("upkeep_failed", step=name, error=type(error).__name__)


def tend_database(kernel: Kernel) -> None:
    """Keeps SQLite quick and its files small: fresh statistics for the planner, a write-ahead log
    that begins anew, and space given back to the disk when a quarter of the file is free. A file
    of more than a gigabyte is left as large as it is: new rows use the space. PostgreSQL's
    autovacuum does as much by itself."""
    if not kernel.store.is_sqlite:
        return
    with kernel.store.write() as session:
        session.execute(text("PRAGMA analysis_limit=1000"))
        session.execute(text("ANALYZE"))
    with kernel.store.read() as session:
        is_quiet = not running_jobs(session)
    with kernel.store.engine.connect() as connection:
        connection.exec_driver_sql("COMMIT")  # these work outside of a transaction only
        if is_quiet and _is_worth_a_vacuum(connection):
            connection.exec_driver_sql("VACUUM")
        connection.exec_driver_sql("PRAGMA wal_checkpoint(PASSIVE)")  # waits for nobody
        connection.exec_driver_sql("BEGIN")


def _is_worth_a_vacuum(connection: Connection) -> bool:
    page, pages, free = (
        int(connection.exec_driver_sql(f"PRAGMA {name}").scalar_one())
        for name in ("page_size", "page_count", "freelist_count")
    )
    return (
        page * pages <= _VACUUM_AT_MOST_BYTES
        and page * free >= _VACUUM_WORTH_BYTES
        and free >= _VACUUM_WORTH_SHARE * pages
    )


SCHEDULE = (
    Entry(SWEEP, 5.0, sweep, for_broker=True),
    Entry("backread.revive_dead_letters", 600.0, revive),
    Entry("backread.do_upkeep", _HOUR, do_upkeep),
    Entry("backread.prune_jobs", _HOUR, prune_jobs),
    Entry("backread.tend_database", 6 * _HOUR, tend_database),
)
