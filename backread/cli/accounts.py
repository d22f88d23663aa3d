"""`backread user …`: accounts without the web page."""

import secrets
import sys
from typing import Annotated

import typer

from backread.cli.context import load_settings, open_kernel
from backread.cli.output import JsonOption, note, print_json

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


def _password(from_stdin: bool) -> tuple[str, bool]:
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n"), False
    if sys.stdin.isatty():
        return typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True), False
    return secrets.token_urlsafe(16), True
