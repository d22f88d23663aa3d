"""The process that reads one document and ends. It gets the document on its standard input and
writes lines of JSON to its standard output; whoever started it trusts none of them."""

import json
import sys
import warnings
from dataclasses import asdict
from typing import Any, BinaryIO

from ingest.documents.confinement import confine
from ingest.documents.kinds import kind_of
from ingest.documents.pages import Limits, Page, Remark
from ingest.documents.problems import Refused
from ingest.documents.readers import reader_of


def serve() -> None:
    """The second argument is the limits, as JSON."""
    limits = Limits(**json.loads(sys.argv[2]))
    warnings.simplefilter("ignore")
    try:
        with open(0, "rb", closefd=False) as file:
            _read(file, limits)
    except Refused as refused:
        _tell({"refused": refused.code, "detail": refused.detail})
    except MemoryError:
        _tell({"refused": "too_much_memory"})
    except RecursionError:
        _tell({"refused": "damaged", "detail": "its parts lie inside each other too deep."})


def _read(file: BinaryIO, limits: Limits) -> None:
    # The kind is looked at under the same limits: it opens the list of a zip's parts.
    confine(
        memory_bytes=limits.memory_bytes,
        cpu_seconds=limits.seconds,
        may_start_programs=bool(limits.ocr_program),
    )
    kind = kind_of(file)
    _tell({"kind": kind.value})
    reader = reader_of(kind)
    total = count = 0
    for item in reader(file, limits):
        if isinstance(item, Page):
            count += 1
            total += len(item.text)
            if count > limits.pages and not item.table:
                raise Refused("too_many_pages", f"more than {limits.pages:,}")
            if total > limits.characters:
                raise Refused("too_much_text")
            _tell({"page": asdict(item)})
        elif isinstance(item, Remark):
            _tell({"remark": item.text})
        else:
            _tell({"working": True})
    if not total:
        raise Refused("no_text")
    _tell({"done": True})


def _tell(line: dict[str, Any]) -> None:
    sys.stdout.buffer.write(json.dumps(line).encode() + b"\n")
    sys.stdout.buffer.flush()
