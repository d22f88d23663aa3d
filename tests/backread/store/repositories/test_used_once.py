"""What works once works once, also when several ask at the same moment."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest

from backread.domain import Principal
from backread.store.base import utcnow
from backread.store.engine import Store, WriteSession
from backread.store.models import AuthenticatorApp, Invite, RecoveryCode, SignInChallenge
from backread.store.repositories.passkeys import count_try, take_challenge
from backread.store.repositories.people import take_invite
from backread.store.repositories.second_factors import use_recovery_code, use_step

_AT_ONCE = 6
Use = Callable[[WriteSession, str], bool]

USES: dict[str, Use] = {
    "the code of an app": lambda session, account: use_step(session, account, 1000),
    "a recovery code": lambda session, account: use_recovery_code(session, account, "code"),
    "an invite": lambda session, _: take_invite(session, "invite", now=utcnow()),
    "a challenge": lambda session, _: take_challenge(session, "challenge"),
    "the last try of a sign-in": lambda session, _: count_try(session, "challenge", most=1),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES.keys())
def test_it_is_used_once(store: Store, principal: Principal, use: Use) -> None:
    account, later = principal.account_id, utcnow() + timedelta(minutes=5)
    with store.write() as session:
        session.add(AuthenticatorApp(account_id=account, sealed_secret="", last_step=999))
        session.add(RecoveryCode(account_id=account, code_hash="code"))
        session.add(Invite(token_hash="invite", invited_by=account, expires_at=later))
        session.add(
            SignInChallenge(
                token_hash="challenge", purpose="code", account_id=account, expires_at=later
            )
        )
    ready = Barrier(_AT_ONCE)

    def attempt(_: int) -> bool:
        ready.wait()
        with store.write() as session:
            return use(session, account)

    with ThreadPoolExecutor(_AT_ONCE) as threads:
        results = list(threads.map(attempt, range(_AT_ONCE)))
    assert sorted(results) == [False] * (_AT_ONCE - 1) + [True]
