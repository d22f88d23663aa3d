"""What a small MCP call costs the server in CPU time, from the first byte to the last.

    python -m benchmarks.mcp_calls [--calls 2000] [--clients 200]

One web process on SQLite; requests come one after another over one kept connection, from many
signed-in clients in turn, so that no limit on calls is met. What is asked needs no search, so the
figures are those of HTTP, the token check and the protocol. CPU time is the web process's own.
"""

import argparse
import json
import os
import socket
import statistics
import tempfile
import time
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path

from tests.nightly.mixed_load.server import Caller, settled_server

_TICKS = os.sysconf("SC_CLK_TCK")
_MODERN = "2026-07-28"
_META = {
    "io.modelcontextprotocol/protocolVersion": _MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "benchmark", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
_CALL: dict[str, object] = {"name": "list_buckets", "arguments": {}}


class Connection:
    """As little of an HTTP client as will do: the machine's time is the server's."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._port = port

    def ask(self, body: bytes, headers: str) -> tuple[int, bytes]:
        """Status and body."""
        head = (
            f"POST /api/mcp/mcp HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n"
            "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n{headers}\r\n"
        )
        self._socket.sendall(head.encode() + body)
        data = b""
        while b"\r\n\r\n" not in data:
            data += self._more()
        start, _, rest = data.partition(b"\r\n\r\n")
        fields = start.lower().split(b"\r\n")
        lengths = [int(f.split(b":")[1]) for f in fields if f.startswith(b"content-length:")]
        # Without a length the answer comes in chunks, of which the last one is empty.
        while len(rest) < lengths[0] if lengths else not rest.endswith(b"0\r\n\r\n"):
            rest += self._more()
        return int(fields[0].split()[1]), rest

    def _more(self) -> bytes:
        more = self._socket.recv(65_536)
        if not more:
            raise ConnectionError("the server closed the connection")
        return more


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def message(method: str, params: dict[str, object], *, is_modern: bool) -> tuple[bytes, str]:
    """A body, and the headers that go with it."""
    if is_modern:
        params = {**params, "_meta": _META}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = f"MCP-Protocol-Version: {_MODERN if is_modern else '2025-11-25'}\r\n"
    if is_modern:
        headers += f"Mcp-Method: {method}\r\n"
        if "name" in params:
            headers += f"Mcp-Name: {params['name']}\r\n"
    return json.dumps(body).encode(), headers


def measure(
    name: str, pid: int, port: int, callers: Sequence[Caller], asked: tuple[bytes, str], calls: int
) -> None:
    connection = Connection(port)
    body, headers = asked
    clock = []
    began = 0.0
    for number, caller in enumerate(islice(cycle(callers), calls + 50)):
        if number == 50:
            began = cpu_seconds(pid)
        start = time.perf_counter()
        status, answer = connection.ask(body, f"{headers}Authorization: Bearer {caller.token}\r\n")
        clock.append((time.perf_counter() - start) * 1000)
        assert status == 200, answer
        assert b'"isError":true' not in answer, answer
    each = (cpu_seconds(pid) - began) * 1000 / calls
    print(f"{name:34} {each:8.2f} {statistics.median(clock[50:]):8.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=2_000)
    parser.add_argument("--clients", type=int, default=200)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        settled_server(Path(folder) / "home", accounts=4, clients=options.clients // 4) as settled,
    ):
        server, callers = settled
        server.start()
        (pid,) = server.pids
        port = server.settings.port
        print(f"{'milliseconds a call':34} {'CPU':>8} {'p50':>8}")
        for method, params in (("tools/list", {}), ("tools/call", _CALL)):
            for is_modern in (False, True):
                name = (
                    f"{params.get('name', method)}, {'stateless' if is_modern else 'handshake'} era"
                )
                asked = message(method, params, is_modern=is_modern)
                measure(name, pid, port, callers, asked, options.calls)


if __name__ == "__main__":
    main()
