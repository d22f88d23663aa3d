"""Sending spans to an OpenTelemetry collector, when the settings name one.

Needs `backread[telemetry]`. Requests, jobs and recalls make their own spans (`spans.py`). FastAPI
and the MCP SDK make spans by themselves, with addresses and names of things in them. So what is
sent is cleaned: spans of others keep their place and their times, and neither name nor attributes.

OpenTelemetry's instrumentation of SQLAlchemy refuses the release that is in use, and would send
statements; that of Celery puts the trace into messages, which here carry an id alone and may be
lost. So both are spans of our own: of statements at the one engine
(`backread/store/statements.py`), of tasks at their one base (`backread/jobs/worker.py`), and a job
goes on with the trace that its row names.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from opentelemetry import trace

from backread import __version__
from backread.errors import InvalidInput
from backread.log import get_logger
from backread.settings import Settings
from backread.telemetry.spans import TRACER

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter

_log = get_logger(__name__)
_started = False


def start_tracing(settings: Settings, process: str) -> bool:
    """Has this process send its spans, once it has forked. False when no collector is named.

    Raises InvalidInput when one is named and `backread[telemetry]` is not installed.
    """
    global _started
    if not settings.otlp_endpoint or _started:
        return _started
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415 - extra
            OTLPSpanExporter,
        )
    except ImportError as error:
        raise InvalidInput(
            "BACKREAD_OTLP_ENDPOINT is set, and what sends traces is not installed.",
            hint="Install it: pip install 'backread[server,telemetry]'. Or unset it.",
        ) from error
    endpoint = f"{settings.otlp_endpoint.rstrip('/')}/v1/traces"
    use(provider_for(OTLPSpanExporter(endpoint=endpoint), process))
    _started = True
    _log.info("tracing_started", process=process)
    return True


def use(provider: "TracerProvider") -> None:
    """From now on spans of this process go to `provider`; once in a process."""
    trace.set_tracer_provider(provider)


def provider_for(
    exporter: "SpanExporter", process: str, *, at_once: bool = False
) -> "TracerProvider":
    """A source of spans whose cleaned spans go to `exporter`, in batches from a thread unless
    `at_once`. Its `shutdown()` sends what is left."""
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 - extra
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 - extra
    from opentelemetry.sdk.trace.export import (  # noqa: PLC0415 - extra
        BatchSpanProcessor,
        SimpleSpanProcessor,
    )

    resource = Resource.create(
        {"service.name": "backread", "service.version": __version__, "backread.process": process}
    )
    provider = TracerProvider(resource=resource)
    cleaned = _cleaning(exporter)
    provider.add_span_processor(
        SimpleSpanProcessor(cleaned) if at_once else BatchSpanProcessor(cleaned)
    )
    return provider


def _cleaning(exporter: "SpanExporter") -> "SpanExporter":
    """An exporter that passes on our own attributes and a few harmless ones, and no events."""
    from opentelemetry.sdk.trace import ReadableSpan  # noqa: PLC0415 - extra
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult  # noqa: PLC0415

    class Cleaning(SpanExporter):
        def export(self, spans: Any) -> SpanExportResult:
            return exporter.export([self._cleaned(span) for span in spans])

        def shutdown(self) -> None:
            exporter.shutdown()

        def force_flush(self, timeout_millis: int = 30_000) -> bool:
            return exporter.force_flush(timeout_millis)

        def _cleaned(self, span: ReadableSpan) -> ReadableSpan:
            scope = span.instrumentation_scope
            return ReadableSpan(
                name=_name(span.name, scope.name if scope else ""),
                context=span.context,
                parent=span.parent,
                resource=span.resource,
                attributes=_kept(span.attributes or {}),
                links=[trace.Link(link.context) for link in span.links],
                kind=span.kind,
                status=trace.Status(span.status.status_code),
                start_time=span.start_time,
                end_time=span.end_time,
                instrumentation_scope=span.instrumentation_scope,
            )

    return Cleaning()


def _name(name: str, maker: str) -> str:
    """Our own names are words of this code; those of others may hold an address or a statement."""
    return name if maker == TRACER else "framework"


def _kept(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: value
        for key, value in attributes.items()
        if key.startswith("backread.") or key == "error.type"
    }
