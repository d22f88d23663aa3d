from fastapi import APIRouter

from api.deps import KernelDep, MemoryReaderDep
from recall.overview.reading import chat_history_overview
from recall.overview.results import ChatHistoryOverview

router = APIRouter(tags=["overview"])


@router.get("/overview", response_model_by_alias=False)
def get_overview(kernel: KernelDep, principal: MemoryReaderDep) -> ChatHistoryOverview:
    """A portrait of the person and an inventory of their chats, made from the whole history."""
    return chat_history_overview(kernel, principal)
