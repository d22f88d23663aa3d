from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from backread.errors import InvalidInput
from backread.settings import Settings
from backread.telemetry import tracing
from tests.support import wait_until

RECEIVED: list[tuple[str, str]] = []


class Collector(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        RECEIVED.append((self.path, self.headers["Content-Type"]))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Collector)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("name", ["BACKREAD_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"])
def test_the_collector_is_named_by_either_variable(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "http://collector:4318")
    assert Settings().otlp_endpoint == "http://collector:4318"


def test_nothing_is_sent_unless_a_collector_is_named(settings: Settings) -> None:
    assert tracing.start_tracing(settings, "test") is False


def test_a_missing_extra_is_named(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    exporter = "opentelemetry.exporter.otlp.proto.http.trace_exporter"
    monkeypatch.setitem(__import__("sys").modules, exporter, None)
    named = Settings(**(settings.model_dump() | {"otlp_endpoint": "http://collector:4318"}))
    with pytest.raises(InvalidInput, match="not installed"):
        tracing.start_tracing(named, "test")


def test_spans_reach_the_collector(collector: str) -> None:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    provider = tracing.provider_for(
        OTLPSpanExporter(endpoint=f"{collector}/v1/traces"), "test", at_once=True
    )
    with provider.get_tracer("backread").start_as_current_span("job"):
        pass
    wait_until(lambda: RECEIVED, what="the spans")
    assert RECEIVED[0] == ("/v1/traces", "application/x-protobuf")
    provider.shutdown()
