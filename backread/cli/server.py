"""`backread up` and the single processes that a server consists of."""

import json
import os
import socket
from typing import TYPE_CHECKING, Annotated

import typer

from backread.cli.context import change_settings, load_settings
from backread.cli.output import JsonOption, note, print_json
from backread.errors import InvalidInput

if TYPE_CHECKING:
    from backread.settings import Settings
    from backread.supervisor.server import Ready

ParentPipe = Annotated[int, typer.Option("--parent-pipe", hidden=True)]
Host = Annotated[
    str, typer.Option("--host", help="Address to listen on. This machine only, if not given.")
]
Port = Annotated[
    int | None,
    typer.Option("--port", min=0, max=65535, help="Port, 8787 if not given; 0 takes a free one."),
]
PublicUrl = Annotated[
    str,
    typer.Option("--public-url", metavar="URL", help="Address people and AI tools reach it at."),
]


def add_commands(app: typer.Typer) -> None:
    app.command("up")(up)
    app.command("serve")(serve)
    app.command("worker")(worker)
    app.command("beat")(beat)
    app.command("migrate")(migrate)
    app.command("index-owner", hidden=True)(index_owner)


def up(
    port: Port = None, public_url: PublicUrl = "", host: Host = "", as_json: JsonOption = False
) -> None:
    """Start everything: the web app, the MCP server and the background work."""
    from backread.supervisor.broker import find_local_broker
    from backread.supervisor.home import HomeLock, ServerInfo
    from backread.supervisor.listen import listen
    from backread.supervisor.server import Supervisor

    settings = _with_options(load_settings(), host=host, port=port, public_url=public_url)
    lock = HomeLock(settings)
    lock.acquire()
    note("Starting…")
    try:
        with listen(settings.host, settings.port) as listener:
            settings = change_settings(settings, port=listener.getsockname()[1])
            broker = None if settings.broker_url else find_local_broker(settings)
            if broker is not None:
                settings = change_settings(settings, broker_url=broker.url)
            lock.publish(ServerInfo(os.getpid(), settings.origin, settings.broker_url))
            Supervisor(
                settings,
                listener,
                broker,
                on_ready=lambda ready: _announce(settings, ready, as_json=as_json),
                say=note,
            ).run()
    finally:
        lock.release()


def _with_options(
    settings: "Settings", *, host: str, port: int | None, public_url: str
) -> "Settings":
    changes: dict[str, object] = {}
    if host:
        changes["host"] = host
    if port is not None:
        changes["port"] = port
    if public_url:
        changes["public_url"] = public_url
    return change_settings(settings, **changes) if changes else settings


def _announce(settings: "Settings", ready: "Ready", *, as_json: bool) -> None:
    setup_url = f"{ready.url}/setup?token={ready.setup_token}" if ready.setup_token else ""
    mcp_url = f"{ready.url}/api/mcp/mcp"
    if as_json:
        print_json(
            {"url": ready.url, "setup_url": setup_url, "mcp_url": mcp_url, "pid": os.getpid()}
        )
        return
    typer.echo(f"Backread is running at {ready.url}")
    if setup_url:
        typer.echo(f"Open this address once to make your account:\n  {setup_url}")
    typer.echo(f"AI tools connect to {mcp_url}")
    typer.echo(f"Data: {settings.home}    Stop: Ctrl+C")


def serve(
    port: Port = None,
    public_url: PublicUrl = "",
    host: Host = "",
    prepare: Annotated[
        bool, typer.Option("--prepare", help="Bring the database up to date first.")
    ] = False,
    listener: Annotated[int, typer.Option("--listener", hidden=True)] = -1,
    ready_pipe: Annotated[int, typer.Option("--ready-pipe", hidden=True)] = -1,
    parent_pipe: ParentPipe = -1,
) -> None:
    """Run the web server alone, for installations on several machines."""
    from backread.cli.job_modules import load_jobs
    from backread.cli.web_server import WebServer
    from backread.jobs.broker import connect
    from backread.supervisor.listen import listen

    settings = _with_options(_start_child(parent_pipe), host=host, port=port, public_url=public_url)
    if prepare:
        _prepare(settings)
    load_jobs()
    connect(settings)
    if listener >= 0:
        opened = socket.socket(fileno=listener)
    else:
        opened = listen(settings.host, settings.port)
    with opened:
        WebServer(settings, on_ready=lambda token: _tell_ready(ready_pipe, token)).run([opened])


