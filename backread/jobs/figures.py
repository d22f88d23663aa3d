"""Figures of the background work of the whole server, as the database has them now."""

from collections.abc import Iterator
from datetime import timedelta

from prometheus_client.core import GaugeMetricFamily

from backread.jobs.registry import Queue, queue_of
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.repositories.job_queue import ended_since, queue_sizes, waiting_groups
from backread.telemetry.metrics import gauge

_LATELY = timedelta(hours=1)


def job_figures(kernel: Kernel) -> Iterator[GaugeMetricFamily]:
    """How much waits, runs and has failed, how long the oldest has waited, and what ended in the
    last hour. By kind of job, never by account."""
    now = utcnow()
    with kernel.store.read() as session:
        sizes = queue_sizes(session)
        groups = waiting_groups(session, now)
        ended = ended_since(session, now - _LATELY)
    yield gauge(
        "backread_jobs",
        "Jobs that wait (queued), run (running), or failed and were not dismissed (failed, dead).",
        ("job", "state"),
        (((name, state), count) for name, state, count in sizes),
    )
    oldest = dict.fromkeys(Queue, 0.0)
    for group in groups:
        queue = queue_of(group.name)
        waited = (now - group.first_due).total_seconds()
        oldest[queue] = max(oldest[queue], waited)
    yield gauge(
        "backread_job_oldest_due_seconds",
        "How long the job that has been due longest has waited.",
        ("queue",),
        (((queue.value,), seconds) for queue, seconds in oldest.items()),
    )
    yield gauge(
        "backread_jobs_ended_last_hour",
        "Jobs that ended in the last hour.",
        ("job", "state"),
        (((name, state), count) for name, state, count in ended),
    )
