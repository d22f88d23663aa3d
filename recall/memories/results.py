"""What the memory tools hand back: for programs as fields, for models as marked text."""

from collections.abc import Sequence
from datetime import datetime

from pydantic import Field

from recall.rendering import NOTICE, clean, day, envelope, one_line
from recall.wire import ResultModel

_DEFAULT_BUCKET = "General"
_BUCKET_NAME_CHARS = 120  # where it is named beside something else


class StoredMemory(ResultModel):
    """What became of a memory. `stored` is False when it was there already: `memoryId` is then
    the one that was kept, and `duplicate` says whether it is the same text or as good as."""

    memory_id: str
    bucket_id: int
    bucket_name: str
    stored: bool
    duplicate: str = ""  # "" | exact | near
    existing_text: str = ""
    superseded: str = Field("", description="Id of the memory that this one took the place of.")

    @property
    def text(self) -> str:
        """One line for a model."""
        bucket = one_line(self.bucket_name)
        if self.stored:
            lead = f"Stored as memory {self.memory_id} in bucket {self.bucket_id}, “{bucket}”."
            if self.superseded:
                lead += f" It takes the place of memory {self.superseded}, which stays readable."
            return lead
        how = "the same" if self.duplicate == "exact" else "nearly the same"
        lead = f"Not stored: memory {self.memory_id} in bucket {self.bucket_id} says {how}."
        return envelope([clean(self.existing_text)], before=lead)


class ShownMemory(ResultModel):
    """A memory with where it comes from and what has become of it."""

    memory_id: str
    text: str
    bucket_id: int
    bucket_name: str
    created_at: datetime
    updated_at: datetime | None = Field(None, description="Of the last edit or move, if any.")
    stored_by: str = Field("", description="Client that stored it; empty for the owner.")
    stored_by_name: str = ""
    edited_by: str = Field("", description="Client that changed it last, if one did.")
    conversation_id: str = Field("", description="Where it was said, if that was told.")
    message_id: str = ""
    source_url: str = Field("", description="Opens the place where it was said.")
    superseded_by: str = Field("", description="Memory that holds now in place of this one.")
    superseded_at: datetime | None = None
    supersedes: list[str] = Field(
        default_factory=list, description="Memories that this one took the place of."
    )

    @property
    def line(self) -> str:
        """One line for a model: the statement, then what is known about it."""
        facts = [
            f"memory {self.memory_id}",
            f"bucket {self.bucket_id} “{one_line(self.bucket_name, _BUCKET_NAME_CHARS)}”",
            f"stored {day(self.created_at)}"
            + (f" by {one_line(self.stored_by_name, 60)}" if self.stored_by_name else ""),
        ]
        if self.updated_at is not None:
            facts.append(f"changed {day(self.updated_at)}")
        if self.source_url:
            facts.append(f"said in conversationId {self.conversation_id} {self.source_url}")
        if self.supersedes:
            facts.append(f"takes the place of {', '.join(self.supersedes)}")
        mark = ""
        if self.superseded_by:
            mark = f"NO LONGER HOLDS since {day(self.superseded_at)}: "
            facts.append(f"replaced by {self.superseded_by}")
        return f"- {mark}{clean(self.text)} [{', '.join(facts)}]"


class FoundMemory(ShownMemory):
    score: float


class MemorySearchResult(ResultModel):
    """Memories by relevance, best first; of a fact that has changed, the newest first."""

    query: str
    memories: list[FoundMemory]
    as_of: datetime | None = None
    notice: str = NOTICE

    @property
    def text(self) -> str:
        """For a model: one line a memory, marked as data."""
        if not self.memories:
            return "No memory matches." + (f" As of {day(self.as_of)}." if self.as_of else "")
        return envelope(["\n".join(each.line for each in self.memories)])


class BucketView(ResultModel):
    bucket_id: int
    name: str
    is_default: bool
    memory_count: int


class BucketList(ResultModel):
    """All buckets of the account."""

    buckets: list[BucketView]
    bucket_total: int = 0
    notice: str = NOTICE

    @property
    def text(self) -> str:
        """For a model: one line a bucket."""
        if not self.buckets:
            return f"There are no buckets yet. The first memory makes “{_DEFAULT_BUCKET}”."
        return envelope([bucket_lines(self.buckets, self.bucket_total)])


class MadeBucket(ResultModel):
    """A bucket by its name: a new one, or the one that was there."""

    bucket_id: int
    name: str
    created: bool
    memory_count: int = 0

    @property
    def text(self) -> str:
        name = one_line(self.name)
        if self.created:
            return f"Created bucket {self.bucket_id}, “{name}”."
        return (
            f"Nothing was created: bucket {self.bucket_id}, “{name}”, is there already "
            f"and holds {plural_memories(self.memory_count)}. Use its id."
        )


