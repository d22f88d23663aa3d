"""`backread notes`: notes as files."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from backread.cli.context import find_principal, load_settings, open_kernel
from backread.cli.output import AccountOption, JsonOption, counted, note, print_json

if TYPE_CHECKING:
    from recall.notes.files.report import Report

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder.")]
Trial = Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")]
_QUIET = frozenset({"unchanged"})

notes = typer.Typer(
    name="notes", no_args_is_help=True, help="Notes as files: a git repository, a vault, a folder."
)


def add_commands(app: typer.Typer) -> None:
    app.add_typer(notes)


@notes.command("list")
def list_(account: AccountOption = "", as_json: JsonOption = False) -> None:
    """Show the paths and titles of all notes, by path."""
    from backread.store.repositories.notes import list_notes

    with open_kernel(load_settings()) as kernel:
        account_id = find_principal(kernel, account).account_id
        with kernel.store.read() as session:
            found = list_notes(session, account_id)
    if as_json:
        print_json({"notes": [{"path": each.path, "title": each.title} for each in found]})
        return
    for each in found:
        typer.echo(f"{each.path}  {each.title}")
    if not found:
        note("There are no notes yet.")


@notes.command("export")
def export(directory: Folder, account: AccountOption = "", as_json: JsonOption = False) -> None:
    """Write all notes into a new git repository, each change of each note as a commit.

    Deleted notes are in its history. `backread notes import` takes it back without loss.
    """
    from recall.notes.files.exporting import export_notes

    target = directory.expanduser().absolute()
    with open_kernel(load_settings()) as kernel:
        result = export_notes(kernel, find_principal(kernel, account), target)
    if as_json:
        print_json({"folder": str(target), "notes": result.notes, "commits": result.commits})
        return
    typer.echo(f"{target}: {counted(result.notes, 'note')} in {counted(result.commits, 'commit')}.")


@notes.command("import")
def import_(
    directory: Folder,
    dry_run: Trial = False,
    history: Annotated[
        bool, typer.Option(help="Of a git repository, take the history of new notes, too.")
    ] = True,
    account: AccountOption = "",
    as_json: JsonOption = False,
) -> None:
    """Take in the Markdown files of a folder: an Obsidian vault, an exported repository, any other.

    Front matter and links stay as they are written. Nothing in the folder is changed.
    """
    from recall.notes.files.importing import import_notes

    with open_kernel(load_settings()) as kernel:
        principal = find_principal(kernel, account)
        report = import_notes(
            kernel, principal, directory.expanduser(), is_trial=dry_run, with_history=history
        )
    _show(report, as_json=as_json)


@notes.command("sync")
def sync(
    directory: Folder,
    dry_run: Trial = False,
    delete_many: Annotated[
        bool,
        typer.Option("--delete-many", help="Delete notes even if most files are gone."),
    ] = False,
    account: AccountOption = "",
    as_json: JsonOption = False,
) -> None:
    """Make a folder and the notes say the same, whichever of them was changed.

    Changes to both are merged; where that cannot be done, both versions are kept and listed.
    """
    from recall.notes.files.syncing import sync_notes

    with open_kernel(load_settings()) as kernel:
        principal = find_principal(kernel, account)
        report = sync_notes(
            kernel,
            principal,
            directory.expanduser(),
            is_trial=dry_run,
            may_delete_many=delete_many,
        )
    _show(report, as_json=as_json)


def _show(report: "Report", *, as_json: bool) -> None:
    """Exit code 1 when something failed or is in conflict."""
    counts = report.counts
    if as_json:
        print_json(
            {
                "dry_run": report.is_trial,
                "found": report.found,
                "counts": counts,
                "revisions": report.revisions,
                "items": [
                    {"path": item.path, "outcome": item.outcome, "reason": item.reason}
                    for item in report.items
                ],
            }
        )
    else:
        for item in report.items:
            if item.outcome not in _QUIET or item.reason:
                reason = f": {item.reason}" if item.reason else ""
                typer.echo(f"{item.outcome:>22}  {item.path}{reason}")
        told = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(counts.items()))
        typer.echo(f"{report.found:,} found = {told or 'nothing'}.")
        if report.revisions:
            typer.echo(f"{counted(report.revisions, 'revision')} of history.")
        if report.is_trial:
            note("Nothing was changed: this was a dry run.")
    if counts["failed"] or counts["conflict"]:
        raise typer.Exit(1)
