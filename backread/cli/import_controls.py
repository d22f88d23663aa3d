"""`backread imports …`: what became of imports, and holding one back for a while."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from backread.cli.context import find_principal, load_settings, open_kernel, writing
from backread.cli.imports import print_report, see_through
from backread.cli.output import AccountOption, JsonOption, print_json

if TYPE_CHECKING:
    from backread.domain import Principal
    from backread.store.engine import WriteSession

imports = typer.Typer(no_args_is_help=True, help="List, pause, resume and stop imports.")
_Id = Annotated[str, typer.Argument(metavar="ID", help="As `backread imports list` shows it.")]
_LISTED = 20


def add_commands(app: typer.Typer) -> None:
    app.add_typer(imports, name="imports")


@imports.callback()
def _imports() -> None:
    """List, pause, resume and stop imports."""


@imports.command("list")
def list_imports(account: AccountOption = "", as_json: JsonOption = False) -> None:
    """Show the latest imports, newest first."""
    from ingest.report import list_reports

    with open_kernel(load_settings()) as kernel:
        principal = find_principal(kernel, account)
        with kernel.store.read() as session:
            reports = list_reports(session, principal, limit=_LISTED)
    if as_json:
        print_json({"imports": [report.model_dump(mode="json") for report in reports]})
        return
    for report in reports:
        name = report.files[0].name if report.files else ""
        more = f" and {len(report.files) - 1:,} more" if len(report.files) > 1 else ""
        typer.echo(
            f"{report.id}  {report.created_at:%Y-%m-%d %H:%M}  {report.state:<9}  "
            f"{report.totals.new:,} new of {report.totals.found:,}  {name}{more}"
            f"{'  (trial run)' if report.is_dry_run else ''}"
        )


@imports.command("show")
def show(import_id: _Id, account: AccountOption = "", as_json: JsonOption = False) -> None:
    """Show an import's report."""
    from ingest.report import read_report

    with open_kernel(load_settings()) as kernel:
        principal = find_principal(kernel, account)
        with kernel.store.read() as session:
            report = read_report(session, principal, import_id)
    if as_json:
        print_json(report.model_dump(mode="json"))
        return
    typer.echo(f"State: {report.state}")
    print_report(report)


@imports.command("pause")
def pause(import_id: _Id, account: AccountOption = "", as_json: JsonOption = False) -> None:
    """Hold an import back until it is resumed. What is stored stays."""
    from ingest.controls import pause_import

    _control(pause_import, import_id, account, as_json=as_json)


@imports.command("stop")
def stop(import_id: _Id, account: AccountOption = "", as_json: JsonOption = False) -> None:
    """Stop an import for good. What is stored stays."""
    from ingest.controls import cancel_import

    _control(cancel_import, import_id, account, as_json=as_json)


@imports.command("resume")
def resume(
    import_id: _Id,
    wait: Annotated[
        bool, typer.Option("--wait", help="Return only when it is found by meaning, too.")
    ] = False,
    account: AccountOption = "",
    as_json: JsonOption = False,
) -> None:
    """Go on with a paused import, and follow it to its end."""
    from ingest.controls import resume_import

    with open_kernel(load_settings()) as kernel:
        principal = find_principal(kernel, account)
        with kernel.store.write() as session:
            resume_import(session, principal, import_id)
        report = see_through(kernel, principal, import_id, wait=wait, as_json=as_json)
    if report.state != "readable":
        raise typer.Exit(1)


def _control(
    control: "Callable[[WriteSession, Principal, str], str]",
    import_id: str,
    account: str,
    *,
    as_json: bool,
) -> None:
    with writing(account) as (session, principal):
        state = control(session, principal, import_id)
    told: dict[str, Any] = {"id": import_id, "state": state}
    if as_json:
        print_json(told)
        return
    typer.echo(_IN_WORDS.get(state, f"It is {state}."))


_IN_WORDS = {
    "paused": "Paused. `backread imports resume ID` goes on where it was.",
    "running": "It stops within seconds.",
    "cancelled": "Stopped. What was stored stays.",
    "readable": "It had ended already.",
    "failed": "It had failed already.",
}
