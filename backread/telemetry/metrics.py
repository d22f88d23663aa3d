"""Figures for Prometheus: of this process's requests, and whatever a collector reads on demand.

Each web server counts its own requests. Figures of jobs are read from the database when they are
asked for, so they are the same on every server and no worker needs a door of its own. No label
holds anything about a person: routes are templates, never addresses.
"""

from collections.abc import Iterable

from prometheus_client import (
    CollectorRegistry,
    Counter,
    GCCollector,
    Histogram,
    Info,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily

from backread import __version__

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

REGISTRY = CollectorRegistry()
ProcessCollector(registry=REGISTRY)
PlatformCollector(registry=REGISTRY)
GCCollector(registry=REGISTRY)
Info("backread", "The release that answers.", registry=REGISTRY).info({"version": __version__})

_requests = Counter(
    "backread_http_requests",
    "Requests answered by this process.",
    ["method", "route", "status"],
    registry=REGISTRY,
)
_seconds = Histogram(
    "backread_http_answer_seconds",
    "Time from a request to the beginning of its answer.",
    ["method", "route"],
    buckets=_SECONDS,
    registry=REGISTRY,
)

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def count_request(method: str, route: str, status: int, seconds: float) -> None:
    """`route` is a template such as `/c/{conversation_id}`."""
    method = method if method in _METHODS else "other"
    _requests.labels(method, route, f"{status // 100}xx").inc()
    _seconds.labels(method, route).observe(seconds)


def gauge(
    name: str,
    text: str,
    labels: Iterable[str],
    values: Iterable[tuple[tuple[str, ...], float]],
) -> GaugeMetricFamily:
    """A figure that is read now, with its value for each choice of labels."""
    family = GaugeMetricFamily(name, text, labels=list(labels))
    for chosen, value in values:
        family.add_metric(list(chosen), value)
    return family


def exposition(read_now: Iterable[GaugeMetricFamily]) -> bytes:
    """Everything in Prometheus' text format: this process's figures, then those read now."""
    once = CollectorRegistry()
    families = list(read_now)

    class _Now:
        def collect(self) -> Iterable[GaugeMetricFamily]:
            return families

    once.register(_Now())
    return generate_latest(REGISTRY) + generate_latest(once)
