"""Spans: how long a request, a job and a step of a recall took, and where.

Without `backread[telemetry]` and a collector they cost a function call and go nowhere. An
attribute is a count, a flag, an id of ours or a word from a fixed list; never text that somebody
wrote, asked or is called by. `_ALLOWED` is the whole list.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.trace import Link, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

TRACER = "backread"
_TRACEPARENT = "traceparent"

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
        "statement",
        "status",
        "table",
        "task",
        "tool",
        "tokens",
    }
)


def here() -> str:
    """The present span as W3C Trace Context writes it, to be kept beside work that is done
    elsewhere or later; empty where nothing is traced."""
    carrier: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(carrier)
    return carrier.get(_TRACEPARENT, "")


@contextmanager
def span(
    name: str, *, kind: SpanKind = SpanKind.INTERNAL, asked_at: str = "", **attributes: Value
) -> Iterator[Note]:
    """Times what happens inside; yields a function that adds attributes. An exception marks the
    span with its type alone, because its text may quote a chat. Raises ValueError for an attribute
    that is not in the list.

    `asked_at` is what `here()` said where the work was asked for: the span then goes on with that
    trace, and links to the span that it runs in.
    """
    tracer = trace.get_tracer(TRACER)
    around = trace.get_current_span().get_span_context()
    is_elsewhere = bool(asked_at)
    with tracer.start_as_current_span(
        name,
        context=TraceContextTextMapPropagator().extract({_TRACEPARENT: asked_at})
        if is_elsewhere
        else None,
        links=[Link(around)] if is_elsewhere and around.is_valid else None,
        kind=kind,
        record_exception=False,
        set_status_on_exception=False,
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
