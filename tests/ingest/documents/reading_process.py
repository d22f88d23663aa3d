"""Reads a document as a worker does, in a process of its own."""

from io import BytesIO
from tempfile import TemporaryFile

import pytest

from backread.settings import Settings
from ingest.documents.pages import Limits, Page, Remark
from ingest.documents.problems import PROBLEMS, Refused
from ingest.documents.process import limits_of, read_document


def limits(**changes: object) -> Limits:
    """Those of the default settings, with changes."""
    return limits_of(Settings(**changes))  # type: ignore[arg-type]


def read(body: bytes, within: Limits | None = None) -> tuple[str, list[Page], list[str]]:
    """Kind, pages and remarks. Raises Refused."""
    kind, pages, remarks = "", list[Page](), list[str]()
    with TemporaryFile() as file:
        file.write(BytesIO(body).getvalue())
        file.seek(0)
        for item in read_document(file, within or limits()):
            if isinstance(item, Page):
                pages.append(item)
            elif isinstance(item, Remark):
                remarks.append(item.text)
            else:
                kind = item
    return kind, pages, remarks


def refusal(body: bytes, within: Limits | None = None) -> str:
    """The name of the reason why the document is not read."""
    with pytest.raises(Refused) as refused:
        read(body, within)
    assert refused.value.code in PROBLEMS
    return refused.value.code
