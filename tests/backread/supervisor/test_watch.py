"""A server with a watched folder."""

from pathlib import Path

from sqlalchemy import select

from backread.store.engine import Store
from backread.store.models import Conversation
from tests.backread.supervisor.conftest import Up
from tests.exports import BOILER, GARDEN, write_chatgpt_zip
from tests.support import wait_until


def test_a_server_imports_what_comes_to_its_watched_folder(
    up: Up, home: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "incoming"
    folder.mkdir()
    write_chatgpt_zip(folder / "first.zip", [GARDEN])
    server = up(settings={"BACKREAD_WATCH_DIR": str(folder)})
    server.announcement()
    store = Store(f"sqlite:///{home / 'backread.db'}")

    def stored() -> int:
        with store.read() as session:
            return len(session.scalars(select(Conversation.id)).all())

    wait_until(lambda: stored() == 1, seconds=60, what="the first import")
    write_chatgpt_zip(folder / "second.zip", [GARDEN, BOILER])
    wait_until(lambda: stored() == 2, seconds=60, what="the second import")
    store.close()
    assert server.stop() == 0


def test_a_server_with_several_accounts_says_that_the_folder_needs_one(
    up: Up, home: Path, tmp_path: Path
) -> None:
    server = up(settings={"BACKREAD_WATCH_DIR": str(tmp_path)})
    server.announcement()
    for email in ("ada@example.org", "boris@example.org"):
        assert server.run("user", "add", email).returncode == 0
    server.stop()
    server = up(settings={"BACKREAD_WATCH_DIR": str(tmp_path)})
    wait_until(lambda: "watch: watch_needs_account" in server.errors, seconds=60, what="the hint")
    assert "ended with code" not in server.errors
