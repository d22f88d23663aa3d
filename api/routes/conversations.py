from typing import Annotated

from fastapi import APIRouter, Query

from api.cursors import read_cursor, write_cursor
from api.deps import CsrfDep, HistoryReaderDep, HistoryWriterDep, KernelDep, ReadDep
from api.schemas.conversations import (
    ConversationDeleted,
    ConversationDetail,
    ConversationList,
    ConversationOut,
    MessageOut,
)
from api.web.lines import ConversationTree
from backread.errors import NotFound
from backread.store.repositories.browsing import (
    ConversationFilter,
    ConversationOrder,
    count_conversations,
    find_conversation,
    list_conversations,
    message_tree,
    messages_by_id,
)
from ingest.deleting import delete_conversation

router = APIRouter(tags=["conversations"])


@router.get("/conversations")
def get_conversations(
    session: ReadDep,
    principal: HistoryReaderDep,
    platform: Annotated[str, Query(max_length=32)] = "",
    title: Annotated[str, Query(max_length=200, description="Part of the title.")] = "",
    has_secrets: Annotated[bool, Query(description="Only with keys or passwords in them.")] = False,
    sort: ConversationOrder = ConversationOrder.NEWEST,
    after: Annotated[str, Query(max_length=2000, description="`next_cursor` of a page.")] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> ConversationList:
    """Conversations, a page at a time."""
    wanted = ConversationFilter(
        platform=platform, title=title.strip(), has_secrets=has_secrets, order=sort
    )
    position = read_cursor(after, sort) if after else None
    found = list_conversations(session, principal, wanted, after=position, limit=limit + 1)
    shown = found[:limit]
    return ConversationList(
        items=[ConversationOut.model_validate(conversation) for conversation in shown],
        total=count_conversations(session, principal, wanted),
        next_cursor=write_cursor(shown[-1], sort) if len(found) > limit else "",
    )


@router.get("/conversations/{conversation_id}")
def get_conversation(
    session: ReadDep,
    principal: HistoryReaderDep,
    conversation_id: str,
    at: Annotated[str, Query(max_length=26, description="Chooses the branch with it.")] = "",
    offset: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 200,
) -> ConversationDetail:
    """A conversation and the messages of one line through it, in order."""
    conversation = find_conversation(session, principal, conversation_id)
    tree = ConversationTree(message_tree(session, principal, conversation_id))
    line = tree.line(at or None)
    if at and at not in line:
        raise NotFound("There is no such message in this conversation.")
    ids = line[offset : offset + limit]
    found = messages_by_id(session, principal, conversation_id, ids)
    summary = ConversationOut.model_validate(conversation)
    return ConversationDetail(
        **summary.model_dump(),
        messages=[MessageOut.model_validate(found[item]) for item in ids if item in found],
        message_total=len(line),
        offset=offset,
    )


@router.delete("/conversations/{conversation_id}", dependencies=[CsrfDep])
def delete_one_conversation(
    kernel: KernelDep, principal: HistoryWriterDep, conversation_id: str
) -> ConversationDeleted:
    """Deletes a conversation from every store, for good; no later import brings it back. The
    answer is the receipt."""
    receipt = delete_conversation(kernel, principal, conversation_id)
    return ConversationDeleted.model_validate(receipt, from_attributes=True)
