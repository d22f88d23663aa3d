"""The scripted conversation in the docs does what it says, word for word."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from backread.domain import Principal, Scope
from tests.api.mcp_server.live_server import LiveServer
from tests.recall.chats import GARDEN, TRAVEL, keep

# What is tested here does not depend on the database.
pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

PAGE = Path(__file__).resolve().parents[3] / "docs/guides/a-conversation.md"


def block(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return str(found)


def test_the_scripted_conversation_prints_what_the_page_says(
    live: LiveServer, tmp_path: Path
) -> None:
    kernel = live.app.state.kernel
    keep(kernel, Principal(account_of(live), scopes=frozenset(Scope)), GARDEN, TRAVEL)
    script = tmp_path / "conversation.py"
    script.write_text(block("python"), encoding="utf-8")
    environment = os.environ | {
        "BACKREAD_MCP": f"{live.origin}/api/mcp/mcp",
        "BACKREAD_TOKEN": live.token(),
    }
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == block("text")


def account_of(live: LiveServer) -> str:
    from sqlalchemy import select

    from backread.store.models import Account

    with live.app.state.kernel.store.read() as session:
        return str(session.scalars(select(Account.id)).one())
