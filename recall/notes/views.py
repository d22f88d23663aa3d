"""How notes look outside: the fields of the reference contract, and nothing beside them.

Texts are handed out as they are, since a client edits a note by quoting it. Only what no reader
can see and a model could take for orders is left out: tag characters and controls.
"""

import re
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\U000e0000-\U000e0fff]")


class _View(BaseModel):
    model_config = ConfigDict(serialize_by_alias=True, validate_by_name=True)

    @property
    def text(self) -> str:
        """The same as JSON, for a model to read."""
        return self.model_dump_json(exclude_none=True, indent=2)


class FoundNote(_View):
    path: str
    title: str
    snippet: str = Field(description="About 200 characters around the first match.")
    score: int = Field(description="How often the query occurs in title, body and tags.")
    updated: str = Field(description="ISO 8601.")


class NoteResults(_View):
    """One page, most matches first."""

    results: list[FoundNote]
    next_cursor: str | None = Field(
        None, alias="nextCursor", description="Give it back for the next page; none at the end."
    )


class SimilarNote(_View):
    path: str
    title: str
    snippet: str = Field(description="The passage that matches, cut to about 200 characters.")
    score: float = Field(description="Relevance; higher is better.")
    updated: str = Field(description="ISO 8601.")


class SimilarNotes(_View):
    """Best first."""

    results: list[SimilarNote]


class NoteView(_View):
    """A whole note. One that was deleted is shown as it was last."""

    path: str
    title: str
    frontmatter: dict[str, Any]
    body: str
    tags: list[str]
    updated: str = Field(description="ISO 8601.")
    deleted: bool


class SavedNote(_View):
    path: str
    updated: str = Field(description="ISO 8601.")


class DeletedNote(_View):
    path: str
    deleted: Literal[True] = True


class _Entry(_View):
    type: Literal["file", "folder"]
    path: str
    title: str | None = Field(None, description="Of a file.")
    updated: str | None = Field(None, description="Of a file; ISO 8601.")
    files: int | None = Field(None, description="Of a folder: notes in it and below.")


class InnerEntry(_Entry):
    """A file or a folder inside a folder that is shown."""


class TreeEntry(_Entry):
    entries: list[InnerEntry] | None = Field(
        None, description="What lies in a folder, unless it is not opened."
    )
    truncated: bool | None = Field(
        None, description="True: the folder holds too much to be opened here."
    )


class NoteTree(_View):
    """A folder with what is in it. Folders come first, all by name."""

    folder: str = Field(description="Empty for the root.")
    entries: list[TreeEntry]
    truncated: bool = Field(description="Whether anything was left out.")
    files: int = Field(description="All notes below the folder.")


def seen(text: str) -> str:
    """Text as it is handed out."""
    return _UNSEEN.sub("", text)


def moment(value: datetime) -> str:
    """`2026-07-05T21:47:55+00:00`."""
    return value.astimezone(UTC).isoformat(timespec="seconds")
