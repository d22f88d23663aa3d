"""One child process of the supervisor, at its end."""

import os
import signal
from pathlib import Path

from backread.supervisor.children import Child, ChildSpec
from tests.backread.supervisor.conftest import is_running
from tests.support import wait_until


def test_what_a_killed_child_has_forked_ends_before_its_successor_starts(tmp_path: Path) -> None:
    script = "sleep 600 & echo $! > forked; wait"
    spec = ChildSpec("sample", ["sh", "-c", f"cd {tmp_path}; {script}"], is_python=False)
    reader, writer = os.pipe()
    child = Child(spec, os.environ, tmp_path / "sample.log", reader)
    child.start()
    try:
        written = tmp_path / "forked"
        wait_until(lambda: written.exists() and written.read_text().endswith("\n"))
        assert child.process is not None
        child.process.send_signal(signal.SIGKILL)

        code = wait_until(child.crashed)

        assert code == -signal.SIGKILL
        forked = int(written.read_text())
        wait_until(lambda: not is_running(forked))
        assert child.start_at is not None
    finally:
        child.kill()
        os.close(reader)
        os.close(writer)
