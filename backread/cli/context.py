"""What a command works with: the settings, the account, and the parts of the data folder, whether
a server runs on it or not."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from backread.errors import BackreadError, InvalidInput, NotFound, Unavailable
from backread.settings import Settings

if TYPE_CHECKING:
    from backread.domain import Principal
    from backread.kernel import Kernel
    from backread.store.engine import WriteSession
    from backread.store.models import Account


def load_settings(**changes: Any) -> Settings:
    """The settings of the environment, with `changes` from options. Raises InvalidInput that
    names the setting which cannot be used."""
    from pydantic import ValidationError

    try:
        return Settings(**changes)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = str(first["loc"][0]) if first["loc"] else "settings"
        reason = str(first["msg"]).removeprefix("Value error, ")
        raise InvalidInput(
            f"BACKREAD_{name.upper()} cannot be used: {reason}.",
            hint="docs/settings.md lists every setting.",
        ) from error


def change_settings(settings: Settings, **changes: Any) -> Settings:
    """A copy with `changes`; what is derived from them follows."""
    return load_settings(**(settings.model_dump() | changes))


@contextmanager
def open_kernel(settings: Settings) -> Iterator["Kernel"]:
    """The parts of the data folder, closed at the end.

    Beside a running server it uses that server's broker and index owner. Without one it brings
    the database up to date first. Errors of the database and of file permissions that a person
    can act on are raised as Unavailable.
    """
    from sqlalchemy.exc import OperationalError

    from backread import log
    from backread.cli.job_modules import load_jobs
    from backread.jobs.broker import connect
    from backread.kernel import Kernel
    from backread.store.migrate import upgrade
    from backread.supervisor.home import running_server

    log.configure("WARNING")
    load_jobs()
    server = running_server(settings)
    if server is not None:
        settings = change_settings(settings, broker_url=server.broker_url, public_url=server.url)
    connect(settings)
    kernel = Kernel(settings)
    try:
        if server is None:
            upgrade(kernel.store)
        yield kernel
    except OperationalError as error:
        raise Unavailable(
            f"The database cannot be used: {error.orig}.",
            hint="Check BACKREAD_DATABASE_URL, the free disk space and who owns the data folder.",
        ) from error
    except PermissionError as error:
        raise BackreadError(
            f"No permission for {error.filename}.", hint="Check who owns it, or set BACKREAD_HOME."
        ) from error
    finally:
        kernel.close()


def find_principal(kernel: "Kernel", email: str) -> "Principal":
    """Whom the command works for: the account named, or the only one there is. A data folder
    without any gets a local owner, whom the set-up page gives a password later.

    Raises NotFound for an unknown address and InvalidInput when it must be said which one.
    """
    from api.accounts.service import local_owner

    if email:
        return _principal(_named_account(kernel, email))
    accounts = _active_accounts(kernel)
    if len(accounts) > 1:
        raise InvalidInput(
            "There are several accounts, so say whose data this is about.",
            hint=f"Add --account with one of: {', '.join(each.email for each in accounts)}",
        )
    if accounts:
        return _principal(accounts[0])
    with kernel.store.write() as session:
        return _principal(local_owner(session))


@contextmanager
def writing(email: str) -> Iterator[tuple["WriteSession", "Principal"]]:
    """One transaction for whom the command works; what `find_principal` raises."""
    with open_kernel(load_settings()) as kernel:
        principal = find_principal(kernel, email)
        with kernel.store.write() as session:
            yield session, principal


def select_principals(kernel: "Kernel", email: str) -> "list[Principal]":
    """The account named, or every one. Raises NotFound for an unknown address."""
    accounts = [_named_account(kernel, email)] if email else _active_accounts(kernel)
    return [_principal(account) for account in accounts]


def _principal(account: "Account") -> "Principal":
    from backread.domain import Principal, Scope

    return Principal(account.id, scopes=frozenset(Scope), timezone=account.timezone)


def _named_account(kernel: "Kernel", email: str) -> "Account":
    from backread.store.repositories.accounts import find_by_email

    with kernel.store.read() as session:
        account = find_by_email(session, email)
    if account is None or account.disabled_at is not None:
        raise NotFound(
            f"There is no account for {email}.", hint=f"Make one: backread user add {email}"
        )
    return account


def _active_accounts(kernel: "Kernel") -> "list[Account]":
    from sqlalchemy import select

    from backread.store.models import Account

    active = select(Account).where(Account.disabled_at.is_(None)).order_by(Account.email)
    with kernel.store.read() as session:
        return list(session.scalars(active))
