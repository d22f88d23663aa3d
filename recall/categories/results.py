"""What is handed out about the categories of a bucket."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from pydantic import Field

from recall.memories.results import ShownMemory, plural_memories
from recall.rendering import NOTICE, clean, day, days, envelope, one_line
from recall.wire import ResultModel

State = Literal["ready", "being_made", "empty"]

_NAME_CHARS = 120
_ENDS = (".", "!", "?", "…", ":", ";", "。", "！", "？", "।", "؟")


class SummarySentence(ResultModel):
    text: str
    memory_ids: list[str] = Field(description="The memories that say it.")

    @property
    def stated(self) -> str:
        """With an end, so that another may follow: memories are often written without a stop."""
        return self.text if self.text.rstrip("\"'”’»)]").endswith(_ENDS) else f"{self.text}."


class Pointer(ResultModel):
    """A theme of the category's full memories."""

    phrase: str
    memory_count: int
    memory_ids: list[str] = Field(description="Up to five of them.")


class CategoryView(ResultModel):
    """One category. `kind` is `group`, `whole` for a bucket too small to be sorted, or `rest` for
    what fits nowhere else."""

    category_id: str
    name: str
    kind: str
    memory_count: int
    summary: str = Field(description="About 200 words, from the memories.")
    sentences: list[SummarySentence] = Field(description="The summary with its sources.")
    pointers: list[Pointer] = Field(description="What the full memories contain.")
    first_stored_at: datetime | None = None
    last_stored_at: datetime | None = None

    @property
    def block(self) -> str:
        """A few lines for a model."""
        noun = "memory" if self.memory_count == 1 else "memories"
        head = (
            f"## {one_line(self.name, _NAME_CHARS)} [categoryId {self.category_id}, "
            f"{self.memory_count} {noun}, stored {days(self.first_stored_at, self.last_stored_at)}]"
        )
        lines = [head]
        lines += [
            f"{clean(each.text)} [{', '.join(f'memory {m}' for m in each.memory_ids[:3])}]"
            for each in self.sentences
        ]
        if self.pointers:
            told = ", ".join(
                f"{one_line(each.phrase, 60)} ({each.memory_count})" for each in self.pointers
            )
            lines.append(f"Its memories tell of: {told}.")
        return "\n".join(lines)


class BucketCategories(ResultModel):
    """The categories of a bucket, largest first, and its newest memories. `state` is `being_made`
    while so much has changed that a background job has to sort it: what is here is then of before,
    without what was deleted."""

    bucket_id: int
    bucket_name: str
    memory_count: int = Field(description="Memories of the bucket that hold now.")
    state: State
    waiting: int = Field(0, description="Memories that are not sorted yet.")
    categories: list[CategoryView]
    recent_memories: list[ShownMemory] = Field(description="The 30 newest, newest first.")
    notice: str = NOTICE

    @property
    def text(self) -> str:
        """For a model: how to go on, then each category, then the newest memories."""
        name = one_line(self.bucket_name, _NAME_CHARS)
        if self.state == "empty":
            return f"Bucket {self.bucket_id}, “{name}”, holds no memories yet."
        lead = (
            f"Bucket {self.bucket_id}, “{name}”: {plural_memories(self.memory_count)} in "
            f"{len(self.categories)} {'category' if len(self.categories) == 1 else 'categories'}. "
            "list_category_memories with bucketId "
            f"{self.bucket_id} and a categoryId gives a category's full memories."
        )
        if self.state == "being_made":
            lead += (
                f" {self.waiting} of the memories are not sorted yet; that is being done. Call "
                "again in a minute, or use search_memories."
            )
        recent = "\n".join(
            f"- {clean(each.text)} [memory {each.memory_id}, stored {day(each.created_at)}]"
            for each in self.recent_memories
        )
        parts = [each.block for each in self.categories]
        parts.append(f"## The {len(self.recent_memories)} most recent memories\n{recent}")
        return envelope(parts, before=lead)


class CategoryMemories(ResultModel):
    """Full memories of a category, newest first, a page at a time."""

    bucket_id: int
    bucket_name: str
    category_id: str
    name: str
    memory_count: int = Field(description="Memories of the category, on all pages.")
    memories: list[ShownMemory]
    next: str = Field("", description="Give it as `cursor` for the next page; empty at the end.")
    notice: str = NOTICE

    @property
    def text(self) -> str:
        """For a model: one line a memory, and how to go on."""
        shown, total = len(self.memories), self.memory_count
        lead = f"{shown} of {total} {'memory' if total == 1 else 'memories'} of this category."
        if self.next:
            lead += f" For the next page call list_category_memories again with cursor {self.next}."
        head = f"## {one_line(self.name, _NAME_CHARS)} [categoryId {self.category_id}]"
        return envelope([head, "\n".join(each.line for each in self.memories)], before=lead)


def joined(sentences: Sequence[SummarySentence]) -> str:
    """The summary as one text."""
    return " ".join(each.stated for each in sentences)
