"""The clients: how each signs in and calls a tool, without a screen."""

import json
import os
import pty
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread, Timer
from typing import IO, Any, Protocol

import httpx

from tests.nightly.clients.server import ClientServer
from tests.nightly.inspector.fake_browser import allow
from tests.nightly.npm import NpmFolder

CLAUDE_CODE = "@anthropic-ai/claude-code@2.1.332"
CODEX = "@openai/codex@0.171.0"
MCP_REMOTE = "mcp-remote@0.15.1"
INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
_SECONDS = 60
_AUTHORIZE = re.compile(r"https?://[^\s\"'<>]+/authorize\?[^\s\"'<>]+")


class ClientFailed(Exception):
    """A client did not do what was asked; says what it printed."""


@dataclass
class Workplace:
    """What one client finds around it: programs, a home of its own, somebody who signs in."""

    tools: NpmFolder
    home: Path
    server: ClientServer
    model: str  # origin of the stand-in for a language model
    variables: dict[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        return {
            "PATH": self.tools.search_path,
            "HOME": str(self.home),
            "LANG": os.environ.get("LANG", "C.UTF-8"),
            # Clients print the address that they open, and it is visited from there.
            "BROWSER": "true",
            **self.variables,
        }

    def run(self, program: str, *arguments: str) -> str:
        """What the program printed. Whoever it asks to sign in does so, and allows everything.
        Its input is a terminal at which nobody types. Raises ClientFailed when it fails or takes
        too long."""
        terminal, keyboard = pty.openpty()
        with subprocess.Popen(
            [str(self.tools.program(program)), *arguments],
            cwd=self.home,
            env=self.environment(),
            stdin=keyboard,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            stop = Timer(_SECONDS, process.kill)
            stop.start()
            assert process.stdout is not None
            printed = "".join(self.attend(process.stdout))
            process.wait()
            stop.cancel()
        os.close(terminal)
        os.close(keyboard)
        if process.returncode:
            raise ClientFailed(f"{program} ended with {process.returncode}:\n{printed}")
        return printed

    def attend(self, output: IO[str]) -> list[str]:
        """Reads to the end and visits each sign-in address that is named."""
        lines, visited = [], set()
        for line in output:
            lines.append(line)
            address = _AUTHORIZE.search(line)
            if address and address.group() not in visited:
                visited.add(address.group())
                try:
                    allow(address.group(), self.server.cookie)
                except (httpx.HTTPError, AssertionError) as error:
                    lines.append(f"[the sign-in failed: {error}]\n")
        return lines


class RealClient(Protocol):
    """One client with one installation of ours."""

    name: str
    package: str

    def log_in(self) -> None:
        """A sign-in that the person starts. Raises ClientFailed."""

    def call(self) -> str:
        """What the client shows of a call of `list_buckets`. Raises ClientFailed."""


@dataclass
class ClaudeCode:
    place: Workplace
    transport: str = "http"
    name: str = "Claude Code"
    package: str = CLAUDE_CODE

    def __post_init__(self) -> None:
        self.place.variables |= {
            "ANTHROPIC_BASE_URL": self.place.model,
            "ANTHROPIC_API_KEY": "none",
            "DISABLE_AUTOUPDATER": "1",
            "MCP_CONNECTION_NONBLOCKING": "false",  # its first request waits for our tools
            "ENABLE_TOOL_SEARCH": "false",  # so that the stand-in is told of all tools at once
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }
        url = self.place.server.sse_url if self.transport == "sse" else self.place.server.mcp_url
        self._run("mcp", "add", "--scope", "user", "--transport", self.transport, "backread", url)

    def log_in(self) -> None:
        self._run("mcp", "login", "backread")

    def call(self) -> str:
        tool = "mcp__backread__list_buckets"
        return self._run("--print", "Which buckets are there?", "--allowedTools", tool)

    def _run(self, *arguments: str) -> str:
        return self.place.run("claude", *arguments)


@dataclass
class Codex:
    place: Workplace
    name: str = "Codex CLI"
    package: str = CODEX

    def __post_init__(self) -> None:
        folder = self.place.home / ".codex"
        folder.mkdir()
        (folder / "config.toml").write_text(
            'model = "stand-in"\n'
            'model_provider = "stand-in"\n'
            'mcp_oauth_credentials_store = "file"\n'
            "[model_providers.stand-in]\n"
            f'name = "stand-in"\nbase_url = "{self.place.model}/v1"\nwire_api = "responses"\n'
            "[mcp_servers.backread]\n"
            f'url = "{self.place.server.mcp_url}"\n'
            "startup_timeout_sec = 60\nrequired = true\n"
        )

    def log_in(self) -> None:
        self._run("mcp", "login", "backread")

    def call(self) -> str:
        return self._run(
            "exec",
            "--skip-git-repo-check",
            "--dangerously-bypass-approvals-and-sandbox",
            "Which buckets are there?",
        )

    def _run(self, *arguments: str) -> str:
        return self.place.run("codex", *arguments)


@dataclass
class McpRemote:
    """A bridge between a client that only speaks stdio and a remote server."""

    place: Workplace
    transport: str = "http-first"
    name: str = "mcp-remote"
    package: str = MCP_REMOTE

    def log_in(self) -> None:
        """It signs in by itself when it is first used."""
        self.call()

    def call(self) -> str:
        url = self.place.server.mcp_url
        if self.transport == "sse-only":
            url = self.place.server.sse_url
        with subprocess.Popen(
            [
                str(self.place.tools.program("mcp-remote")),
                *(url, "--allow-http", "--transport", self.transport),
            ],
            cwd=self.place.home,
            env=self.place.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stderr is not None
            said: list[str] = []
            output = process.stderr
            watcher = Thread(target=lambda: said.extend(self.place.attend(output)))
            watcher.start()
            stop = Timer(_SECONDS, process.kill)
            stop.start()
            try:
                return self._converse(process)
            except (BrokenPipeError, EOFError, ValueError) as error:
                process.kill()
                watcher.join()
                raise ClientFailed(f"mcp-remote: {error}\n{''.join(said)[-3000:]}") from error
            finally:
                stop.cancel()
                process.kill()
                watcher.join()

    def _converse(self, process: "subprocess.Popen[str]") -> str:
        self._ask(
            process,
            1,
            "initialize",
            protocolVersion="2025-06-18",
            capabilities={},
            clientInfo={"name": "trial", "version": "1"},
        )
        self._tell(process, {"method": "notifications/initialized"})
        return self._ask(process, 2, "tools/call", name="list_buckets", arguments={})

    def _ask(
        self, process: "subprocess.Popen[str]", number: int, method: str, **params: Any
    ) -> str:
        self._tell(process, {"id": number, "method": method, "params": params})
        assert process.stdout is not None
        for line in process.stdout:
            message = json.loads(line)
            if message.get("id") == number and "method" not in message:
                if "error" in message:
                    raise ValueError(f"it answered {line}")
                return line
        raise EOFError(f"it ended before it answered {method}")

    def _tell(self, process: "subprocess.Popen[str]", message: dict[str, Any]) -> None:
        assert process.stdin is not None
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        process.stdin.flush()


@dataclass
class Inspector:
    place: Workplace
    name: str = "MCP Inspector CLI"
    package: str = INSPECTOR

    def __post_init__(self) -> None:
        self.place.variables |= {
            "MCP_AUTO_OPEN_ENABLED": "true",  # signs in without a terminal
            "MCP_STORAGE_DIR": str(self.place.home / "inspector"),
            "MCP_INSPECTOR_SECRET_STORE": "file",
        }

    def log_in(self) -> None:
        """It signs in by itself when the server asks for it."""
        self.call()

    def call(self) -> str:
        return self.place.run(
            "mcp-inspector",
            *("--cli", self.place.server.mcp_url, "--transport", "http", "--format", "json"),
            *("--method", "tools/call", "--tool-name", "list_buckets"),
        )
