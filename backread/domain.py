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
    """Permissions a grant can carry; the names are the reference system's contract."""

    MEMORY_READ = "memory:read"
    MEMORY_WRITE = "memory:write"
    CHAT_HISTORY_READ = "chat-history:read"


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


@dataclass(frozen=True, slots=True)
class Aside:
    """Something said beside the dialogue inside a message: reasoning, a tool call, a note
    that the platform injected. Kept and shown apart, never mixed into the message's text."""

    kind: str  # reasoning | tool_call | tool_result | injected | artifact | unknown
    text: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Citation:
    """A link that the platform attached to a message."""

    url: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class ParsedMessage:
    """One message as an importer understood it. Times are UTC-aware or None, never invented."""

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
    news: dict[str, int] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
