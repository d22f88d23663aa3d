"""Reads a document in a process of its own, which may use so much and no more.

Whatever the document does to its parser, this process only sees that it ended, and why.
"""

import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO, Final

from backread.settings import Settings
from ingest.documents.confinement import bare_environment
from ingest.documents.pages import Limits, Page, Remark, Table, Unit
from ingest.documents.problems import PROBLEMS, Refused
from ingest.normalise import clean

_PACKAGES: Final = Path(__file__).parents[2]  # the folder that this package lies in
_START: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); from ingest.documents.child import serve; serve()"
)
_OCR_PROGRAM: Final = "tesseract"
# The processor's time is limited by the system; the clock, which stops who only waits, gives it
# a little more, so that the system speaks first.
_GRACE_SECONDS: Final = 5
_CHECK_SECONDS: Final = 0.2
_READ_BYTES: Final = 256 * 1024
_LINE_BYTES: Final = 96 * 1024**2  # one page; six bytes a character at worst
_MOST_DETAIL: Final = 200


def limits_of(settings: Settings) -> Limits:
    return Limits(
        pages=settings.file_max_pages,
        characters=settings.file_max_characters,
        inflated_bytes=settings.file_max_inflated_bytes,
        ocr_program=shutil.which(_OCR_PROGRAM) or "",
        ocr_languages=settings.file_ocr_languages,
        ocr_pages=settings.file_max_ocr_pages,
        seconds=settings.file_read_seconds,
        memory_bytes=settings.file_read_memory_bytes,
    )


def read_document(
    file: BinaryIO, limits: Limits, check: Callable[[], None] = lambda: None
) -> Iterator[str | Page | Remark]:
    """The document's kind, then its pages and remarks as they are read.

    `check` is called at least each second, and may raise. Raises Refused when the document cannot
    be read; what came before it is then not to be used.
    """
    with tempfile.TemporaryDirectory(prefix="backread-read-") as folder:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", _START, str(_PACKAGES), json.dumps(asdict(limits))],
            stdin=file,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=bare_environment(folder),
            start_new_session=True,
        )
        assert process.stdout is not None
        try:
            with closing(process.stdout):
                yield from _answers(process, limits, check)
        finally:
            _end(process)


def _answers(
    process: "subprocess.Popen[bytes]", limits: Limits, check: Callable[[], None]
) -> Iterator[str | Page | Remark]:
    is_done = False
    characters = 0
    for answer in _lines(process, limits, check):
        if "refused" in answer:
            code = str(answer["refused"])
            raise Refused(
                code if code in PROBLEMS else "crashed",
                str(answer.get("detail", ""))[:_MOST_DETAIL],
            )
        if "page" in answer:
            page = _page(answer["page"])
            characters += len(page.text)
            if characters > limits.characters:
                raise Refused("too_much_text")
            yield page
        elif "kind" in answer:
            yield str(answer["kind"])[:16]
        elif "remark" in answer:
            yield Remark(str(answer["remark"])[:500])
        is_done = is_done or "done" in answer
    if not is_done:
        raise Refused(_why(process))


def _lines(
    process: "subprocess.Popen[bytes]", limits: Limits, check: Callable[[], None]
) -> Iterator[dict[str, Any]]:
    assert process.stdout is not None
    descriptor = process.stdout.fileno()
    waiting = bytearray()
    until = time.monotonic() + limits.seconds + _GRACE_SECONDS
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while True:
            check()
            if time.monotonic() > until:
                raise Refused("too_long")
            if not selector.select(_CHECK_SECONDS):
                continue
            data = os.read(descriptor, _READ_BYTES)
            if not data:
                return
            waiting += data
            if len(waiting) > _LINE_BYTES:
                raise Refused("too_much_text")
            if b"\n" not in data:
                continue
            *whole, rest = bytes(waiting).split(b"\n")
            waiting = bytearray(rest)
            for line in whole:
                answer = _parsed(line)
                if "working" in answer:
                    until = time.monotonic() + limits.seconds + _GRACE_SECONDS
                yield answer


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Refused("crashed") from error
    if not isinstance(answer, dict):
        raise Refused("crashed")
    return answer


def _page(told: Any) -> Page:
    try:
        table = told["table"]
        return Page(
            unit=Unit(told["unit"]),
            number=int(told["number"]),
            text=clean(str(told["text"])),
            label=clean(str(told["label"]))[:500],
            marks=tuple((int(at), clean(str(label))[:500]) for at, label in told["marks"]),
            table=table
            and Table(
                clean(str(table["header"])), int(table["first_row"]), tuple(table["columns"])
            ),
            by_ocr=bool(told["by_ocr"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise Refused("crashed") from error


def _why(process: "subprocess.Popen[bytes]") -> str:
    """What a process that ended without a word must have met."""
    ended_by = -process.wait()
    if ended_by == signal.SIGXCPU:
        return "too_long"
    # The system takes the largest process when memory is short.
    return "too_much_memory" if ended_by == signal.SIGKILL else "crashed"


def _end(process: "subprocess.Popen[bytes]") -> None:
    """The process and whatever it has started."""
    if process.returncode is not None:
        return  # its number may be another's by now
    with suppress(ProcessLookupError, PermissionError):  # ended already
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
