"""The words of the product as types: platforms, conversations, messages, principals.

Nothing here knows about files, tables or HTTP.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class Platform(StrEnum):
    """One slug per platform, used for importer, fixture, test and docs line alike."""

    CHATGPT = "chatgpt"
    CLAUDE_AI = "claude_ai"
    CLAUDE_CODE = "claude_code"
    CODEX = "codex"
    DEEPSEEK = "deepseek"
    GROK = "grok"
    GEMINI_TAKEOUT = "gemini_takeout"
    LECHAT = "lechat"
    OPENWEBUI = "openwebui"
    LIBRECHAT = "librechat"
    TYPINGMIND = "typingmind"
    CHATBOTUI = "chatbotui"
    CHATGPT_EXPORTER = "chatgpt_exporter"
    GEMINI_CLI = "gemini_cli"
    GEMINI_AISTUDIO = "gemini_aistudio"
    PERPLEXITY = "perplexity"
    MS_COPILOT = "ms_copilot"
    CHARACTER_AI = "character_ai"
    SILLYTAVERN = "sillytavern"
    POE = "poe"
    VSCODE_COPILOT = "vscode_copilot"
    COPILOT_CLI = "copilot_cli"
    CURSOR = "cursor"
    TRANSCRIPT = "transcript"


class Role(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


class MessageKind(StrEnum):
    """What a message is to the reader. Only `DIALOGUE` becomes passages and is recalled."""

    DIALOGUE = "dialogue"
    HIDDEN = "hidden"
    SYSTEM = "system"
    TOOL = "tool"
    REASONING = "reasoning"


class Scope(StrEnum):
    """Permissions that a client or a script can be given. AI clients are offered the first three,
    whose names are the reference system's contract."""

    MEMORY_READ = "memory:read"
    MEMORY_WRITE = "memory:write"
    CHAT_HISTORY_READ = "chat-history:read"
    CHAT_HISTORY_WRITE = "chat-history:write"


@dataclass(frozen=True, slots=True)
class Principal:
    """Who is asking. Every query of account data takes one, so none can forget the account."""

    account_id: str
    scopes: frozenset[Scope] = frozenset()
    client_id: str | None = None
    timezone: str = "UTC"

    def __post_init__(self) -> None:
        if not self.account_id:
            raise ValueError("a principal needs an account")


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file named in a message. `text` is content that the export carried, if any."""

    name: str
    external_id: str = ""
    mime_type: str = ""
    size_bytes: int | None = None
    text: str = ""


class ArtifactCommand(StrEnum):
    """What a message does to an artifact."""

    CREATE = "create"
    REWRITE = "rewrite"
    UPDATE = "update"
    COMMENT = "comment"


@dataclass(frozen=True, slots=True)
class ArtifactPatch:
    """One replacement of an update: `old`, a regular expression when `is_pattern`, becomes `new`,
    once or everywhere. Of a comment: the commented words, and the comment."""

    old: str
    new: str
    is_pattern: bool = False
    is_everywhere: bool = False


@dataclass(frozen=True, slots=True)
class ArtifactStep:
    """What a message did to a document that its platform shows beside the chat: an artifact, a
    canvas, a file. With `create` and `rewrite` the aside's own text is the whole document.

    `artifact_id` is "" where the platform does not say which one: then it is the latest."""

    artifact_id: str
    command: ArtifactCommand
    title: str = ""
    type: str = ""  # as the platform names it: a media type, "document", "code/python"
    language: str = ""
    patches: Sequence[ArtifactPatch] = ()


@dataclass(frozen=True, slots=True)
class Aside:
    """Something said beside the dialogue inside a message: reasoning, a tool call, a note
    that the platform injected. Kept and shown apart, never mixed into the message's text."""

    kind: str  # reasoning | tool_call | tool_result | injected | artifact | unknown
    text: str
    name: str = ""
    artifact: ArtifactStep | None = None


@dataclass(frozen=True, slots=True)
class Citation:
    """A link that the platform attached to a message."""

    url: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class ParsedMessage:
    """One message as an importer understood it. Times are UTC-aware or None, never invented.

    `has_weak_id`: the format has no ids for messages, and `external_id` only says where the
    message stood. It is then known by its words and place, see `ingest.aligning`.
    """

    external_id: str
    parent_external_id: str | None
    role: Role
    kind: MessageKind
    text: str
    created_at: datetime | None = None
    author: str = ""
    model: str = ""
    attachments: Sequence[Attachment] = ()
    asides: Sequence[Aside] = ()
    citations: Sequence[Citation] = ()
    has_weak_id: bool = False


@dataclass(frozen=True, slots=True)
class ParsedMemory:
    """Something that a platform remembers about the person: offered for review, never stored as
    a memory by itself. `source` says in words where it stood ("Saved memory", "Custom
    instructions"); `message_external_id` names the message that it was read from, if any."""

    text: str
    source: str
    occurred_at: datetime | None = None
    message_external_id: str = ""
    project_external_id: str = ""


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A text that belongs to a project rather than to a conversation."""

    external_id: str
    name: str
    text: str
    kind: str = "document"  # document | instructions | description
    media_type: str = "text/plain"
    project: str = ""
    project_external_id: str = ""
    created_at: datetime | None = None
    updated_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ParsedConversation:
    """One conversation as an importer understood it, in the platform's own order.

    `messages` holds the whole tree, parents before children. `shown_line` lists the external
    ids of the messages that the platform shows, root first; the rest are other branches.
    `news` counts shapes the importer did not know ("content_type:foo" -> 3); they stay in the
    raw capture.
    """

    platform: Platform
    external_id: str
    title: str
    messages: Sequence[ParsedMessage]
    shown_line: Sequence[str]
    created_at: datetime | None = None
    updated_at: datetime | None = None
    url: str = ""
    model: str = ""
    project: str = ""
    assistant_name: str = ""
    is_starred: bool = False
    is_archived: bool = False
    memories: Sequence[ParsedMemory] = ()
    news: dict[str, int] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
