"""Forms that are sent twice at the same moment, as by a double click: on a database that lets two
transactions run beside each other, the second one must still get an answer in words."""

from collections.abc import Callable

import pyotp
import pytest
from sqlalchemy import func, select

from api.accounts.limits import SignInLimits
from api.accounts.people import NewAccount, accept_invite, disable, invite
from api.accounts.second_factor import (
    begin_set_up,
    pending_set_up,
    renew_recovery_codes,
    use_code,
)
from api.accounts.service import create_account, set_up_owner
from api.accounts.setup_token import setup_token_path
from backread.crypto import hash_token
from backread.errors import AccessDenied, Conflict, NotAuthenticated, NotFound
from backread.kernel import Kernel
from backread.store.base import utcnow
from backread.store.engine import WriteSession
from backread.store.models import Account, AuthenticatorApp, RecoveryCode
from backread.store.repositories import accounts
from tests.api.conftest import PASSWORD
from tests.support import meanwhile

Work = Callable[[WriteSession], None]


def test_one_address_gets_one_account(kernel: Kernel) -> None:
    def add(session: WriteSession) -> None:
        create_account(session, email="boris@example.org", password=PASSWORD)

    with pytest.raises(Conflict, match="already"):
        meanwhile(kernel.store, add, add)


def test_an_invite_makes_one_account(kernel: Kernel, owner: Account) -> None:
    with kernel.store.write() as session:
        link = invite(session, kernel.settings, invited_by=owner.id)
    token = link.partition("token=")[2]

    def join(email: str) -> Work:
        def accept(session: WriteSession) -> None:
            accept_invite(session, token, NewAccount(email, PASSWORD))

        return accept

    with pytest.raises(NotFound, match="used"):
        meanwhile(kernel.store, join("boris@example.org"), join("carla@example.org"))
    with kernel.store.read() as reading:
        assert reading.scalar(select(func.count()).select_from(Account)) == 2


@pytest.mark.parametrize("made_before", [False, True])
def test_a_server_gets_one_owner(kernel: Kernel, made_before: bool) -> None:
    token = setup_token_path(kernel.settings).read_text(encoding="ascii").strip()
    if made_before:
        with kernel.store.write() as session:
            session.add(Account(email="owner@localhost", password_hash="", role="owner"))

    def set_up(email: str) -> Work:
        def claim(session: WriteSession) -> None:
            set_up_owner(session, kernel.settings, token=token, email=email, password=PASSWORD)

        return claim

    with pytest.raises((Conflict, AccessDenied), match="already"):
        meanwhile(kernel.store, set_up("ada@example.org"), set_up("eve@example.org"))
    with kernel.store.read() as reading:
        assert reading.scalars(select(Account.email)).all() == ["ada@example.org"]


def test_an_account_gets_one_authenticator_app(kernel: Kernel, owner: Account) -> None:
    def begin(session: WriteSession) -> None:
        begin_set_up(session, kernel.settings, owner.id)

    meanwhile(kernel.store, begin, begin)
    with kernel.store.read() as reading:
        assert reading.scalar(select(func.count()).select_from(AuthenticatorApp)) == 1


def test_an_account_gets_one_set_of_recovery_codes(kernel: Kernel, owner: Account) -> None:
    with kernel.store.write() as session:
        session.add(AuthenticatorApp(account_id=owner.id, sealed_secret="x", confirmed_at=utcnow()))

    def renew(session: WriteSession) -> None:
        renew_recovery_codes(session, owner.id)

    meanwhile(kernel.store, renew, renew)
    with kernel.store.read() as reading:
        assert reading.scalar(select(func.count()).select_from(RecoveryCode)) == 10


def test_a_code_signs_in_once(kernel: Kernel, owner: Account) -> None:
    with kernel.store.write() as session:
        begin_set_up(session, kernel.settings, owner.id)
        secret = pending_set_up(session, kernel.settings, owner).secret
        recovery = RecoveryCode(account_id=owner.id, code_hash=hash_token("abcdabcdabcdabcd"))
        session.add(recovery)

    def use(code: str) -> Work:
        def use_up(session: WriteSession) -> None:
            use_code(session, kernel.settings, SignInLimits(), owner.id, code)

        return use_up

    for code in (pyotp.TOTP(secret).now(), "abcd-abcd-abcd-abcd"):
        with pytest.raises(NotAuthenticated, match="used already"):
            meanwhile(kernel.store, use(code), use(code))


def test_two_owners_cannot_shut_each_other_out(kernel: Kernel, owner: Account) -> None:
    with kernel.store.write() as session:
        other = create_account(
            session, email="eve@example.org", password=PASSWORD, role=accounts.OWNER
        )

    def shut(account_id: str) -> Work:
        def remove_owner(session: WriteSession) -> None:
            disable(session, account_id)

        return remove_owner

    with pytest.raises(Conflict, match="only owner"):
        meanwhile(kernel.store, shut(owner.id), shut(other.id))
