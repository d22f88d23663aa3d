"""`backread://conversation/{id}`: a past conversation, to attach or to read."""

from collections.abc import Mapping, Sequence

from api.cursors import read_cursor, write_cursor
from api.mcp_server.resource import Listed, Page, ResourceKind
from api.mcp_server.tools.transcript_pages import next_page_id, transcript_page
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from backread.store.repositories.browsing import (
    ConversationFilter,
    ConversationOrder,
    list_conversations,
)
from recall.rendering import counted, day, one_line

ADDRESS = "backread://conversation/{id}"
_SUGGESTED = 50


def _read(kernel: Kernel, principal: Principal, values: Mapping[str, str]) -> str:
    page = transcript_page(kernel, principal, values["id"])
    following = next_page_id(page)
    lead = ""
    if following:
        lead = (
            f"Page {page.page} of {page.pages}; the next is backread://conversation/{following}\n\n"
        )
    return lead + page.text


def _list_page(kernel: Kernel, principal: Principal, after: str, limit: int) -> Page:
    newest = ConversationOrder.NEWEST
    position = read_cursor(after, newest) if after else None
    with kernel.store.read() as session:
        found = list_conversations(
            session, principal, ConversationFilter(order=newest), after=position, limit=limit + 1
        )
    shown = found[:limit]
    items = [
        Listed(
            uri=ADDRESS.format(id=each.id),
            name=each.id,
            title=one_line(each.title) or "Untitled",
            description=f"{each.platform}, {day(each.last_message_at)}, "
            f"{counted(each.message_count, 'message')}",
        )
        for each in shown
    ]
    return Page(items, write_cursor(shown[-1], newest) if len(found) > limit else "")


def suggest_conversations(kernel: Kernel, principal: Principal, typed: str) -> Sequence[str]:
    """Ids of recent conversations that begin so, or whose title holds the typed text."""
    with kernel.store.read() as session:
        recent = list_conversations(session, principal, ConversationFilter(), limit=_SUGGESTED)
        titled = (
            list_conversations(
                session, principal, ConversationFilter(title=typed.strip()), limit=_SUGGESTED
            )
            if typed.strip()
            else []
        )
    ids = [each.id for each in recent if each.id.startswith(typed)]
    return list(dict.fromkeys([*ids, *(each.id for each in titled)]))


def _suggest(
    kernel: Kernel, principal: Principal, variable: str, typed: str, known: Mapping[str, str]
) -> Sequence[str]:
    return suggest_conversations(kernel, principal, typed)


KIND = ResourceKind(
    name="conversation",
    title="Past conversation",
    description="The transcript of one past conversation. A very long one comes in pages; each "
    "page names the address of the next.",
    address=ADDRESS,
    scope=Scope.CHAT_HISTORY_READ,
    read=_read,
    list_page=_list_page,
    suggest=_suggest,
)
