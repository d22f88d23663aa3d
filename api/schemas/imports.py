"""Imports and their reports as the REST interface gives them."""

from typing import Annotated

from pydantic import BaseModel, Field

from ingest.report import ImportReport


class ImportAccepted(BaseModel):
    """The import was taken in and runs in the background."""

    id: str
    href: str = Field(description="Where its report is, from the start.")


class IndexProgressOut(BaseModel):
    """How far search by meaning has come, over the whole account."""

    passages: int
    dense: int = Field(description="Passages that have their vector.")


class ImportReportOut(ImportReport):
    index: IndexProgressOut


class ImportList(BaseModel):
    items: list[ImportReport]


class ImportState(BaseModel):
    id: str
    state: str = Field(
        description="What it is now. After a request to stop, `running` while the worker comes to "
        "a safe place to stop."
    )


class UploadsToImport(BaseModel):
    """Uploads that make one import."""

    uploads: list[Annotated[str, Field(max_length=64)]] = Field(min_length=1, max_length=1000)
    dry_run: bool = False
