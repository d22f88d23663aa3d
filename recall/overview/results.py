"""What is handed out of an overview."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from recall.overview.inventory import Inventory
from recall.rendering import NOTICE, clean, counted, day, days, envelope, one_line
from recall.wire import ResultModel

PortraitState = Literal["ready", "being_made", "empty"]

LEFT_OUT = (
    "Chats about health, money of one's own, intimacy, faith, politics, legal matters and secrets "
    "are counted in the inventory and left out of the portrait."
)


class Cited(ResultModel):
    """Where it says so. Without a message it is the conversation as a whole."""

    conversation_id: str
    message_id: str = ""
    title: str
    platform: str
    date: datetime | None
    reader_url: str


class MonthlyConversations(ResultModel):
    month: str
    conversations: int


class Topic(ResultModel):
    """Something that several conversations are about."""

    name: str
    phrases: list[str]
    conversation_count: int
    first_at: datetime | None
    last_at: datetime | None
    months: list[MonthlyConversations] = Field(description="When it was talked about.")
    cited: list[Cited]

    @property
    def line(self) -> str:
        more = [one_line(each, 60) for each in self.phrases if each not in self.name]
        told = f" ({', '.join(more)})" if more else ""
        noun = "conversation" if self.conversation_count == 1 else "conversations"
        return (
            f"- {one_line(self.name, 120)}{told}: {self.conversation_count} {noun}, "
            f"{days(self.first_at, self.last_at)} {_sources(self.cited)}"
        )


class Recurring(ResultModel):
    """A person, a project or a tool that several conversations name."""

    name: str
    conversation_count: int
    cited: list[Cited]


class StyleTrait(ResultModel):
    """How the person works, as their own requests show it."""

    text: str
    conversation_count: int
    cited: list[Cited]


class OwnWords(ResultModel):
    """Something the person said of themselves, and when."""

    text: str
    said_at: datetime | None
    cited: list[Cited]


class PortraitSentence(ResultModel):
    text: str
    cited: list[Cited]


class PortraitView(ResultModel):
    """Who the person is by their chats. `sentences` are a language model's, if one is
    configured."""

    state: PortraitState
    made_at: datetime | None = None
    waiting: int = Field(0, description="Conversations that it has not taken in yet.")
    written_by: str = Field("", description="Language model that wrote the sentences, if any.")
    sentences: list[PortraitSentence] = Field(default_factory=list)
    topics: list[Topic] = Field(default_factory=list)
    people: list[Recurring] = Field(default_factory=list)
    projects: list[Recurring] = Field(default_factory=list)
    tools: list[Recurring] = Field(default_factory=list)
    style: list[StyleTrait] = Field(default_factory=list)
    own_words: list[OwnWords] = Field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        found = (self.topics, self.people, self.projects, self.tools, self.style, self.own_words)
        return not any(found)


class ChatHistoryOverview(ResultModel):
    """A portrait of the person and an inventory of their chats, both from the whole history."""

    portrait: PortraitView
    inventory: Inventory
    left_out: str = LEFT_OUT
    notice: str = NOTICE

    @property
    def text(self) -> str:
        """For a model: the portrait, then the inventory."""
        view = self.portrait
        lead = "Portrait and inventory of the user's whole chat history. " + LEFT_OUT
        if view.state == "being_made":
            lead += (
                f" {view.waiting:,} conversations are not read yet; that is being done in the "
                "background."
            )
        parts = []
        if not view.is_empty:
            parts.append("# Portrait")
            parts += [block for block in _portrait_blocks(view) if block]
        parts.append("# Inventory\n" + "\n".join(self.inventory.lines))
        return envelope(parts, before=lead)


def _portrait_blocks(view: PortraitView) -> list[str]:
    sentences = [f"{clean(each.text)} {_sources(each.cited)}" for each in view.sentences]
    blocks = ["\n".join(sentences)]
    blocks.append(_block("## Topics", [each.line for each in view.topics]))
    for head, found in (
        ("## Recurring people", view.people),
        ("## Projects", view.projects),
        ("## Tools", view.tools),
    ):
        lines = [
            f"- {one_line(each.name, 80)}: {counted(each.conversation_count, 'conversation')} "
            f"{_sources(each.cited[:2])}"
            for each in found
        ]
        blocks.append(_block(head, lines))
    style = [
        f"- {clean(each.text)}"
        + (f" Seen in {counted(each.conversation_count, 'conversation')}." if each.cited else "")
        + f" {_sources(each.cited[:3])}"
        for each in view.style
    ]
    blocks.append(_block("## How they work", style))
    said = [
        f"- {day(each.said_at)}: “{clean(each.text)}” {_sources(each.cited)}"
        for each in view.own_words
    ]
    blocks.append(_block("## In their own words, at the time", said))
    return blocks


def _block(head: str, lines: list[str]) -> str:
    return "\n".join([head, *(line.rstrip() for line in lines)]) if lines else ""


def _sources(cited: list[Cited]) -> str:
    if not cited:
        return ""
    told = [
        f"conversationId {each.conversation_id}"
        + (f" message {each.message_id}" if each.message_id else "")
        for each in cited
    ]
    return f"[{'; '.join(told)}]"
