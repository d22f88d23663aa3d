"""Jobs for tests, registered on import: in the test's own process and in real worker processes."""

import os
import signal
import threading
import time
from pathlib import Path

from backread.errors import InvalidInput, RateLimited, Unavailable
from backread.jobs import HelperEnded, JobContext, Queue, job

LAST_SECONDS = 30.0


def _write(context: JobContext, line: str) -> None:
    with open(context.kernel.settings.home / "trace", "a", encoding="utf-8") as trace:
        trace.write(line + "\n")


def trace(home: Path) -> list[str]:
    """What the jobs have written so far."""
    path = home / "trace"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


@job("sample.note")
def note(context: JobContext, *, text: str) -> None:
    _write(context, text)


@job("sample.note_later", queue=Queue.BACKGROUND)
def note_later(context: JobContext, *, text: str) -> None:
    _write(context, text)


@job("sample.wait_for_file", queue=Queue.BACKGROUND)
def wait_for_file(context: JobContext, *, name: str) -> None:
    """Reports until the file is there; writes its process id first."""
    _write(context, f"start {os.getpid()}")
    until = time.monotonic() + LAST_SECONDS
    steps = 0
    while not (context.kernel.settings.home / name).exists():
        assert time.monotonic() < until
        steps += 1
        context.report(steps, 0)
        time.sleep(0.02)
    _write(context, "end")


@job("sample.check_only")
def check_only(context: JobContext) -> None:
    """Says that it still works, and never reports progress."""
    _write(context, "start")
    until = time.monotonic() + LAST_SECONDS
    while time.monotonic() < until:
        context.check()
        time.sleep(0.02)


def _write_end(context: JobContext, state: str, reason: str) -> None:
    _write(context, f"{state}: {reason}")


@job("sample.refuse", on_unfinished=_write_end)
def refuse(context: JobContext) -> None:
    raise InvalidInput("The file is a photo.", hint="Choose an export.")


def _tell_when_it_can_be_told(context: JobContext, state: str, reason: str) -> None:
    if not (context.kernel.settings.home / "can_tell").exists():
        raise Unavailable("The database is away.")
    _write(context, f"{state}: {reason}")


@job("sample.refuse_untold", on_unfinished=_tell_when_it_can_be_told)
def refuse_untold(context: JobContext) -> None:
    raise InvalidInput("The file is a photo.")


@job("sample.crash", on_unfinished=_write_end)
def crash(context: JobContext, *, secret: str) -> None:
    raise ValueError(secret)


@job("sample.unavailable", on_unfinished=_write_end)
def unavailable(context: JobContext, *, progress: int = 0) -> None:
    if progress:
        context.report(progress, 100)
    raise Unavailable("The embeddings endpoint does not answer.")


@job("sample.helper_ended", on_unfinished=_write_end)
def helper_ended(context: JobContext) -> None:
    raise HelperEnded("The process that reads the files was ended.")


@job("sample.report_once", on_unfinished=_write_end)
def report_once(context: JobContext) -> None:
    context.report(1, 2)
    context.report(2, 2)


@job("sample.big")
def big(context: JobContext, *, name: str) -> None:
    """What somebody waits for and takes long: gets on until the file is there."""
    _write(context, f"big of {context.account_id}")
    until = time.monotonic() + LAST_SECONDS
    steps = 0
    while not (context.kernel.settings.home / name).exists():
        assert time.monotonic() < until
        steps += 1
        context.report(steps, 0)
        time.sleep(0.02)


@job("sample.backfill", queue=Queue.BACKGROUND, backfill=True)
def backfill(context: JobContext, *, name: str) -> None:
    big(context, name=name)


@job("sample.kill_itself", on_unfinished=_write_end)
def kill_itself(context: JobContext) -> None:
    """As a file does that crashes the program which reads it."""
    if (context.kernel.settings.home / "spare").exists():
        return
    os.kill(os.getpid(), signal.SIGKILL)


@job("sample.gets_nowhere", stalled_minutes=0.002)
def gets_nowhere(context: JobContext) -> None:
    until = time.monotonic() + LAST_SECONDS
    while time.monotonic() < until:
        context.check()
        time.sleep(0.02)


HANGING = threading.Event()


@job("sample.hangs", silent_minutes=0.002)
def hangs(context: JobContext) -> None:
    assert HANGING.wait(LAST_SECONDS)


@job("sample.rate_limited")
def rate_limited(context: JobContext) -> None:
    raise RateLimited("Too many requests.", retry_after_seconds=77)
