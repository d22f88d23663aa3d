"""Spans: how long a request, a job and a step of a recall took, and where.

Without `backread[telemetry]` and a collector they cost a function call and go nowhere. An
attribute is a count, a flag, an id of ours or a word from a fixed list; never text that somebody
wrote, asked or is called by. `_ALLOWED` is the whole list.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.trace import SpanKind, Status, StatusCode

TRACER = "backread"

Value = str | int | float | bool
Note = Callable[..., None]

_ALLOWED = frozenset(
    {
        "attempt",
        "candidates",
        "conversations",
        "evidence",
        "filtered",
        "found",
        "job",
        "method",
        "passages",
        "queries",
        "queue",
        "route",
        "sentences",
        "state",
        "status",
        "tool",
        "tokens",
    }
)


@contextmanager
def span(name: str, *, kind: SpanKind = SpanKind.INTERNAL, **attributes: Value) -> Iterator[Note]:
    """Times what happens inside; yields a function that adds attributes. An exception marks the
    span with its type alone, because its text may quote a chat. Raises ValueError for an attribute
    that is not in the list."""
    tracer = trace.get_tracer(TRACER)
    with tracer.start_as_current_span(
        name, kind=kind, record_exception=False, set_status_on_exception=False
    ) as current:

        def note(**more: Value) -> None:
            unknown = more.keys() - _ALLOWED
            if unknown:
                raise ValueError(f"spans have no attribute {sorted(unknown)}")
            for key, value in more.items():
                current.set_attribute(f"backread.{key}", value)

        note(**attributes)
        try:
            yield note
        except BaseException as error:
            current.set_attribute("error.type", type(error).__name__)
            current.set_status(Status(StatusCode.ERROR))
            raise
