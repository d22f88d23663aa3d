"""Queries of authenticator apps and recovery codes."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, func, insert, select, update

from backread.store.engine import ReadSession, WriteSession
from backread.store.models import AuthenticatorApp, RecoveryCode


def find_app(session: ReadSession, account_id: str) -> AuthenticatorApp | None:
    """The account's app, confirmed or not."""
    return session.get(AuthenticatorApp, account_id)


def find_confirmed_app(session: ReadSession, account_id: str) -> AuthenticatorApp | None:
    """The account's app, if sign-in asks for it."""
    app = find_app(session, account_id)
    return app if app is not None and app.confirmed_at is not None else None


def put_app(session: WriteSession, account_id: str, sealed_secret: str) -> None:
    """Puts an app that is still to be confirmed in the place of one that never was."""
    session.execute(
        delete(AuthenticatorApp).where(
            AuthenticatorApp.account_id == account_id, AuthenticatorApp.confirmed_at.is_(None)
        )
    )
    session.add(AuthenticatorApp(account_id=account_id, sealed_secret=sealed_secret))
    session.flush()


def use_step(session: WriteSession, account_id: str, step: int) -> bool:
    """Marks a code's step, and all before it, as used. False when it was already: of two
    requests with the same code, one gets True."""
    result = session.execute(
        update(AuthenticatorApp)
        .where(AuthenticatorApp.account_id == account_id, AuthenticatorApp.last_step < step)
        .values(last_step=step)
    )
    return bool(result.rowcount)  # type: ignore[attr-defined]


def confirm_app(session: WriteSession, account_id: str, *, now: datetime) -> None:
    session.execute(
        update(AuthenticatorApp)
        .where(AuthenticatorApp.account_id == account_id)
        .values(confirmed_at=now)
    )


def delete_app(session: WriteSession, account_id: str) -> None:
    """Takes the app away, and with it the recovery codes."""
    session.execute(delete(AuthenticatorApp).where(AuthenticatorApp.account_id == account_id))
    session.execute(delete(RecoveryCode).where(RecoveryCode.account_id == account_id))


def replace_recovery_codes(
    session: WriteSession, account_id: str, code_hashes: Sequence[str]
) -> None:
    session.execute(delete(RecoveryCode).where(RecoveryCode.account_id == account_id))
    session.execute(
        insert(RecoveryCode),
        [{"account_id": account_id, "code_hash": code_hash} for code_hash in code_hashes],
    )


def use_recovery_code(session: WriteSession, account_id: str, code_hash: str) -> bool:
    """Whether the code was good. It is not any more: of two requests, one gets True."""
    result = session.execute(
        delete(RecoveryCode).where(
            RecoveryCode.account_id == account_id, RecoveryCode.code_hash == code_hash
        )
    )
    return bool(result.rowcount)  # type: ignore[attr-defined]


def count_recovery_codes(session: ReadSession, account_id: str) -> int:
    statement = select(func.count()).where(RecoveryCode.account_id == account_id)
    return session.scalar(statement) or 0
