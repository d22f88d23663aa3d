"""The MCP project's conformance suite against our transport and our authorization server.

    .venv/bin/python -m tests.nightly.conformance.run [--tools FOLDER]

Runs what the revisions 2025-11-25 and 2026-07-28 require of a server against a conformance build
(`application.py`), and the suite's authorization scenarios against the product itself. There is
no list of expected failures. Needs npm; installs into a temporary folder, or into the one given,
which it keeps. Exits with 0 when every required scenario passed.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import cast

from fastapi import FastAPI
from starlette.types import ASGIApp

from backread.settings import Settings
from backread.store.engine import Store
from backread.store.migrate import upgrade
from tests.api.mcp_server.live_server import LiveServer, running
from tests.api.oauth.flow import register
from tests.nightly.conformance.application import TokenEntrance, with_fixtures
from tests.nightly.inspector.fake_browser import allow
from tests.nightly.npm import NpmFolder

SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
REVISIONS = {"2025-11-25": 30, "2026-07-28": 37}  # and how many scenarios each requires
AUTHORIZATION = ("authorization-server-metadata-endpoint", "authorization-code-grant")
CALLBACK_PORT = 41_873
_SECONDS = 600


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", type=Path, help="folder to install the suite into, and keep")
    parser.add_argument("--scenario", help="one server scenario, in both revisions")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="backread-conformance-") as temporary:
        tools = NpmFolder((options.tools or Path(temporary) / "tools").absolute())
        tools.install(SUITE)
        results = Path(temporary) / "results"
        failures = []
        with conformance_build(Path(temporary) / "fixtures") as server:
            for revision, required in REVISIONS.items():
                passed = server_scenarios(tools, server, revision, results, options.scenario)
                if not options.scenario and passed != required:
                    failures.append(f"{revision}: {passed} of {required}")
        if not options.scenario:
            with running(settings_in(Path(temporary) / "product")) as product:
                failures += authorization_scenarios(tools, product, results)
    if failures:
        raise SystemExit("Not all scenarios passed: " + "; ".join(failures))
    say("Every required scenario passed.")


def settings_in(home: Path) -> Settings:
    """Of a server with an empty, migrated database."""
    home.mkdir(parents=True)
    settings = Settings(home=home, embedding_model="hashing")
    store = Store(settings.sqlalchemy_url)
    upgrade(store)
    store.close()
    return settings


@contextmanager
def conformance_build(home: Path) -> Iterator[LiveServer]:
    entrances: list[TokenEntrance] = []

    def wrap(app: ASGIApp) -> ASGIApp:
        entrances.append(TokenEntrance(with_fixtures(cast(FastAPI, app))))
        return entrances[0]

    with running(settings_in(home), wrap) as server:
        entrances[0].token = server.token()
        yield server


def server_scenarios(
    tools: NpmFolder, server: LiveServer, revision: str, results: Path, scenario: str | None
) -> int:
    """How many of the required scenarios passed."""
    chosen = ["--requirements", revision]
    if scenario:
        chosen = ["--scenario", scenario, "--spec-version", revision, "--verbose"]
    printed = run(
        tools, "server", "--url", f"{server.origin}/api/mcp/mcp", "-o", str(results), *chosen
    )
    say(printed)
    not_scored = set(re.findall(r"^  [✓✗] (\S+) \(", printed, re.MULTILINE))
    return len(passed_in(printed) - not_scored)


def passed_in(printed: str) -> set[str]:
    """The scenarios whose checks all passed, and that had any."""
    return set(re.findall(r"^✓ (\S+): [1-9]\d* passed, 0 failed", printed, re.MULTILINE))


def authorization_scenarios(tools: NpmFolder, product: LiveServer, results: Path) -> list[str]:
    """What failed."""
    client = register(
        product.browser,
        client_name="Conformance suite",
        redirect_uris=[f"http://127.0.0.1:{CALLBACK_PORT}/callback"],
    )
    printed = run(
        tools,
        "authorization",
        *("--url", product.origin, "--client-id", client["client_id"]),
        *("--resource", f"{product.origin}/api/mcp/mcp", "--port", str(CALLBACK_PORT)),
        *("-o", str(results)),
        person=product,
    )
    say(printed)
    missing = set(AUTHORIZATION) - passed_in(printed)
    return [f"authorization: {', '.join(sorted(missing))}"] if missing else []


def run(tools: NpmFolder, *arguments: str, person: LiveServer | None = None) -> str:
    """What the suite printed. A person allows what it asks for, if it asks."""
    with subprocess.Popen(
        [tools.program("conformance"), *arguments],
        env={"PATH": tools.search_path, "HOME": str(tools.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        stop = Timer(_SECONDS, process.kill)
        stop.start()
        printed = []
        for line in process.stdout:
            printed.append(line)
            address = re.search(r"https?://\S+/authorize\?\S+", line)
            if address and person is not None:
                name, value = next(iter(person.browser.cookies.items()))
                allow(address.group(), f"{name}={value}")
        process.wait()
        stop.cancel()
    return "".join(printed)


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
