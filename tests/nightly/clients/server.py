"""The server under the clients: real web processes on one socket, and what may happen to it."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import httpx
from sqlalchemy import select, update

from api.accounts.sessions import cookie_name, create_session
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.engine import Store
from backread.store.migrate import upgrade
from backread.store.models import Account, Bucket, OAuthGrant, OAuthToken
from backread.store.repositories import oauth
from tests.api.live import loopback_socket
from tests.support import wait_until

BUCKET = "Greenhouse notes"  # what a tool call must bring to light


@dataclass
class ClientServer:
    """Web processes of one installation. Started with `start`, any number of times."""

    settings: Settings
    listener: socket.socket
    cookie: str  # of the signed-in owner, as `name=value`
    _processes: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    @property
    def mcp_url(self) -> str:
        return f"{self.settings.origin}/api/mcp/mcp"

    @property
    def sse_url(self) -> str:
        return f"{self.settings.origin}/api/mcp/sse"

    @property
    def pids(self) -> list[int]:
        """The web processes that run."""
        return [process.pid for process in self._processes]

    def start(self, workers: int = 1) -> None:
        """Web processes that take connections from the same socket."""
        for _ in range(workers):
            self._processes.append(self._start_one())
        wait_until(self._answers, seconds=120, what="the server")

    def _start_one(self) -> "subprocess.Popen[bytes]":
        handle = self.listener.fileno()
        environment = {
            **os.environ,
            "BACKREAD_HOME": str(self.settings.home),
            "BACKREAD_PORT": str(self.settings.port),
            "BACKREAD_EMBEDDING_MODEL": "hashing",
            "BACKREAD_CLIENT_DOCUMENTS": "off",
        }
        with (self.settings.home / "web.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "backread", "serve", "--listener", str(handle)],
                env=environment,
                pass_fds=(handle,),
                stdout=log,
                stderr=log,
            )

    def _answers(self) -> bool:
        try:
            return httpx.post(self.mcp_url, timeout=30).status_code == 401
        except httpx.TransportError:
            return False

    def stop(self) -> None:
        for process in self._processes:
            process.send_signal(signal.SIGTERM)
        for process in self._processes:
            process.wait(timeout=30)
        self._processes.clear()

    def expire_access_tokens(self) -> None:
        """As if an hour had passed, for the server."""
        with self._store() as store, store.write() as session:
            access = update(OAuthToken).where(OAuthToken.kind == "access")
            session.execute(access.values(expires_at=utcnow() - timedelta(seconds=1)))

    def revoke_grants(self) -> None:
        """As the person does on the connections page."""
        with self._store() as store, store.write() as session:
            for grant_id in session.scalars(select(OAuthGrant.id)).all():
                oauth.revoke_grant(session, grant_id, now=utcnow())

    def live_grants(self) -> set[str]:
        """Ids of the grants that hold."""
        with self._store() as store, store.read() as session:
            statement = select(OAuthGrant.id).where(OAuthGrant.revoked_at.is_(None))
            return set(session.scalars(statement))

    def back_up(self) -> None:
        """Keeps the database as it is now. The server must be stopped."""
        shutil.copy(self._database, self._backup)

    def restore(self) -> None:
        """Puts the kept database back. The server must be stopped."""
        for rest in self.settings.home.glob("backread.db-*"):
            rest.unlink()
        shutil.copy(self._backup, self._database)

    @property
    def _database(self) -> Path:
        return self.settings.home / "backread.db"

    @property
    def _backup(self) -> Path:
        return self.settings.home / "kept.db"

    @contextmanager
    def _store(self) -> Iterator[Store]:
        store = Store(self.settings.sqlalchemy_url)
        yield store
        store.close()


@contextmanager
def new_server(home: Path) -> Iterator[ClientServer]:
    """An installation with an owner, one bucket, and nothing connected. Not started yet."""
    home.mkdir(parents=True)
    listener, port = loopback_socket()
    listener.listen(128)
    listener.set_inheritable(True)
    settings = Settings(home=home, port=port, embedding_model="hashing")
    store = Store(settings.sqlalchemy_url)
    upgrade(store)
    with store.write() as session:
        owner = Account(email="ada@example.org", password_hash="unused", role="owner")
        session.add(owner)
        session.flush()
        session.add(Bucket(account_id=owner.id, name=BUCKET))
        token = create_session(session, owner)
    # Nothing of it may be left in the log, which a restored database does not have.
    with store.engine.connect() as connection:
        connection.exec_driver_sql("COMMIT")
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.exec_driver_sql("BEGIN")
    store.close()
    server = ClientServer(settings, listener, f"{cookie_name(settings)}={token}")
    with listener:
        server.back_up()
        try:
            yield server
        finally:
            server.stop()
