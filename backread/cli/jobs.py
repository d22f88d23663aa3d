"""`backread jobs …`: background work, what failed of it, and trying that again."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from backread.cli.context import find_principal, load_settings, open_kernel, writing
from backread.cli.output import AccountOption, JsonOption, counted, print_json
from backread.errors import InvalidInput

if TYPE_CHECKING:
    from api.activity import JobView

jobs = typer.Typer(no_args_is_help=True, help="List background jobs; retry and cancel them.")
_Id = Annotated[str, typer.Argument(metavar="ID", help="As `backread jobs list` shows it.")]
_LISTED = 50
_READ = 500  # of which many may be one line


def add_commands(app: typer.Typer) -> None:
    app.add_typer(jobs, name="jobs")


@jobs.callback()
def _jobs() -> None:
    """List background jobs; retry and cancel them."""


@jobs.command("list")
def list_jobs(
    failed: Annotated[
        bool, typer.Option("--failed", help="Only what failed and was not dismissed.")
    ] = False,
    account: AccountOption = "",
    as_json: JsonOption = False,
) -> None:
    """Show the latest jobs, newest first; what did the same again and again as one line."""
    from api.activity import in_lines, read_jobs
    from backread.store.repositories.jobs import DEAD_LETTERS, FINISHED

    states = DEAD_LETTERS if failed else ("queued", "running", *FINISHED)
    with open_kernel(load_settings()) as kernel:
        principal = find_principal(kernel, account)
        with kernel.store.read() as session:
            limit = _LISTED if as_json else _READ
            found = read_jobs(session, principal, states=states, limit=limit)
    if as_json:
        print_json({"jobs": [asdict(job) for job in found]})
        return
    for line in in_lines(found)[:_LISTED]:
        _print_line(line.latest, line.count)


def _print_line(job: "JobView", count: int = 1) -> None:
    progress = f"{job.done_units:,} of {job.total_units:,}" if job.total_units else ""
    if job.left_out:
        progress = f"{progress}, {job.left_out:,} left out".removeprefix(", ")
    if count > 1:
        progress = f"(the latest of {count:,})"
    parts = [
        job.id,
        f"{job.created_at:%Y-%m-%d %H:%M}",
        f"{job.state:<9}",
        f"{job.label} {job.subject}".strip(),
        progress,
    ]
    typer.echo("  ".join(part for part in parts if part))
    if job.error:
        typer.echo(f"    {job.error}")


@jobs.command("show")
def show(job_id: _Id, account: AccountOption = "", as_json: JsonOption = False) -> None:
    """Show one job: how far it is, and why it failed."""
    from api.activity import read_job

    with open_kernel(load_settings()) as kernel:
        principal = find_principal(kernel, account)
        with kernel.store.read() as session:
            job = read_job(session, principal, job_id)
    if as_json:
        print_json(asdict(job))
        return
    _print_line(job)
    typer.echo(f"    {counted(job.attempts, 'attempt')}, {job.name}")
    if job.seconds_left is not None:
        typer.echo(f"    about {job.seconds_left:,} seconds left")


@jobs.command("retry")
def retry(
    job_id: Annotated[str, typer.Argument(metavar="ID")] = "",
    every: Annotated[bool, typer.Option("--all", help="Everything that failed.")] = False,
    account: AccountOption = "",
    as_json: JsonOption = False,
) -> None:
    """Try a job again that failed, or all of them. A running server begins within seconds; without
    one it waits for the next."""
    from backread.jobs.dead_letters import retry_all, retry_job

    if bool(job_id) is every:
        raise InvalidInput(
            "Say which job to try again.", hint="`backread jobs retry ID`, or --all."
        )
    with writing(account) as (session, principal):
        if every:
            told: dict[str, Any] = {"count": retry_all(session, principal)}
        else:
            told = {"id": job_id, "state": retry_job(session, principal, job_id)}
    if as_json:
        print_json(told)
    elif every:
        typer.echo(f"{counted(told['count'], 'job')} will be tried again.")
    else:
        typer.echo(f"It is {told['state']}.")


@jobs.command("cancel")
def cancel(job_id: _Id, account: AccountOption = "", as_json: JsonOption = False) -> None:
    """Call a job off. What it has done stays."""
    from api.activity import stop_job

    with writing(account) as (session, principal):
        state = stop_job(session, principal, job_id)
    if as_json:
        print_json({"id": job_id, "state": state})
        return
    typer.echo("It stops within seconds." if state == "running" else f"It is {state}.")


@jobs.command("pause")
def pause(job_id: _Id, account: AccountOption = "", as_json: JsonOption = False) -> None:
    """Hold a long job, or an import, back until it is resumed. What it has done stays."""
    from api.activity import pause_job

    with writing(account) as (session, principal):
        import_id = pause_job(session, principal, job_id)
    if as_json:
        print_json({"id": job_id})
        return
    way = f"imports resume {import_id}" if import_id else f"jobs resume {job_id}"
    typer.echo(f"It waits, if it runs from its next safe place on. Go on: backread {way}")


@jobs.command("resume")
def resume(job_id: _Id, account: AccountOption = "", as_json: JsonOption = False) -> None:
    """Let a paused job go on where it was; an import with `backread imports resume`."""
    from api.activity import resume_job

    with writing(account) as (session, principal):
        resume_job(session, principal, job_id)
    if as_json:
        print_json({"id": job_id})
    else:
        typer.echo("It goes on.")


@jobs.command("dismiss")
def dismiss(job_id: _Id, account: AccountOption = "", as_json: JsonOption = False) -> None:
    """Take a job that failed off the list of what failed."""
    from backread.jobs.dead_letters import dismiss_job

    with writing(account) as (session, principal):
        dismiss_job(session, principal, job_id)
    if as_json:
        print_json({"id": job_id, "is_dismissed": True})
        return
    typer.echo("Dismissed.")