class MemoriesAndBuckets(ResultModel):
    """A page of memories and all buckets. `next` is the cursor of the following page."""

    memories: list[ShownMemory]
    memory_total: int = Field(description="Memories that match, on all pages.")
    buckets: list[BucketView]
    bucket_total: int
    next: str = Field("", description="Give it as `cursor` for the next page; empty at the end.")
    query: str = ""
    notice: str = NOTICE

    @property
    def text(self) -> str:
        """For a model: memories, then buckets, and how to go on."""
        if not self.memories and not self.buckets:
            return f"There are no memories yet. The first one makes the bucket “{_DEFAULT_BUCKET}”."
        order = "best match first" if self.query else "newest first"
        lead = f"{len(self.memories)} of {plural_memories(self.memory_total)}, {order}."
        if self.next:
            lead += f' For more, call get_memories_and_buckets again with cursor "{self.next}".'
        elif len(self.memories) < self.memory_total and not self.query:
            lead += " Set all to true, or a larger count, for more."
        parts = []
        if self.memories:
            parts.append("Memories:\n" + "\n".join(each.line for each in self.memories))
        if self.buckets:
            parts.append("Buckets:\n" + bucket_lines(self.buckets, self.bucket_total))
        return envelope(parts, before=lead)


class ChangedMemories(ResultModel):
    """What an edit or a move did."""

    memory_ids: list[str]
    bucket_id: int
    bucket_name: str
    bucket_created: bool = False
    edited: bool = False
    moved: int = Field(0, description="Those that were in another bucket before.")
    superseded: str = Field("", description="Id of the memory that the edited one replaces.")

    @property
    def text(self) -> str:
        bucket = f"bucket {self.bucket_id}, “{one_line(self.bucket_name)}”"
        said = []
        if self.edited:
            said.append(f"Memory {self.memory_ids[0]} has its new text.")
        if self.superseded:
            said.append(f"It takes the place of memory {self.superseded}, which stays readable.")
        if self.bucket_created:
            said.append(f"Created {bucket}.")
        if self.moved:
            said.append(f"Moved {plural_memories(self.moved)} to {bucket}.")
        return " ".join(said) or f"Nothing to change: all that was asked for is so in {bucket}."


class ForgottenItem(ResultModel):
    memory_id: str
    text: str


class ForgottenMemories(ResultModel):
    """What was deleted, and how to have it back."""

    undo_id: str
    memory_count: int
    bucket_id: int | None = Field(None, description="The bucket that was deleted, if one was.")
    undo_until: datetime
    memories: list[ForgottenItem] = Field(
        default_factory=list, description="Those that were named one by one."
    )
    stores: list[str] = Field(description="Where they are gone from now.")

    @property
    def text(self) -> str:
        what = plural_memories(self.memory_count)
        if self.bucket_id is not None:
            what = f"bucket {self.bucket_id} with {what}"
        lead = (
            f"Deleted {what}, gone from {', '.join(self.stores)}. Until {day(self.undo_until)} "
            f"undo_forget with undoId {self.undo_id} brings it back; then it is deleted for good."
        )
        if not self.memories:
            return lead
        lines = [f"- {one_line(each.text)} [{each.memory_id}]" for each in self.memories]
        return envelope(["\n".join(lines)], before=lead)


class RestoredMemories(ResultModel):
    """What came back."""

    undo_id: str
    restored: int
    already_there: int = Field(0, description="Their text had been stored again meanwhile.")
    bucket_ids: list[int]
    bucket_created: bool = False

    @property
    def text(self) -> str:
        what = plural_memories(self.restored)
        if self.bucket_created:
            what = f"bucket {', '.join(map(str, self.bucket_ids))} with {what}"
        text = f"Brought back {what}."
        if self.already_there:
            text += f" {self.already_there} had been stored again meanwhile and stay as they are."
        return text


def bucket_lines(buckets: Sequence[BucketView], total: int) -> str:
    lines = [
        f"- {each.bucket_id}: {one_line(each.name, _BUCKET_NAME_CHARS)} "
        f"({plural_memories(each.memory_count)}{', default' if each.is_default else ''})"
        for each in buckets
    ]
    if len(buckets) < total:
        lines.append(f"… and {total - len(buckets)} more buckets.")
    return "\n".join(lines)


def plural_memories(count: int) -> str:
    return "1 memory" if count == 1 else f"{count} memories"
