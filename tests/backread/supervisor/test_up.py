"""`backread up` as a whole: real processes, real signals."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from sqlalchemy import func, select

from backread.settings import Settings
from backread.store.engine import Store
from backread.store.models import Conversation
from backread.supervisor.home import running_server
from tests.backread.supervisor.conftest import WITHOUT_BROKER, Server, Up, fetch, is_running
from tests.exports import BOILER, GARDEN, write_chatgpt_zip
from tests.support import wait_until

_WORKER = "worker --queue interactive"
_ALL = ("broker", "index-owner", "serve", _WORKER, "worker --queue background", "beat")


class _Import:
    """`backread import` beside the server, followed while it runs."""

    def __init__(self, server: Server, archive: Path) -> None:
        self._store = Store(f"sqlite:///{server.home / 'backread.db'}")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "backread", "import", str(archive), "--json"],
            env=server.environment,
            stdout=subprocess.PIPE,
            text=True,
        )

    def stored(self) -> int:
        """Conversations so far."""
        with self._store.read() as session:
            return session.scalar(select(func.count()).select_from(Conversation)) or 0

    def report(self) -> Any:
        output, _ = self._process.communicate(timeout=100)
        self._store.close()
        return json.loads(output)


def _answers(url: str) -> bool:
    try:
        return bool(fetch(url + "/healthz"))
    except OSError:
        return False


def test_one_command_serves_imports_keeps_a_second_one_off_and_stops_without_a_trace(
    up: Up, home: Path, tmp_path: Path
) -> None:
    server = up()
    announced = server.announcement()
    assert json.loads(fetch(announced["url"] + "/healthz"))["status"] == "ok"
    assert fetch(announced["setup_url"])
    assert announced["mcp_url"] == announced["url"] + "/api/mcp/mcp"
    children = server.wait_for_children(*_ALL)

    archive = write_chatgpt_zip(tmp_path / "export.zip", [GARDEN, BOILER])
    imported = server.run("import", archive, "--wait", "--json")
    assert imported.returncode == 0, imported.stdout + imported.stderr
    report = json.loads(imported.stdout)
    assert report["totals"]["new"] == 2
    assert report["passages_without_vectors"] == 0
    recalled = json.loads(server.run("recall", "What does error E47 mean?", "--json").stdout)
    assert recalled["sources"][0]["readerUrl"].startswith(announced["url"] + "/c/")

    second = server.run("up", "--port", "0")
    assert second.returncode == 1
    assert str(server.process.pid) in second.stderr
    assert announced["url"] in second.stderr

    assert server.stop() == 0
    assert not any(is_running(pid) for pid in children.values())
    assert running_server(Settings(home=home)) is None


def test_a_port_that_is_taken_is_named_with_what_to_do(up: Up) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        server = up("--port", str(port))
        assert server.process.wait(60) == 1
    error = json.loads(server.output)["error"]
    assert f"Port {port} is in use" in error["message"]
    assert f"--port {port + 1}" in error["hint"]


def test_killed_processes_come_back_and_an_import_under_way_ends_complete(
    up: Up, tmp_path: Path
) -> None:
    server = up()
    url = server.announcement()["url"]
    children = server.wait_for_children(*_ALL)
    archive = write_chatgpt_zip(tmp_path / "export.zip", [GARDEN] * 1500)
    follower = _Import(server, archive)
    wait_until(lambda: follower.stored() > 0, seconds=60, what="the first batch")
    os.killpg(children[_WORKER], signal.SIGKILL)
    os.kill(children["serve"], signal.SIGKILL)
    os.kill(children["broker"], signal.SIGKILL)
    report = follower.report()
    assert report["totals"]["found"] == report["totals"]["new"] == 1500

    restarted = server.wait_for_children(*_ALL)
    for name in (_WORKER, "serve", "broker"):
        assert restarted[name] != children[name]
    wait_until(lambda: _answers(url), seconds=60, what="the web server")
    assert "was killed by signal 9 and is started again" in server.errors
    assert server.stop() == 0


def test_work_goes_on_after_the_broker_was_killed_again_and_again(up: Up, tmp_path: Path) -> None:
    server = up()
    server.announcement()
    for _ in range(3):
        os.kill(server.wait_for_children(*_ALL)["broker"], signal.SIGKILL)
        wait_until(lambda: "broker" not in server.children(), seconds=10, what="the broker's end")
    archive = write_chatgpt_zip(tmp_path / "export.zip", [GARDEN])
    report = _Import(server, archive).report()
    assert report["totals"]["new"] == 1
    assert server.stop() == 0


def test_children_end_with_a_killed_supervisor_and_the_next_one_takes_over(
    up: Up, tmp_path: Path
) -> None:
    server = up()
    server.announcement()
    children = server.wait_for_children(*_ALL)
    server.process.kill()
    server.process.wait()
    wait_until(
        lambda: not any(is_running(pid) for pid in children.values()),
        seconds=30,
        what="the end of the children",
    )
    again = up()
    assert fetch(again.announcement()["url"] + "/healthz")
    assert again.stop() == 0


def test_without_any_broker_one_worker_looks_into_the_database(up: Up, tmp_path: Path) -> None:
    server = up(program=("-c", WITHOUT_BROKER))
    server.announcement()
    server.wait_for_children("index-owner", "serve", "worker")
    assert "broker" not in server.children()
    archive = write_chatgpt_zip(tmp_path / "export.zip", [GARDEN])
    imported = server.run("import", archive, "--wait", "--json")
    assert json.loads(imported.stdout)["totals"]["new"] == 1
    assert server.stop() == 0
