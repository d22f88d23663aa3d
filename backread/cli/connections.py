"""`backread connect`: how AI clients reach the server."""

from typing import TYPE_CHECKING, Annotated

import typer

from backread.cli.context import find_principal, load_settings, open_kernel
from backread.cli.output import AccountOption, JsonOption, print_json
from backread.errors import InvalidInput, Unavailable

if TYPE_CHECKING:
    from api.doctor.findings import Examination, Finding

_MARKS = {"ok": "✓", "warning": "!", "failed": "✗", "skipped": "–"}
_COLOURS = {"ok": "green", "warning": "yellow", "failed": "red", "skipped": None}

_commands = typer.Typer(help="How AI clients reach this server.", no_args_is_help=True)


def add_commands(app: typer.Typer) -> None:
    app.add_typer(_commands, name="connect")


@_commands.callback()
def _connect() -> None:
    """How AI clients reach this server."""


@_commands.command()
def doctor(
    address: Annotated[
        str,
        typer.Option(
            "--address",
            metavar="URL",
            help="The address that you give to clients. Without it, the server's public one.",
        ),
    ] = "",
    account: AccountOption = "",
    as_json: JsonOption = False,
) -> None:
    """Try the running server's address as AI clients do, and say what keeps them out.

    Ends with 1 when a client would not get in. Leaves nothing behind.
    """
    from api.doctor.examination import examine, examine_all
    from api.oauth.redirects import is_loopback
    from backread.supervisor.home import running_server

    settings = load_settings()
    if running_server(settings) is None:
        raise Unavailable("No server runs on this data folder.", hint="Start it: backread up")
    with open_kernel(settings) as kernel:
        principal = find_principal(kernel, account)
        if address:
            found = [examine(kernel, principal, _origin(address))]
        else:
            found = examine_all(kernel, principal)
    if as_json:
        print_json({"examinations": [each.model_dump() for each in found]})
    else:
        for each in found:
            _show(each)
        if found[0].is_healthy and is_loopback(found[0].address):
            typer.echo("Only this computer reaches this address; clients in the cloud, such as")
            typer.echo("Claude on the web and ChatGPT, need a public one: docs/guides/deploy.md.")
    if not all(each.is_healthy for each in found):
        raise typer.Exit(1)


def _origin(address: str) -> str:
    """The origin of what a person would paste into a client."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(address)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        parts, port = urlsplit(""), ""
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise InvalidInput(
            f"{address} is not an address.", hint="It looks like https://backread.example.org."
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}{port}"


def _show(examination: "Examination") -> None:
    typer.secho(examination.address, bold=True)
    for section in examination.sections:
        mark, colour = _MARKS[section.state], _COLOURS[section.state]
        typer.echo(f"  {typer.style(mark, fg=colour)} {section.title}")
        for finding in section.findings:
            if finding.problem:
                _show_problem(finding)
    typer.echo("")


def _show_problem(finding: "Finding") -> None:
    typer.echo(f"      {finding.title}: {finding.problem}")
    typer.secho(f"      → {finding.advice}", fg="cyan")
