from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from api.deps import KernelDep
from backread import __version__
from backread.errors import Unavailable

router = APIRouter(tags=["health"])


class Health(BaseModel):
    status: Literal["ok"]
    version: str


@router.get("/healthz")
def healthz(kernel: KernelDep) -> Health:
    """Answers 200 when the server can read its database, 503 otherwise. Needs no sign-in."""
    try:
        with kernel.store.read() as session:
            session.execute(text("SELECT 1"))
    except SQLAlchemyError as error:
        raise Unavailable("The database cannot be reached.") from error
    return Health(status="ok", version=__version__)
