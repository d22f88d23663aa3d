"""A span for each statement to the database: how long it took, and of what kind it was.

Neither its text nor what was put into it: a span says `select`, `insert` and the like, and the
table of ours that it begins with. Only inside another span, so that looking for jobs twice a
second does not fill a collector; where nothing is traced, nothing is done.
"""

import re
from typing import Any

from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from sqlalchemy import Engine, event
from sqlalchemy.engine import ExceptionContext

from backread.store.base import Base
from backread.telemetry.spans import TRACER

_KINDS = frozenset({"select", "insert", "update", "delete", "with", "pragma", "vacuum", "analyze"})
_TABLE = re.compile(r"\b(?:FROM|INTO|UPDATE)\s+\"?(\w+)", re.IGNORECASE)
_LOOKED_AT = 4_000  # characters; where no table stands in these, none is named
_STARTED = "_backread_span"


def trace_statements(engine: Engine) -> None:
    """From now on the engine's statements have spans."""
    event.listen(engine, "before_cursor_execute", _before)
    event.listen(engine, "after_cursor_execute", _after)
    event.listen(engine, "handle_error", _failed)


def _before(
    _connection: Any, _cursor: Any, statement: str, _parameters: Any, context: Any, _many: bool
) -> None:
    if context is not None and trace.get_current_span().is_recording():
        setattr(context, _STARTED, _span_of(statement))


def _span_of(statement: str) -> Span:
    kind = statement[:20].split(None, 1)[0].lower() if statement.strip() else ""
    attributes = {"backread.statement": kind if kind in _KINDS else "other"}
    found = _TABLE.search(statement[:_LOOKED_AT])
    if found is not None and found.group(1) in Base.metadata.tables:
        attributes["backread.table"] = found.group(1)
    tracer = trace.get_tracer(TRACER)
    return tracer.start_span("database", kind=SpanKind.CLIENT, attributes=attributes)


def _after(*arguments: Any) -> None:
    _end(arguments[4])


def _failed(failure: ExceptionContext) -> None:
    _end(failure.execution_context, type(failure.original_exception).__name__)


def _end(context: Any, error: str = "") -> None:
    """Of a statement that has a span."""
    started: Span | None = getattr(context, _STARTED, None)
    if started is None:
        return
    delattr(context, _STARTED)
    if error:
        started.set_attribute("error.type", error)
        started.set_status(Status(StatusCode.ERROR))
    started.end()
