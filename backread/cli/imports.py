"""`backread import`: files into the archive, with the report that adds up."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from backread.cli.context import find_principal, load_settings, open_kernel
from backread.cli.output import AccountOption, JsonOption, counted, note, print_json
from backread.errors import InvalidInput, UnreadableImport

if TYPE_CHECKING:
    from backread.domain import Principal
    from backread.kernel import Kernel
    from ingest.accept import SourceFile
    from ingest.report import ImportReport

_EMBED_AT_ONCE = 200  # about ten seconds on an ordinary computer
_SHOWN_PROBLEMS = 20


def add_commands(app: typer.Typer) -> None:
    app.command("import")(import_files)


def import_files(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE…", help="Export archives, JSON files or folders of them."),
    ] = [],  # noqa: B006 - Typer reads it and makes a list of its own
    watch: Annotated[
        Path | None,
        typer.Option(
            "--watch",
            metavar="DIR",
            help="Import what lies in this folder, then whatever comes to it, until Ctrl+C.",
        ),
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Return only when it is found by meaning, too.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only report what an import would do.")
    ] = False,
    account: AccountOption = "",
    as_json: JsonOption = False,
    parent_pipe: Annotated[int, typer.Option("--parent-pipe", hidden=True)] = -1,
) -> None:
    """Import conversations exported from AI tools.

    Works with and without a running server. Importing the same again adds only what is new.
    """
    if watch is not None:
        _watch(watch, files, account, parent_pipe, dry_run=dry_run, wait=wait, as_json=as_json)
        return
    if not files:
        raise typer.BadParameter("Name files or folders, or add --watch DIR.", param_hint="FILE")
    from ingest.accept import accept_files

    chosen = [_source_file(path) for path in files]
    with open_kernel(load_settings()) as kernel:
        principal = find_principal(kernel, account)
        with kernel.store.write() as session:
            import_id = accept_files(session, principal, chosen, route="cli", dry_run=dry_run)
        report = see_through(kernel, principal, import_id, wait=wait, as_json=as_json)
    if report.state != "readable":
        raise typer.Exit(1)


def _watch(
    folder: Path,
    files: list[Path],
    account: str,
    parent_pipe: int,
    *,
    dry_run: bool,
    wait: bool,
    as_json: bool,
) -> None:
    from backread.cli.watching import watch_folder

    if files or dry_run:
        raise InvalidInput(
            "--watch goes with neither files nor --dry-run.", hint="Import these by themselves."
        )
    if parent_pipe >= 0:
        from backread.supervisor.parent import end_with_parent

        end_with_parent(parent_pipe)

    def import_one(kernel: "Kernel", principal: "Principal", import_id: str) -> None:
        see_through(kernel, principal, import_id, wait=wait, as_json=as_json)

    watch_folder(
        folder, account=account, as_json=as_json, is_child=parent_pipe >= 0, import_one=import_one
    )


def see_through(
    kernel: "Kernel", principal: "Principal", import_id: str, *, wait: bool, as_json: bool
) -> "ImportReport":
    """Follows an import until it ends or is paused, and prints its report."""
    from backread.cli.following import follow_import

    follow_import(kernel, principal, import_id, quiet=as_json)
    report = _full_report(kernel, principal, import_id)
    if not as_json:
        print_report(report)
    waiting = 0
    if report.state == "readable" and not report.is_dry_run:
        waiting = _add_vectors(kernel, principal, wait=wait, quiet=as_json)
    if as_json:
        print_json(report.model_dump(mode="json") | {"passages_without_vectors": waiting})
    return report


def _source_file(path: Path) -> "SourceFile":
    from ingest.accept import SourceFile

    path = path.expanduser().absolute()
    if not path.exists():
        raise UnreadableImport(f"There is no file {path}.", hint="Check the name.")
    return SourceFile(path.name, path, 0 if path.is_dir() else path.stat().st_size)


def _full_report(kernel: "Kernel", principal: "Principal", import_id: str) -> "ImportReport":
    from ingest.report import read_report

    with kernel.store.read() as session:
        return read_report(session, principal, import_id)


def _add_vectors(kernel: "Kernel", principal: "Principal", *, wait: bool, quiet: bool) -> int:
    """Makes the import findable by meaning if that is quick or asked for; returns how many
    passages still lack it."""
    from backread.cli.following import count_without_vectors, follow_embedding
    from backread.supervisor.home import running_server

    waiting = count_without_vectors(kernel, principal)
    has_server = running_server(kernel.settings) is not None
    if waiting and (wait or (waiting <= _EMBED_AT_ONCE and not has_server)):
        follow_embedding(kernel, principal, quiet=quiet)
        waiting = count_without_vectors(kernel, principal)
    if waiting and not quiet:
        how = (
            "the server is working on it"
            if has_server
            else "run `backread up`, or import with --wait"
        )
        note(f"Found by their words now. By meaning, {counted(waiting, 'passage')} to come: {how}.")
    return waiting


def print_report(report: "ImportReport") -> None:
    """The report in words, for people."""
    totals = report.totals
    if report.state == "paused":
        note(f"Paused. To go on: backread imports resume {report.id}")
    if report.error is not None:
        typer.secho(f"Not imported: {report.error.message}", fg="red", err=True)
        if not totals.found:
            return
    if not totals.found and report.state == "readable":
        typer.echo("No conversations were in it.")
        _print_finds(report)
        return
    verb = "Would import" if report.is_dry_run else "Found"
    platforms = ", ".join(f"{count:,} of {name}" for name, count in report.platforms.items())
    typer.echo(
        f"{verb} {counted(totals.found, 'conversation')}{f' ({platforms})' if platforms else ''}:"
    )
    typer.echo(
        f"  {totals.new:,} new, {totals.updated:,} updated, {totals.unchanged:,} unchanged, "
        f"{totals.skipped:,} skipped, {totals.failed:,} failed"
    )
    if report.messages_new:
        typer.echo(f"  {counted(report.messages_new, 'new message')}{_span(report)}")
    _print_finds(report)
    problems = [item for item in report.items if item.outcome in {"failed", "skipped"}]
    for item in problems[:_SHOWN_PROBLEMS]:
        typer.echo(f"  {item.outcome}: {item.title or item.source}: {item.reason}")
    if len(problems) > _SHOWN_PROBLEMS:
        typer.echo(f"  … and {len(problems) - _SHOWN_PROBLEMS} more; --json lists them")
    for warning in report.warnings:
        note(f"Note: {warning}")
    if report.news:
        shapes = ", ".join(f"{name} ({count})" for name, count in report.news.items())
        note(f"Kept as they came, because this release does not know them: {shapes}")


def _print_finds(report: "ImportReport") -> None:
    """What was found beside the conversations."""
    if report.memories_found:
        typer.echo(f"  {counted(report.memories_found, 'memory')} to review, in the web app")
    if report.documents_found:
        typer.echo(f"  {counted(report.documents_found, 'new or changed project document')}")
    if report.secrets_found:
        kinds = ", ".join(f"{count:,} {name}" for name, count in report.secrets_by_kind.items())
        typer.echo(f"  {report.secrets_found:,} keys or passwords in the messages: {kinds}")


def _span(report: "ImportReport") -> str:
    earliest, latest = report.dates.earliest, report.dates.latest
    if earliest is None or latest is None:
        return ""
    return f", from {earliest:%Y-%m-%d} to {latest:%Y-%m-%d}"
