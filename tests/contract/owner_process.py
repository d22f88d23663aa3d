"""The index's owner as a child process."""

import subprocess
import sys
import time
from pathlib import Path

from backread.settings import Settings
from backread.vectors.socket_index import SocketIndex, is_owner_alive
from backread.vectors.wire import socket_path

_START_SECONDS = 60
_STOP_SECONDS = 30
_PROGRAM = (
    "import sys; from backread.settings import Settings; from backread.vectors.owner import serve; "
    "serve(Settings(home=sys.argv[1]))"
)


class OwnerProcess:
    def __init__(self, home: Path) -> None:
        self.settings = Settings(home=home)
        self.socket = socket_path(self.settings)
        self._process: subprocess.Popen[bytes] | None = None
        self._clients: list[SocketIndex] = []

    def start(self) -> None:
        self.launch()
        self.wait_until_ready()

    def launch(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, str(self.settings.home)], stderr=subprocess.DEVNULL
        )

    def wait_until_ready(self) -> None:
        assert self._process is not None
        deadline = time.monotonic() + _START_SECONDS
        while not is_owner_alive(self.socket):
            assert self._process.poll() is None, "the owner ended while it started"
            assert time.monotonic() < deadline, "the owner did not start"
            time.sleep(0.02)

    def index(self, embedding_signature: str = "test-model") -> SocketIndex:
        client = SocketIndex(self.socket, embedding_signature)
        self._clients.append(client)
        return client

    def close(self) -> None:
        """Ends the process and the connections of all clients."""
        for client in self._clients:
            client.close()
        self.stop()

    def stop(self) -> int:
        """Asks it to end; returns its exit code."""
        return self._end(kill=False)

    def kill(self) -> None:
        self._end(kill=True)

    def _end(self, *, kill: bool) -> int:
        process, self._process = self._process, None
        if process is None:
            return 0
        if kill:
            process.kill()
        else:
            process.terminate()
        return process.wait(_STOP_SECONDS)
