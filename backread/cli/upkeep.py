"""`backread reindex` and `backread verify`."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from backread.cli.context import load_settings, open_kernel, select_principals
from backread.cli.output import AccountOption, JsonOption, counted, note, print_json

if TYPE_CHECKING:
    from backread.domain import Principal
    from backread.kernel import Kernel


def add_commands(app: typer.Typer) -> None:
    app.command("reindex")(reindex)
    app.command("verify")(verify)


def reindex(
    from_captures: Annotated[
        bool,
        typer.Option(
            "--from-captures",
            help="First read conversations, messages and documents anew from the raw data.",
        ),
    ] = False,
    outdated: Annotated[
        bool,
        typer.Option(
            "--outdated",
            help="Only read conversations anew that an older release has read less well.",
        ),
    ] = False,
    account: AccountOption = "",
    as_json: JsonOption = False,
) -> None:
    """Build the search index anew, for every account if none is named."""
    if outdated:
        _read_outdated(account, as_json=as_json)
        return
    from backread.cli.files import read_waiting
    from ingest.documents.projects import reread_documents
    from ingest.documents.reading import reread_outdated
    from ingest.indexing import reindex as reindex_account
    from ingest.rebuild import rebuild_account

    done: list[dict[str, Any]] = []
    with open_kernel(load_settings()) as kernel:
        for principal in select_principals(kernel, account):
            account_id = principal.account_id
            rebuilt: dict[str, Any] = {}
            if from_captures:
                rebuilt = asdict(rebuild_account(kernel, account_id))
                files = reread_outdated(kernel, account_id, every=True)
                documents = reread_documents(kernel, account_id, every=True)
                rebuilt |= {"files": files, "documents": documents}
                if files or documents:
                    read_waiting(kernel, quiet=as_json)
            passages = reindex_account(kernel, account_id)
            done.append({"account_id": account_id, "passages": passages} | rebuilt)
            _add_vectors(kernel, principal, quiet=as_json)
    if as_json:
        print_json({"accounts": done})
        return
    for each in done:
        typer.echo(f"Account {each['account_id']}: indexed {each['passages']:,} passages.")
        if from_captures:
            typer.echo(
                f"  Read {each['conversations']:,} conversations anew: {each['changed']:,} came "
                f"out different, {each['failed']:,} could not be read and stay as they were."
            )
            typer.echo(
                f"  Reading {counted(each['files'], 'file')} and "
                f"{counted(each['documents'], 'project document')} anew."
            )


def _read_outdated(account: str, *, as_json: bool) -> None:
    from ingest.rereading import reread_outdated

    done: list[dict[str, Any]] = []
    with open_kernel(load_settings()) as kernel:
        for principal in select_principals(kernel, account):
            read = reread_outdated(kernel, principal.account_id)
            done.append({"account_id": principal.account_id, "conversations": read})
            _add_vectors(kernel, principal, quiet=as_json)
    if as_json:
        print_json({"accounts": done})
        return
    for each in done:
        typer.echo(
            f"Account {each['account_id']}: read {each['conversations']:,} conversations anew."
        )


def _add_vectors(kernel: "Kernel", principal: "Principal", *, quiet: bool) -> None:
    from backread.cli.following import follow_embedding
    from backread.supervisor.home import running_server

    if running_server(kernel.settings) is None:
        follow_embedding(kernel, principal, quiet=quiet)
    elif not quiet:
        note("Found by their words now. The server is working on their meaning.")


def verify(account: AccountOption = "", as_json: JsonOption = False) -> None:
    """Check that what is stored is whole, for every account if none is named."""
    from ingest.verify import verify_account

    checked: list[dict[str, Any]] = []
    with open_kernel(load_settings()) as kernel:
        for principal in select_principals(kernel, account):
            result = verify_account(kernel, principal.account_id)
            checked.append({"account_id": principal.account_id} | asdict(result))
    is_whole = not any(each["problems"] for each in checked)
    if as_json:
        print_json({"is_whole": is_whole, "accounts": checked})
    else:
        _print_checked(checked)
    if not is_whole:
        raise typer.Exit(1)


def _print_checked(checked: "list[dict[str, Any]]") -> None:
    for each in checked:
        typer.echo(
            f"Account {each['account_id']}: {each['conversations']:,} conversations, "
            f"{each['messages']:,} messages (hidden ones and tool calls included), "
            f"{each['passages']:,} passages, "
            f"{each['captures']:,} raw captures, {each['imports']:,} imports"
        )
        for problem in each["problems"]:
            typer.secho(f"  {problem}", fg="red")
    if not any(each["problems"] for each in checked):
        typer.echo("Everything is whole.")
