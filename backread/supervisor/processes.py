"""Which processes a server has, and what they are started with."""

import os
from pathlib import Path

import backread
from backread.settings import Settings
from backread.supervisor.children import ChildSpec


def web_server(listener: int, ready_pipe: int) -> ChildSpec:
    """Also brings the database up to date, having the parts for it loaded anyway."""
    handles = (listener, ready_pipe)
    command = ["serve", "--prepare", "--listener", str(listener), "--ready-pipe", str(ready_pipe)]
    return ChildSpec("web", command, handles=handles)


def rest_of_server(settings: Settings) -> list[ChildSpec]:
    """What runs beside the web server. Quick and long jobs have a worker each, so that embedding
    an archive never keeps the next import waiting."""
    if not settings.broker_url:
        return [ChildSpec("worker", ["worker", "--poll", "--nice", "5"]), *_watch(settings)]
    # At least two: the last free place is kept for an account that has nothing running.
    quick = str(max(2, settings.worker_concurrency - 1))
    return [
        *_watch(settings),
        _worker("worker", "interactive", concurrency=quick, nice="5"),
        _worker("worker-background", "background", concurrency="1", nice="10"),
        ChildSpec("beat", ["beat"]),
    ]


def _worker(name: str, queue: str, *, concurrency: str, nice: str) -> ChildSpec:
    """`nice`: pages and answers go before work in the background where processors are few."""
    options = ["--queue", queue, "--concurrency", concurrency, "--nice", nice]
    return ChildSpec(name, ["worker", *options])


def _watch(settings: Settings) -> list[ChildSpec]:
    """It only asks for imports; a worker carries them out."""
    if not settings.watch_dir:
        return []
    account = ["--account", settings.watch_account] if settings.watch_account else []
    return [ChildSpec("watch", ["import", "--watch", settings.watch_dir, *account])]


def child_environment(settings: Settings) -> dict[str, str]:
    """The supervisor's environment with every setting spelled out, so a child sees the same
    configuration whatever was given on the command line."""
    package_root = str(Path(backread.__file__).resolve().parents[1])
    values = {
        f"BACKREAD_{name.upper()}": _as_text(getattr(settings, name))
        for name in type(settings).model_fields
    }
    return {**os.environ, **values, "PYTHONPATH": package_root}


def _as_text(value: object) -> str:
    secret = getattr(value, "get_secret_value", None)
    return "" if value is None else str(secret() if secret else value)
