"""Real clients against a real server: sign-in, a tool call, and what may happen afterwards.

    .venv/bin/python -m tests.nightly.clients.run [--tools FOLDER] [--client NAME]

Installs Claude Code, Codex CLI, mcp-remote and MCP Inspector from npm into a temporary folder, or
into the one given, which it keeps. No account anywhere is needed: where a client wants a language
model, `model.py` stands in for it. Prints a table of what held and exits with 0 when all of it did.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.nightly.clients.drivers import (
    CLAUDE_CODE,
    CODEX,
    INSPECTOR,
    MCP_REMOTE,
    ClaudeCode,
    ClientFailed,
    Codex,
    Inspector,
    McpRemote,
    RealClient,
    Workplace,
)
from tests.nightly.clients.model import serving_model
from tests.nightly.clients.server import BUCKET, ClientServer, new_server
from tests.nightly.npm import NpmFolder

CLIENTS: dict[str, Callable[[Workplace], RealClient]] = {
    "claude-code": ClaudeCode,
    "codex": Codex,
    "mcp-remote": McpRemote,
    "inspector": Inspector,
}
OVER_SSE: dict[str, Callable[[Workplace], RealClient]] = {
    "claude-code": lambda place: ClaudeCode(place, transport="sse"),
    "mcp-remote": lambda place: McpRemote(place, transport="sse-only"),
}


@dataclass
class Trial:
    """One client and one server, from the first sign-in on."""

    client: RealClient
    server: ClientServer

    def fresh_login(self) -> None:
        self.client.log_in()
        self._calls()
        assert len(self.server.live_grants()) == 1, "one sign-in made several grants"

    def expired_token(self) -> None:
        before = self.server.live_grants()
        self.server.expire_access_tokens()
        self._calls()
        assert self.server.live_grants() == before, "it signed in anew instead of refreshing"

    def server_restart(self) -> None:
        before = self.server.live_grants()
        self.server.stop()
        self.server.start()
        self._calls()
        assert self.server.live_grants() == before, "it signed in anew"

    def two_web_processes(self) -> None:
        before = self.server.live_grants()
        self.server.stop()
        self.server.start(workers=2)
        self.server.expire_access_tokens()
        for _ in range(3):
            self._calls()
        assert self.server.live_grants() == before, "it signed in anew"

    def revoked_grant(self) -> None:
        self.server.revoke_grants()
        self._recovers()

    def restored_database(self) -> None:
        """One from before the client was known."""
        self.server.stop()
        self.server.restore()
        self.server.start()
        self._recovers()

    def _calls(self) -> None:
        shown = self.client.call()
        if BUCKET not in shown:
            raise ClientFailed(f"the call did not get through:\n{shown[-2000:]}")

    def _recovers(self) -> None:
        """Without the grant nothing is shown; a new sign-in, which some clients start by
        themselves, makes it work again, with nothing to clean up before."""
        try:
            shown = self.client.call()
        except ClientFailed as failed:
            shown = str(failed)
        if BUCKET in shown:
            assert len(self.server.live_grants()) == 1, "it was let in without a grant"
            return
        self.client.log_in()
        self._calls()


CELLS: dict[str, Callable[[Trial], None]] = {
    "fresh login": Trial.fresh_login,
    "expired token": Trial.expired_token,
    "server restart": Trial.server_restart,
    "two web processes": Trial.two_web_processes,
    "revoked grant": Trial.revoked_grant,
    "restored database": Trial.restored_database,
}
SSE_CELL = "HTTP+SSE"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", type=Path, help="folder to install the clients into, and keep")
    parser.add_argument("--client", choices=CLIENTS, action="append", help="this one only")
    options = parser.parse_args()
    chosen = options.client or list(CLIENTS)
    table: dict[str, dict[str, str]] = {}
    with tempfile.TemporaryDirectory(prefix="backread-clients-") as temporary:
        work = Path(temporary)
        tools = NpmFolder((options.tools or work / "tools").absolute())
        tools.install(CLAUDE_CODE, CODEX, MCP_REMOTE, INSPECTOR)
        with serving_model() as model:
            for name in chosen:
                table |= try_client(name, tools, model, work / name)
    print_table(table)
    if any(result != "✔" for row in table.values() for result in row.values() if result):
        raise SystemExit(1)


def try_client(name: str, tools: NpmFolder, model: str, work: Path) -> dict[str, dict[str, str]]:
    """What became of each cell, under the client's full name."""
    row: dict[str, str] = {}
    with new_server(work / "server") as server:
        server.start()
        client = CLIENTS[name](workplace(work / "home", tools, server, model))
        trial = Trial(client, server)
        for cell, act in CELLS.items():
            row[cell] = outcome(name, cell, partial(act, trial))
    if name in OVER_SSE:
        with new_server(work / "sse-server") as server:
            server.start(workers=2)
            over_sse = OVER_SSE[name](workplace(work / "sse-home", tools, server, model))
            trial = Trial(over_sse, server)
            row[SSE_CELL] = outcome(name, SSE_CELL, trial.fresh_login)
    version = client.package.rpartition("@")[2]
    return {f"{client.name} {version}": row}


def workplace(home: Path, tools: NpmFolder, server: ClientServer, model: str) -> Workplace:
    home.mkdir()
    return Workplace(tools, home, server, model)


def outcome(name: str, cell: str, act: Callable[[], None]) -> str:
    try:
        act()
    except (ClientFailed, AssertionError) as error:
        say(f"{name}: {cell}: FAILED: {error}")
        return "✘"
    say(f"{name}: {cell}: held")
    return "✔"


def print_table(table: dict[str, dict[str, str]]) -> None:
    cells = [*CELLS, SSE_CELL]
    say("| client | " + " | ".join(cells) + " |")
    say("|---" * (len(cells) + 1) + "|")
    for client, row in table.items():
        say(f"| {client} | " + " | ".join(row.get(cell, "–") for cell in cells) + " |")


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