def _tell_ready(pipe: int, setup_token: str) -> None:
    if pipe >= 0:
        os.write(pipe, json.dumps({"setup_token": setup_token}).encode() + b"\n")


def worker(
    queue: Annotated[
        list[str], typer.Option("--queue", help="interactive or background; both if not given.")
    ] = [],  # noqa: B006 - Typer reads it and makes a list of its own
    concurrency: Annotated[
        int | None, typer.Option("--concurrency", min=1, help="Jobs at the same time.")
    ] = None,
    poll: Annotated[
        bool, typer.Option("--poll", help="Look into the database for jobs; needs no broker.")
    ] = False,
    nice: Annotated[
        int,
        typer.Option("--nice", min=0, max=19, help="How much this worker lets others go first."),
    ] = 0,
    parent_pipe: ParentPipe = -1,
) -> None:
    """Run background jobs alone, for installations on several machines."""
    from backread.cli.job_modules import load_jobs
    from backread.jobs.registry import Queue
    from backread.supervisor.index import open_server_kernel

    settings = _start_child(parent_pipe)
    os.nice(nice)
    load_jobs()
    if poll:
        _serve_polling(settings)
        return
    if not settings.broker_url:
        raise InvalidInput(
            "There is no broker to take jobs from.",
            hint="Set BACKREAD_BROKER_URL to a Redis or Valkey, or add --poll.",
        )
    unknown = set(queue) - set(Queue)
    if unknown:
        raise InvalidInput(
            f"There is no queue {', '.join(sorted(unknown))}.",
            hint=f"Queues are: {', '.join(Queue)}.",
        )
    from backread.jobs.worker import serve_worker

    code = serve_worker(
        settings,
        queues=[Queue(name) for name in queue] or list(Queue),
        concurrency=concurrency or settings.worker_concurrency,
        open_kernel=open_server_kernel,
    )
    raise typer.Exit(code)


def _serve_polling(settings: "Settings") -> None:
    import signal
    import threading

    from backread.jobs.inline import serve_polling
    from backread.supervisor.index import open_server_kernel
    from backread.telemetry.tracing import start_tracing

    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    start_tracing(settings, "worker")
    kernel = open_server_kernel(settings)
    try:
        serve_polling(kernel, stopping)
    finally:
        kernel.close()


def beat(parent_pipe: ParentPipe = -1) -> None:
    """Send the periodic jobs alone: one per installation on several machines."""
    from backread.jobs.worker import serve_beat

    serve_beat(_start_child(parent_pipe))


def index_owner(parent_pipe: ParentPipe = -1) -> None:
    """Own the embedded search index and answer for it."""
    from backread.vectors.owner import serve as serve_index

    serve_index(_start_child(parent_pipe))


def migrate(as_json: JsonOption = False) -> None:
    """Bring the database to the schema of this release."""
    from backread.store.engine import Store
    from backread.store.migrate import upgrade

    settings = load_settings()
    store = Store(settings.sqlalchemy_url)
    try:
        upgrade(store)
    finally:
        store.close()
    if as_json:
        print_json({"migrated": True})
    else:
        typer.echo("The database is up to date.")


def _start_child(parent_pipe: int) -> "Settings":
    from backread import log
    from backread.supervisor.parent import end_with_parent

    settings = load_settings()
    log.configure(settings.log_level)
    if parent_pipe >= 0:
        end_with_parent(parent_pipe)
    return settings


def _prepare(settings: "Settings") -> None:
    """The database for a new start of the server. Its broker is new, too, and holds no message."""
    from backread.jobs.sweeper import forget_sent
    from backread.store.engine import Store
    from backread.store.migrate import upgrade
    from ingest.indexing import enqueue_catch_up
    from ingest.uploads import enqueue_tidying

    store = Store(settings.sqlalchemy_url)
    try:
        upgrade(store)
        forget_sent(store)
        with store.write() as session:
            enqueue_catch_up(session)
            enqueue_tidying(session)
    finally:
        store.close()
