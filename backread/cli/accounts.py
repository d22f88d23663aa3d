"""`backread user …`: accounts without the web page."""

import secrets
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from backread.cli.context import load_settings, open_kernel
from backread.cli.output import JsonOption, note, print_json

if TYPE_CHECKING:
    from backread.store.engine import WriteSession

user = typer.Typer(no_args_is_help=True, help="Manage accounts.")


def add_commands(app: typer.Typer) -> None:
    app.add_typer(user, name="user")


@user.callback()
def _user() -> None:
    """Manage accounts."""


@user.command("add")
def add(
    email: Annotated[str, typer.Argument(help="The address to sign in with.")],
    owner: Annotated[bool, typer.Option("--owner", help="May manage the server.")] = False,
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from the first input line.")
    ] = False,
    name: Annotated[str, typer.Option("--name", help="Shown instead of the address.")] = "",
    timezone: Annotated[
        str, typer.Option("--timezone", metavar="ZONE", help="For example Europe/Paris.")
    ] = "UTC",
    as_json: JsonOption = False,
) -> None:
    """Add an account.

    Asks for a password at a terminal. Otherwise, without --password-stdin, a random one is made
    and printed.
    """
    from api.accounts.service import create_account

    password, is_made = _password(password_stdin)
    with open_kernel(load_settings()) as kernel, kernel.store.write() as session:
        account = create_account(
            session,
            email=email,
            password=password,
            display_name=name,
            role="owner" if owner else "member",
            timezone=timezone,
        )
        added = {"id": account.id, "email": account.email, "role": account.role}
    if as_json:
        print_json(added | ({"password": password} if is_made else {}))
        return
    typer.echo(f"Added {added['email']} ({added['role']}).")
    if is_made:
        note("Its password, shown only now:")
        typer.echo(password)


@user.command("set-password")
def set_password(
    email: Annotated[str, typer.Argument(help="The account's address.")],
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from the first input line.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Give an account a new password and sign its browsers out.

    Asks for it at a terminal. Otherwise, without --password-stdin, a random one is made and
    printed.
    """
    from api.accounts import service
    from backread.errors import NotFound
    from backread.store.repositories.accounts import find_by_email

    with open_kernel(load_settings()) as kernel:
        with kernel.store.read() as session:
            account = find_by_email(session, email.strip().lower())
        if account is None:
            raise NotFound(f"There is no account for {email}.", hint="Check the address.")
        password, is_made = _password(password_stdin)
        with kernel.store.write() as session:
            service.set_password(session, account.id, password)
    if as_json:
        print_json({"email": account.email} | ({"password": password} if is_made else {}))
        return
    typer.echo(f"{account.email} has a new password; its browsers are signed out.")
    if is_made:
        note("The password, shown only now:")
        typer.echo(password)


@user.command("list")
def list_accounts(as_json: JsonOption = False) -> None:
    """Show who has an account, and how much is in it."""
    from backread.store.repositories.people import list_people

    with open_kernel(load_settings()) as kernel, kernel.store.read() as session:
        found = [
            {
                "email": person.account.email,
                "name": person.account.display_name,
                "role": person.account.role,
                "state": person.state,
                "conversations": person.conversations,
            }
            for person in list_people(session)
        ]
    if as_json:
        print_json({"accounts": found})
        return
    for each in found:
        typer.echo(f"{each['email']}  {each['role']}  {each['state']}  {each['conversations']}")


@user.command("invite")
def invite(
    name: Annotated[str, typer.Option("--name", help="Whom it is for.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Print a link with which one person can make an account, once and within seven days."""
    from api.accounts import people
    from backread.errors import NotFound
    from backread.store.repositories.accounts import find_owner

    with open_kernel(load_settings()) as kernel, kernel.store.write() as session:
        owner = find_owner(session)
        if owner is None:
            raise NotFound("There is no owner yet.", hint="backread user add EMAIL --owner")
        link = people.invite(session, kernel.settings, invited_by=owner.id, name=name)
    if as_json:
        print_json({"link": link, "days": people.INVITE_DAYS})
        return
    note(f"Works once, for {people.INVITE_DAYS} days, and is shown only now:")
    typer.echo(link)


@user.command("disable")
def disable(
    email: Annotated[str, typer.Argument(help="The account's address.")],
    as_json: JsonOption = False,
) -> None:
    """Let nobody into an account any more, and keep its data."""
    from api.accounts import people

    _change(email, people.disable, "disabled", as_json)


@user.command("enable")
def enable(
    email: Annotated[str, typer.Argument(help="The account's address.")],
    as_json: JsonOption = False,
) -> None:
    """Let a disabled account sign in again."""
    from api.accounts import people

    _change(email, people.enable, "enabled", as_json)


@user.command("set-role")
def set_role(
    email: Annotated[str, typer.Argument(help="The account's address.")],
    role: Annotated[str, typer.Argument(help="owner (manages the server) or member.")],
    as_json: JsonOption = False,
) -> None:
    """Make somebody an owner, who manages the server, or a member."""
    from api.accounts import people
    from backread.errors import InvalidInput

    changes = {"owner": people.make_owner, "member": people.make_member}
    if role not in changes:
        raise InvalidInput(f"There is no role “{role}”.", hint="Give owner or member.")
    _change(email, changes[role], f"{role} now", as_json)


@user.command("remove")
def remove(
    email: Annotated[str, typer.Argument(help="The account's address.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Close an account and erase everything in it, for good.

    It is closed at once; its data is erased by the running server, or when it next starts.
    """
    from api.accounts import people
    from backread.errors import InvalidInput

    if not yes:
        if as_json or not sys.stdin.isatty():
            raise InvalidInput("This erases an account for good.", hint="Add --yes to do it.")
        typer.confirm(f"Erase {email} and everything in it, for good?", abort=True, err=True)
    _change(email, people.remove, "removed", as_json)


@user.command("reset-sign-in")
def reset_sign_in(
    email: Annotated[str, typer.Argument(help="The account's address.")],
    as_json: JsonOption = False,
) -> None:
    """Take an account's authenticator app, recovery codes and passkeys away, for somebody who lost
    them, and sign its browsers out. The password stays."""
    from api.accounts import second_factor

    _change(email, second_factor.forget_factors, "reset", as_json)


def _change(
    email: str, change: "Callable[[WriteSession, str], None]", done: str, as_json: bool
) -> None:
    from backread.errors import NotFound
    from backread.store.repositories.accounts import find_by_email

    with open_kernel(load_settings()) as kernel, kernel.store.write() as session:
        account = find_by_email(session, email)
        if account is None:
            raise NotFound(f"There is no account for {email}.", hint="Check the address.")
        change(session, account.id)
    if as_json:
        print_json({"email": account.email, "state": done})
    else:
        typer.echo(f"{account.email}: {done}.")


def _password(from_stdin: bool) -> tuple[str, bool]:
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n"), False
    if sys.stdin.isatty():
        return typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True), False
    return secrets.token_urlsafe(16), True
