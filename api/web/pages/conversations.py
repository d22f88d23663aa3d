"""The list of conversations: filtered, sorted, page by page."""

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response

from api.cursors import read_cursor, write_cursor
from api.deps import ReadDep, SignedInDep
from api.web.templating import render
from backread.store.repositories.browsing import (
    ConversationFilter,
    ConversationOrder,
    archive_totals,
    count_conversations,
    list_conversations,
)

PAGE_SIZE = 50
_MAX_TITLE = 200

router = APIRouter(include_in_schema=False)


@router.get("/conversations")
def conversations_page(
    request: Request,
    session: ReadDep,
    signed_in: SignedInDep,
    platform: Annotated[str, Query(max_length=32)] = "",
    title: Annotated[str, Query(max_length=_MAX_TITLE)] = "",
    has_secrets: bool = False,
    sort: ConversationOrder = ConversationOrder.NEWEST,
    after: Annotated[str, Query(max_length=2000)] = "",
) -> Response:
    principal = signed_in.principal
    wanted = ConversationFilter(
        platform=platform, title=title.strip(), has_secrets=has_secrets, order=sort
    )
    with_secrets = ConversationFilter(has_secrets=True)
    position = read_cursor(after, sort) if after else None
    found = list_conversations(session, principal, wanted, after=position, limit=PAGE_SIZE + 1)
    shown = found[:PAGE_SIZE]
    context: dict[str, Any] = {
        "signed_in": signed_in,
        "conversations": shown,
        "matching": count_conversations(session, principal, wanted),
        "totals": archive_totals(session, principal),
        "with_secrets": count_conversations(session, principal, with_secrets),
        "wanted": wanted,
        "orders": list(ConversationOrder),
        "is_first_page": not after,
        "first_page": _address(wanted, ""),
        "next_page": (
            _address(wanted, write_cursor(shown[-1], sort)) if len(found) > PAGE_SIZE else ""
        ),
    }
    return render(request, "conversations.html", context)


def _address(wanted: ConversationFilter, after: str) -> str:
    query = {
        "platform": wanted.platform,
        "title": wanted.title,
        "has_secrets": "true" if wanted.has_secrets else "",
        "sort": "" if wanted.order is ConversationOrder.NEWEST else wanted.order.value,
        "after": after,
    }
    text = urlencode({name: value for name, value in query.items() if value})
    return f"/conversations?{text}" if text else "/conversations"
