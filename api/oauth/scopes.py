"""Every scope, with the words that people see when they are asked for it."""

from collections.abc import Iterable
from dataclasses import dataclass

from backread.domain import Scope

# Asked for by clients that want a refresh token. Listed in the metadata, accepted everywhere and
# otherwise ignored: every grant gets a refresh token.
OFFLINE_ACCESS = "offline_access"


@dataclass(frozen=True, slots=True)
class ScopeText:
    title: str
    detail: str


SCOPE_TEXTS: dict[Scope, ScopeText] = {
    Scope.MEMORY_READ: ScopeText(
        "Read your memories",
        "Search saved memories and uploaded files, and see buckets and what waits to be reviewed. "
        "This is also the permission for an overview of you that is made from your whole chat "
        "history.",
    ),
    Scope.MEMORY_WRITE: ScopeText(
        "Save and change memories",
        "Store, change and delete memories and buckets, and decide on what waits to be reviewed.",
    ),
    Scope.CHAT_HISTORY_READ: ScopeText(
        "Read your past conversations",
        "Search all imported chats and the documents of projects, and read summaries and whole "
        "transcripts.",
    ),
    Scope.CHAT_HISTORY_WRITE: ScopeText(
        "Import conversations",
        "Upload export files, import them, read the reports of imports, and delete conversations.",
    ),
}
# What AI clients can be given. `chat-history:write` is for scripts alone: no tool needs it.
# What the same permissions mean at the notes server.
NOTES_SCOPE_TEXTS: dict[Scope, ScopeText] = {
    Scope.MEMORY_READ: ScopeText("Read your notes", "List, search and read all notes."),
    Scope.MEMORY_WRITE: ScopeText(
        "Write and change notes",
        "Make, change and delete notes. Every version is kept, and can be restored.",
    ),
}

ALL_SCOPES: tuple[Scope, ...] = (Scope.MEMORY_READ, Scope.MEMORY_WRITE, Scope.CHAT_HISTORY_READ)


def scope_string(scopes: Iterable[str]) -> str:
    """Space-separated, in the fixed order of `Scope`, so that equal sets read the same."""
    wanted = set(scopes)
    return " ".join(scope.value for scope in ALL_SCOPES if scope.value in wanted)


def requested_scopes(text: str | None, known: tuple[Scope, ...] = ALL_SCOPES) -> list[Scope] | None:
    """The scopes of a resource in a `scope` parameter; all of them when it names none.

    Unknown scopes are dropped (RFC 6749 §3.3 allows a server to ignore scopes). None when scopes
    were named and every one is unknown: `invalid_scope`.
    """
    words = set((text or "").split()) - {OFFLINE_ACCESS}
    if not words:
        return list(known)
    return [scope for scope in known if scope.value in words] or None
