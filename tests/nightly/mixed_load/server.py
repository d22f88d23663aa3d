"""The server under the load: web processes on one socket, and accounts that each have their own
words, with clients that are signed in already."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from api.oauth.resources import recall_resource
from api.oauth.scopes import ALL_SCOPES
from api.oauth.tokens import issue_tokens
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.engine import Store
from backread.store.models import Account, Bucket, OAuthClient, OAuthGrant
from tests.nightly.clients.server import ClientServer, new_server

CANARY = "canary-"  # and 16 hexadecimal digits, in the name of the account's one bucket


@dataclass(frozen=True, slots=True)
class Caller:
    """One client of one account. `canary` is what only this account's answers may hold."""

    account: int
    canary: str
    token: str


@contextmanager
def settled_server(
    home: Path, *, accounts: int, clients: int
) -> Iterator[tuple[ClientServer, list[Caller]]]:
    """An installation that is not started yet, with so many accounts of so many clients each."""
    with new_server(home) as server:
        store = Store(server.settings.sqlalchemy_url)
        callers = settle(store, server.settings, accounts=accounts, clients=clients)
        store.close()
        yield server, callers


def settle(store: Store, settings: Settings, *, accounts: int, clients: int) -> list[Caller]:
    """Makes accounts and their clients. The callers of one account do not stand side by side."""
    callers = []
    with store.write() as session:
        known = [
            OAuthClient(id=f"brc_load_{number}", fingerprint=f"load {number}", name="Load")
            for number in range(clients)
        ]
        session.add_all(known)
        for number in range(accounts):
            account = Account(email=f"load-{number}@example.org", password_hash="unused")
            session.add(account)
            session.flush()
            canary = CANARY + secrets.token_hex(8)
            session.add(Bucket(account_id=account.id, name=canary))
            for client in known:
                grant = OAuthGrant(
                    account_id=account.id,
                    client_id=client.id,
                    scopes=[scope.value for scope in ALL_SCOPES],
                    resource=recall_resource(settings),
                    last_used_at=utcnow(),
                )
                session.add(grant)
                session.flush()
                tokens = issue_tokens(session, settings, grant, now=utcnow())
                callers.append(Caller(number, canary, tokens.access))
    return sorted(callers, key=lambda caller: caller.token)
