"""Notes as the REST interface takes and gives them, beside what the MCP tools give."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from recall.differences import DiffLine
from recall.notes.reading import Revision
from recall.notes.writing import Mode


class NoteIn(BaseModel):
    """A whole note."""

    body: str = Field(description="Markdown, without front matter.")
    frontmatter: dict[str, Any] = Field(default_factory=dict)


class NoteEditIn(BaseModel):
    """A change of a part, as memory__edit takes it."""

    body: str | None = None
    frontmatter: dict[str, Any] | None = Field(None, description="Merged key by key.")
    mode: Mode = "replace"
    old_str: str | None = None
    new_str: str | None = None


class NoteSaved(BaseModel):
    path: str
    updated: str
    revision: int


class NoteRemoved(BaseModel):
    path: str
    deleted: Literal[True] = True
    permanently: bool


class RestoreIn(BaseModel):
    revision: int | None = Field(None, description="Without it, what the note said last.")


class DeletedNoteOut(BaseModel):
    path: str
    title: str
    deleted: str


class DeletedNotes(BaseModel):
    items: list[DeletedNoteOut]


class NoteTag(BaseModel):
    tag: str
    notes: int


class NoteTags(BaseModel):
    """The most used first."""

    items: list[NoteTag]


class RevisionOut(BaseModel):
    """One change. `author` is a client's name; empty for the owner."""

    number: int
    kind: Literal["write", "edit", "delete", "restore", "import", "sync"]
    deleted: bool
    author: str
    made_at: datetime
    size_bytes: int = Field(description="Of the whole file then.")


class RevisionDetail(RevisionOut):
    text: str = Field(description="The whole file then; empty when it was deleted.")


class NoteHistory(BaseModel):
    """Newest first, at most 200 at a time."""

    path: str
    items: list[RevisionOut]
    next_before: int | None = Field(description="Give it as `before` for older ones.")


class DiffLineOut(BaseModel):
    kind: Literal["same", "added", "removed", "gap"]
    text: str
    old: int | None
    new: int | None


class NoteDiff(BaseModel):
    path: str
    old: int = Field(description="Revision before; 0 is nothing.")
    new: int
    lines: list[DiffLineOut]
    patch: str = Field(description="The same as a unified diff.")


def revision_out(each: Revision) -> RevisionOut:
    return RevisionOut.model_validate(_fields(each))


def revision_detail(each: Revision) -> RevisionDetail:
    return RevisionDetail.model_validate(_fields(each) | {"text": each.text})


def diff_line(each: DiffLine) -> DiffLineOut:
    return DiffLineOut.model_validate(
        {"kind": each.kind, "text": each.text, "old": each.old, "new": each.new}
    )


def _fields(each: Revision) -> dict[str, Any]:
    return {
        "number": each.number,
        "kind": each.kind,
        "deleted": each.is_deleted,
        "author": each.author,
        "made_at": each.made_at,
        "size_bytes": len(each.text.encode()),
    }
