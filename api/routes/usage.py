from typing import Annotated

from fastapi import APIRouter, Query

from api.deps import HistoryReaderDep, ReadDep, SettingsDep
from api.schemas.usage import UsageOut, usage_out
from api.usage import usage_report

router = APIRouter(tags=["language model"])


@router.get("/usage")
def get_usage(
    session: ReadDep,
    principal: HistoryReaderDep,
    settings: SettingsDep,
    days: Annotated[int, Query(ge=1, le=366, description="Days back, today included.")] = 30,
) -> UsageOut:
    """What the language model has taken for the account, and what is left of the budget."""
    return usage_out(usage_report(session, settings, principal, days=days))
