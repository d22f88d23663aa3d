"""Grants as a state machine: whatever clients, people and time do in whatever order, a model that
fits on a page says which tokens are good."""

import secrets
from dataclasses import dataclass, field
from datetime import timedelta
from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule
from sqlalchemy import select, update
from starlette.testclient import TestClient

from backread.crypto import hash_token
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.models import OAuthGrant, OAuthToken
from tests.api.oauth.flow import Flow, is_good, new_flow


@dataclass
class Granted:
    """A grant as the model has it."""

    flow: Flow
    is_alive: bool = True
    access: list[str] = field(default_factory=list)


@dataclass
class Refresh:
    """A refresh token as the model has it. `is_stale`: replaced so long ago that its use counts as
    theft."""

    grant: Granted
    value: str
    is_replaced: bool = False
    is_stale: bool = False


class GrantMachine(RuleBasedStateMachine):
    """One server for all runs; each run makes grants of its own."""

    browser: ClassVar[TestClient]
    kernel: ClassVar[Kernel]
    grace_seconds: ClassVar[int]

    tokens = Bundle("tokens")
    codes = Bundle("codes")

    def __init__(self) -> None:
        super().__init__()
        self.grants: list[Granted] = []
        self.refreshes: list[Refresh] = []

    @rule(target=tokens)
    def sign_in(self) -> Refresh:
        flow = self._new_flow()
        body = flow.tokens()
        grant = Granted(flow, access=[body["access_token"]])
        self.grants.append(grant)
        return self._added(Refresh(grant, body["refresh_token"]))

    @rule(token=tokens, target=tokens)
    def refresh(self, token: Refresh) -> object:
        answer = token.grant.flow.refresh(token.value)
        if not token.grant.is_alive or token.is_stale:
            assert answer.status_code == 400, answer.text
            assert answer.json()["error"] == "invalid_grant"
            if token.is_stale:
                token.grant.is_alive = False  # a thief has it: all of the grant ends
            return multiple()
        assert answer.status_code == 200, answer.text
        body = answer.json()
        token.grant.access.append(body["access_token"])
        token.is_replaced = True
        return self._added(Refresh(token.grant, body["refresh_token"]))

    @rule(token=tokens)
    def time_passes_for_what_was_replaced(self, token: Refresh) -> None:
        """More than the window in which a replaced token still works."""
        if not token.is_replaced:
            return
        moment = utcnow() - timedelta(seconds=self.grace_seconds + 1)
        with self.kernel.store.write() as session:
            session.execute(
                update(OAuthToken)
                .where(OAuthToken.token_hash == hash_token(token.value))
                .values(superseded_at=moment)
            )
        token.is_stale = True

    @rule(token=tokens)
    def revoke_the_refresh_token(self, token: Refresh) -> None:
        answer = self.browser.post(
            "/revoke", data={"token": token.value, "client_id": token.grant.flow.client_id}
        )
        assert answer.status_code == 200, answer.text
        token.grant.is_alive = False

    @rule(token=tokens)
    def the_person_disconnects_the_client(self, token: Refresh) -> None:
        with self.kernel.store.write() as session:
            session.execute(
                update(OAuthGrant)
                .where(OAuthGrant.client_id == token.grant.flow.client_id)
                .values(revoked_at=utcnow())
            )
        token.grant.is_alive = False

    @rule(token=tokens, stranger=tokens)
    def another_client_tries_it(self, token: Refresh, stranger: Refresh) -> None:
        if token.grant is stranger.grant:
            return
        answer = stranger.grant.flow.refresh(token.value)
        assert answer.status_code == 400, answer.text

    @rule(target=codes)
    def ask_for_a_code(self) -> tuple[Flow, str]:
        flow = self._new_flow()
        return flow, flow.code()

    @rule(code=consumes(codes), times=st.integers(min_value=1, max_value=3), target=tokens)
    def exchange_the_code(self, code: tuple[Flow, str], times: int) -> object:
        """Once is right; a second time ends what the first has given."""
        flow, value = code
        first = flow.exchange(value)
        assert first.status_code == 200, first.text
        grant = Granted(flow, access=[first.json()["access_token"]])
        self.grants.append(grant)
        for _ in range(times - 1):
            again = flow.exchange(value)
            assert again.json()["error"] == "invalid_grant"
            grant.is_alive = False
        return self._added(Refresh(grant, first.json()["refresh_token"]))

    @invariant()
    def access_tokens_are_good_as_long_as_their_grant(self) -> None:
        for grant in self.grants[-4:]:
            for token in grant.access[-2:]:
                assert is_good(self.browser, token) is grant.is_alive

    @invariant()
    def a_client_never_has_two_living_grants(self) -> None:
        clients = [grant.flow.client_id for grant in self.grants]
        if not clients:
            return
        with self.kernel.store.read() as session:
            alive = session.scalars(
                select(OAuthGrant.client_id).where(
                    OAuthGrant.client_id.in_(clients[-20:]), OAuthGrant.revoked_at.is_(None)
                )
            ).all()
        assert len(alive) == len(set(alive))

    def _new_flow(self) -> Flow:
        """Of a client of its own: what registers with the same words is the same client."""
        return new_flow(self.browser, client_name=f"Trial {secrets.token_hex(8)}")

    def _added(self, token: Refresh) -> Refresh:
        self.refreshes.append(token)
        return token
