"""Attacks accounts from other accounts, over every tool, resource, prompt, route and page.

    .venv/bin/python -m tests.nightly.isolation.run [--requests 100000] [--tenants 20] [--seed N]

Each account has something of every kind, with words that only it has. Ends with 0 when no answer
held a word or an id of somebody else, an id of somebody else was answered like one that nobody
has, nothing of the attacked changed, and nothing broke. `--database-url` takes an empty PostgreSQL
database instead of SQLite.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from fastapi import FastAPI
from starlette.testclient import TestClient

import api.mcp_server.endpoint  # noqa: F401 - before the server loads it in a thread of its own
from api.app import create_app
from backread.kernel import Kernel
from backread.log import configure
from backread.settings import Settings
from backread.store.engine import Store
from backread.store.migrate import upgrade
from backread.store.models import Account
from tests.nightly.isolation.attack import Attack, Findings
from tests.nightly.isolation.tenants import NOT_SEEDED, belongings, rows_of, settle

SETTINGS = {
    "embedding_model": "hashing",
    "client_documents": "off",
    "forget_tools": True,
    "chatgpt_tools": True,
    "notes_semantic_search": True,
    "notes_requests_per_minute": 1_000_000,
    "graph_extraction_enabled": True,
    "team_id": "weavers",
    "file_versions_kept": 3,
}


def attacked(
    browser: TestClient, kernel: Kernel, *, tenants: int, requests: int, seed: int, aimed: int = 1
) -> tuple[Findings, Attack]:
    """Settles the accounts and attacks them; the last two thirds of them only ever own."""
    # Hundreds of calls a second are what one caller may not make.
    with patch("api.mcp_server.guarding._BURST", 10**9):
        return _attacked(browser, kernel, tenants, requests, seed, aimed)


def _attacked(
    browser: TestClient, kernel: Kernel, tenants: int, requests: int, seed: int, aimed: int
) -> tuple[Findings, Attack]:
    everybody = [settle(browser, kernel, number) for number in range(tenants)]
    attackers = everybody[: max(1, tenants // 3)]
    victims = everybody[len(attackers) :]
    attack = Attack(browser, kernel, attackers, victims, seed)
    opened = attack.look_around()
    before = {each.account_id: belongings(kernel, each.account_id) for each in victims}
    nothing = {
        table for table, count in rows_of(kernel, victims[0].account_id).items() if not count
    }
    findings = attack.run(requests, rounds_aimed=aimed)
    attack.send_odd(attackers[0], every=aimed > 1)
    findings.failures += attack.changed(before)
    findings.failures += [
        f"no account has a row in {table}: give them one in {settle.__module__}"
        for table in sorted(nothing - NOT_SEEDED)
    ]
    findings.failures += [
        f"never opened for its owner: {door}" for door, is_open in opened.items() if not is_open
    ]
    return findings, attack


@contextmanager
def _server(url: str) -> Iterator[tuple[TestClient, Kernel]]:
    with tempfile.TemporaryDirectory() as home:
        more = {"database_url": url} if url else {}
        settings = Settings(home=Path(home), **SETTINGS, **more)  # type: ignore[arg-type]
        store = Store(settings.sqlalchemy_url)
        upgrade(store)
        with store.write() as session:
            session.add(Account(email="ada@example.org", password_hash="unused", role="owner"))
        store.close()
        app = create_app(settings)
        with TestClient(
            app,
            base_url=settings.origin,
            follow_redirects=False,
            raise_server_exceptions=False,
        ) as browser:
            assert isinstance(browser.app, FastAPI)
            yield browser, app.state.kernel


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--tenants", type=int, default=20)
    parser.add_argument("--seed", type=int, default=20261201)
    parser.add_argument("--database-url", default="")
    options = parser.parse_args()
    configure("CRITICAL")
    with _server(options.database_url) as (browser, kernel):
        findings, attack = attacked(
            browser,
            kernel,
            tenants=options.tenants,
            requests=options.requests,
            seed=options.seed,
            aimed=5,
        )
    for problem in dict.fromkeys(findings.problems):
        sys.stdout.write(f"{problem}\n")
    asked = sum(findings.asked.values())
    sys.stdout.write(
        f"{asked} requests through {len(findings.asked)} of {len(attack.doors)} doors, answered "
        f"{dict(sorted(findings.statuses.items()))}: {len(findings.leaks)} leaks, "
        f"{len(findings.differences)} differences, {len(findings.failures)} failures\n"
    )
    return 1 if findings.problems else 0


if __name__ == "__main__":
    sys.exit(main())
