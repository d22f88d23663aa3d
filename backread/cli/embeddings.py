"""`backread embeddings`: which model turns texts into vectors, and changing it."""

from typing import TYPE_CHECKING, Annotated

import typer

from backread.cli.context import load_settings, open_kernel
from backread.cli.output import JsonOption, note, print_json
from backread.errors import Unavailable

if TYPE_CHECKING:
    from backread.indexing.switching import SwitchStatus
    from backread.kernel import Kernel

_commands = typer.Typer(
    help="The model that finds texts by their meaning, and changing it.", no_args_is_help=True
)


def add_commands(app: typer.Typer) -> None:
    app.add_typer(_commands, name="embeddings")


@_commands.callback()
def _embeddings() -> None:
    """The model that finds texts by their meaning, and changing it."""


@_commands.command()
def status(as_json: JsonOption = False) -> None:
    """Show which model answers questions, and how far a change has come."""
    with open_kernel(load_settings()) as kernel:
        _show(kernel, as_json=as_json)


@_commands.command()
def switch(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="What to change to.")],
    as_json: JsonOption = False,
) -> None:
    """Change to another model.

    Questions are answered with the present one until the vectors of the new one are made, and
    still are if they cannot be. MODEL is what BACKREAD_EMBEDDING_MODEL takes.
    """
    from backread.indexing.switching import begin_switch

    with open_kernel(load_settings()) as kernel:
        begin_switch(kernel, model)
        _follow(kernel, quiet=as_json)
        outcome = _show(kernel, as_json=as_json)
        if outcome.next_error:
            raise typer.Exit(1)


@_commands.command()
def stop(as_json: JsonOption = False) -> None:
    """End a change that is under way; the present model stays."""
    from backread.indexing.switching import call_off

    with open_kernel(load_settings()) as kernel:
        call_off(kernel)
        _follow(kernel, quiet=as_json)
        _show(kernel, as_json=as_json)


@_commands.command("roll-back")
def roll_back(as_json: JsonOption = False) -> None:
    """Go back to the former model, at once."""
    from backread.indexing import switching

    with open_kernel(load_settings()) as kernel:
        switching.roll_back(kernel)
        _follow(kernel, quiet=as_json)
        _show(kernel, as_json=as_json)


@_commands.command()
def keep(as_json: JsonOption = False) -> None:
    """Keep the present model: remove what was kept for going back."""
    from backread.indexing import switching

    with open_kernel(load_settings()) as kernel:
        switching.keep(kernel)
        _follow(kernel, quiet=as_json)
        _show(kernel, as_json=as_json)


def _show(kernel: "Kernel", *, as_json: bool) -> "SwitchStatus":
    from dataclasses import asdict

    from backread.indexing.switching import switch_status

    now = switch_status(kernel)
    if as_json:
        print_json(asdict(now))
        return now
    if now.next and not now.next_error:
        typer.echo(f"Questions are answered with {now.serving}.")
        typer.echo(f"Changing to {now.next}: {now.done:,} of {now.total:,} texts done.")
    else:
        typer.echo(
            f"Questions are answered with {now.serving}: {now.done:,} of {now.total:,} texts can "
            "be found by meaning."
        )
    if now.next_error:
        typer.secho(f"The change to {now.next} was given up. {now.next_error}", fg="yellow")
    if now.former:
        day = "" if now.former_until is None else f" until {now.former_until:%d %B %Y}"
        typer.echo(f"{now.former} is kept{day}: backread embeddings roll-back")
    return now


def _follow(kernel: "Kernel", *, quiet: bool) -> None:
    """Does the work here when no server runs; else leaves it to the server."""
    from backread.cli.following import run_here
    from backread.indexing import embed_job
    from backread.indexing.switching import CHANGE_MODELS
    from backread.store.repositories.indexed import KINDS
    from backread.supervisor.home import running_server

    if running_server(kernel.settings) is not None:
        if not quiet:
            note("The server is working on it. See: backread embeddings status")
        return
    names = [CHANGE_MODELS, *(embed_job(collection) for collection in KINDS)]
    if not run_here(kernel, names, title="Vectors", shown=CHANGE_MODELS, quiet=quiet):
        raise Unavailable(
            "The change cannot go on now.",
            hint="Nothing is lost: it goes on with `backread up`, or with the same command.",
        )
