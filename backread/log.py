"""Structured logs. Message text, queries and tokens never go into them; ids and counts do.

Neither do the texts of exceptions, which may quote what was being read: a traceback shows where
something happened and the type of what was raised.
"""

import logging
import sys
import traceback
from types import TracebackType
from typing import TextIO

import structlog


def configure(level: str = "INFO") -> None:
    """Sets up one line of key=value (terminal) or JSON (otherwise) per event, on stderr."""
    processors: list[structlog.types.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    if sys.stderr.isatty():
        processors.append(structlog.dev.ConsoleRenderer(exception_formatter=_print_traceback))
    else:
        processors += [
            structlog.processors.ExceptionRenderer(_traceback_without_texts),
            structlog.processors.JSONRenderer(),
        ]
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level.upper())),
        # Asked for at each event, so that a stream which was replaced meanwhile is not written to.
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Formatter("%(levelname)s %(name)s %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])


class _Formatter(logging.Formatter):
    """For libraries that log by themselves."""

    def formatException(self, ei: "_ExcInfo | tuple[None, None, None]") -> str:
        return _traceback_without_texts(ei) if ei[1] is not None else ""


_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None]


def _print_traceback(stream: TextIO, exc_info: _ExcInfo) -> None:
    stream.write("\n" + _traceback_without_texts(exc_info))


def _traceback_without_texts(exc_info: "_ExcInfo | tuple[None, None, None]") -> str:
    """Where it happened and what it was, for the whole chain of causes; without what it said."""
    parts = []
    seen: set[int] = set()
    error = exc_info[1]
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        frames = "".join(traceback.format_tb(error.__traceback__))
        kind = type(error)
        parts.append(f"Traceback:\n{frames}{kind.__module__}.{kind.__qualname__}")
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return "\ncaused by\n".join(parts)


def get_logger(name: str) -> structlog.stdlib.BoundLogger:
    logger: structlog.stdlib.BoundLogger = structlog.get_logger(name)
    return logger
