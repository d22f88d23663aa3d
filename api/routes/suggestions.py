from typing import Annotated

from fastapi import APIRouter, Query

from api.deps import CsrfDep, KernelDep, MemoryReaderDep, MemoryWriterDep, ReadDep, WriteDep
from api.schemas.suggestions import (
    AcceptIn,
    AcceptOut,
    State,
    SuggestionIds,
    SuggestionList,
    SuggestionsMoved,
    suggestion_out,
)
from backread.store.repositories.suggestions import (
    SuggestionFilter,
    count_suggestions,
    list_suggestions,
)
from recall.suggestions import (
    AcceptedSuggestion,
    accept_suggestions,
    dismiss_suggestions,
    restore_suggestions,
)

router = APIRouter(tags=["memory suggestions"])


@router.get("/memory-suggestions")
def get_suggestions(
    session: ReadDep,
    principal: MemoryReaderDep,
    state: State = "open",
    platform: Annotated[str, Query(max_length=32, description="Slug, such as chatgpt.")] = "",
    import_id: Annotated[str, Query(max_length=26, description="Only what it brought.")] = "",
    offset: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> SuggestionList:
    """What platforms remember about the person, by platform and source, newest first."""
    wanted = SuggestionFilter(state, platform, import_id)
    found = list_suggestions(session, principal, wanted, offset=offset, limit=limit)
    return SuggestionList(
        items=[suggestion_out(each) for each in found],
        total=sum(count_suggestions(session, principal, wanted).values()),
        offset=offset,
    )


@router.post("/memory-suggestions/accept", dependencies=[CsrfDep])
def post_accept(kernel: KernelDep, principal: MemoryWriterDep, wanted: AcceptIn) -> AcceptOut:
    """Keeps suggestions as memories, all or none. One that is a memory already is not doubled."""
    result = accept_suggestions(
        kernel,
        principal,
        [AcceptedSuggestion(each.id, each.text) for each in wanted.items],
        bucket_id=wanted.bucket_id,
        bucket_name=wanted.bucket_name,
    )
    return AcceptOut(
        accepted=result.accepted,
        stored=result.stored,
        bucket_id=result.bucket_id,
        bucket_name=result.bucket_name,
    )


@router.post("/memory-suggestions/dismiss", dependencies=[CsrfDep])
def post_dismiss(
    session: WriteDep, principal: MemoryWriterDep, wanted: SuggestionIds
) -> SuggestionsMoved:
    """Puts open suggestions away. No later import offers them again."""
    return SuggestionsMoved(changed=dismiss_suggestions(session, principal, wanted.ids))


@router.post("/memory-suggestions/restore", dependencies=[CsrfDep])
def post_restore(
    session: WriteDep, principal: MemoryWriterDep, wanted: SuggestionIds
) -> SuggestionsMoved:
    """Opens dismissed suggestions again."""
    return SuggestionsMoved(changed=restore_suggestions(session, principal, wanted.ids))
