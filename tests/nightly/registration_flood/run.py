"""Floods a running server with client registrations while signed-in clients go on working.

    .venv/bin/python -m tests.nightly.registration_flood.run [--registrations 100000] [--rate 500]

Anybody may register (RFC 7591), so a flood has to cost little: the database may grow by 50 MB, no
client in use may be thrown out, and 99 of 100 token requests of those must be answered within
300 ms of what they take. Identical registrations must be one client. Ends with 0 when all of it
held. Registrations that the server turns away by its rate limit count as sent.
"""

import argparse
import os
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
from sqlalchemy import func, select

from api.accounts.sessions import cookie_name, create_session
from backread.settings import Settings
from backread.store.engine import Store
from backread.store.models import Account, OAuthClient
from tests.api.oauth.flow import Flow, new_flow, registration
from tests.nightly.kill_storm.server import KillableServer

_LIVE_CLIENTS = 20
_MOST_GROWTH = 50 * 1024**2
_MOST_SECONDS = 0.3
_THREADS = 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--registrations", type=int, default=100_000)
    parser.add_argument("--rate", type=float, default=500, help="a second, if the machine can")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        failures = _flood(Path(folder), options.registrations, options.rate)
    for failure in failures:
        _say(f"FAILED: {failure}")
    sys.exit(1 if failures else 0)


def _flood(home: Path, count: int, rate: float) -> list[str]:
    server = KillableServer(home)
    server.start()
    try:
        origin = server.origin
        flows = _signed_in(home, origin)
        before = _size(home)
        statuses: Counter[int] = Counter()
        waits: list[float] = []
        ended = threading.Event()
        watcher = threading.Thread(target=_keep_refreshing, args=(flows, waits, ended, statuses))
        watcher.start()
        started = time.monotonic()
        with (
            httpx2.Client(base_url=origin, timeout=30) as client,
            ThreadPoolExecutor(_THREADS) as pool,
        ):

            def register(number: int) -> int:
                due = started + number / rate
                time.sleep(max(0.0, due - time.monotonic()))
                body = registration(client_name=f"Flood {number}")
                return client.post("/register", json=body).status_code

            answers = Counter(pool.map(register, range(count), chunksize=1))
        seconds = time.monotonic() - started
        ended.set()
        watcher.join()
        return _judged(home, origin, flows, before, answers, seconds, waits, statuses)
    finally:
        server.stop()


def _judged(
    home: Path,
    origin: str,
    flows: list[tuple[Flow, str]],
    before: int,
    answers: Counter[int],
    seconds: float,
    waits: list[float],
    statuses: Counter[int],
) -> list[str]:
    growth = _size(home) - before
    slow = statistics.quantiles(waits, n=100)[98] if len(waits) > 100 else max(waits, default=0.0)
    _say(f"{answers.total()} registrations in {seconds:.0f} s: {dict(answers)}")
    _say(f"{len(waits)} token requests of live clients: p99 {slow * 1000:.0f} ms, {dict(statuses)}")
    _say(f"the database grew by {growth / 1024**2:.1f} MB")
    failures = []
    if growth > _MOST_GROWTH:
        failures.append(f"the database grew by {growth} bytes")
    if slow > _MOST_SECONDS:
        failures.append(f"p99 of token requests is {slow:.3f} s")
    if set(statuses) - {200}:
        failures.append(f"live clients were refused: {dict(statuses)}")
    if any(status >= 500 for status in answers):
        failures.append(f"the server failed: {dict(answers)}")
    for flow, token in flows:
        if flow.refresh(token).status_code != 200:
            failures.append("a live client cannot refresh any more")
            break
    with httpx2.Client(base_url=origin, timeout=30) as client:
        same = {
            answer.json().get("client_id")
            for answer in (client.post("/register", json=registration()) for _ in range(5))
            if answer.status_code == 201
        }
    if len(same) > 1:
        failures.append("identical registrations made several clients")
    store = Store(Settings(home=home).sqlalchemy_url)
    with store.read() as session:
        _say(f"{session.scalar(select(func.count()).select_from(OAuthClient))} clients are kept")
    store.close()
    return failures


def _signed_in(home: Path, origin: str) -> list[tuple[Flow, str]]:
    """Clients in use, each with a refresh token."""
    settings = Settings(home=home)
    store = Store(settings.sqlalchemy_url)
    with store.write() as session:
        account = Account(email="ada@example.org", password_hash="unused", role="owner")
        session.add(account)
        session.flush()
        token = create_session(session, account)
    store.close()
    browser = httpx2.Client(
        base_url=origin, cookies={cookie_name(settings): token}, timeout=30, follow_redirects=False
    )
    flows = [new_flow(browser, client_name=f"Live {number}") for number in range(_LIVE_CLIENTS)]
    return [(flow, str(flow.tokens()["refresh_token"])) for flow in flows]


def _keep_refreshing(
    flows: list[tuple[Flow, str]],
    waits: list[float],
    ended: threading.Event,
    statuses: Counter[int],
) -> None:
    """Each client in turn gets new tokens, some twenty a second."""
    while not ended.wait(0.05):
        flow, token = flows.pop(0)
        started = time.monotonic()
        answer = flow.refresh(token)
        waits.append(time.monotonic() - started)
        statuses[answer.status_code] += 1
        fresh = answer.json().get("refresh_token", token) if answer.status_code == 200 else token
        flows.append((flow, fresh))


def _size(home: Path) -> int:
    return sum(
        os.path.getsize(path)
        for path in home.glob("backread.db*")
        if not path.name.endswith("-shm")
    )


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    main()
