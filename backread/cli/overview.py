"""`backread overview`."""

from typing import Annotated

import typer

from backread.cli.context import find_principal, load_settings, open_kernel
from backread.cli.output import AccountOption, JsonOption, print_json


def add_commands(app: typer.Typer) -> None:
    app.command("overview")(overview)


def overview(
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Read every conversation anew, not only new ones.")
    ] = False,
    account: AccountOption = "",
    as_json: JsonOption = False,
) -> None:
    """Show what your whole chat history is about, and how much there is of it."""
    from backread.store.repositories.overview import forget_overview
    from recall.overview.reading import chat_history_overview
    from recall.overview.updating import refresh_overview

    with open_kernel(load_settings()) as kernel:
        principal = find_principal(kernel, account)
        if refresh:
            with kernel.store.write() as session:
                forget_overview(session, principal.account_id)
        refresh_overview(kernel, principal.account_id, with_model=True)
        found = chat_history_overview(kernel, principal)
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        typer.echo(found.text)
