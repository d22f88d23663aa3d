"""Every command of `backread`, and how their errors look."""

import sys
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

from backread import __version__
from backread.cli import (
    accounts,
    connections,
    embeddings,
    evaluation,
    exports,
    files,
    folders,
    import_controls,
    imports,
    jobs,
    memories,
    notes,
    overview,
    questions,
    server,
    summaries,
    upkeep,
)
from backread.cli.output import show_error
from backread.errors import BackreadError, InvalidInput


class _Commands(TyperGroup):
    """Turns errors into one clear line (or a JSON object with `--json`) and an exit code: 1 for
    what went wrong, 2 for a command that was not understood, 130 for Ctrl+C."""

    as_json = False

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BackreadError as error:
            show_error(error, as_json=self.as_json)
            raise typer.Exit(1) from error
        except OSError as error:
            if not error.filename:
                raise
            show_error(_unusable_path(error), as_json=self.as_json)
            raise typer.Exit(1) from error

    def main(self, args: Sequence[str] | None = None, *rest: Any, **options: Any) -> Any:
        self.as_json = "--json" in (sys.argv[1:] if args is None else args)
        if not self.as_json:
            return super().main(args, *rest, **options)
        try:
            code = super().main(args, *rest, **(options | {"standalone_mode": False}))
        except TyperException as error:
            usage = InvalidInput(error.format_message(), hint="See: backread --help")
            show_error(usage, as_json=True)
            code = error.exit_code
        sys.exit(code if isinstance(code, int) else 0)


def _unusable_path(error: OSError) -> BackreadError:
    return BackreadError(
        f"{error.filename} cannot be used: {error.strerror}.",
        hint="Check who owns it and the free disk space, or name another data folder with "
        "BACKREAD_HOME.",
    )


app = typer.Typer(
    cls=_Commands,
    name="backread",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Your AI conversations, kept by you and recalled by any AI tool. "
    "The data folder is BACKREAD_HOME (~/.backread if unset).",
)


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"backread {__version__}")
        raise typer.Exit()


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", help="Show the version.", callback=_show_version, is_eager=True
    ),
) -> None:
    """Your AI conversations, kept by you and recalled by any AI tool."""


server.add_commands(app)
imports.add_commands(app)
import_controls.add_commands(app)
jobs.add_commands(app)
exports.add_commands(app)
files.add_commands(app)
folders.add_commands(app)
notes.add_commands(app)
questions.add_commands(app)
memories.add_commands(app)
evaluation.add_commands(app)
overview.add_commands(app)
connections.add_commands(app)
accounts.add_commands(app)
summaries.add_commands(app)
upkeep.add_commands(app)
embeddings.add_commands(app)
