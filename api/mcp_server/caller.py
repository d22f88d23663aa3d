"""Who asks: what the endpoint found of the token, handed on to the protocol's handlers."""

from typing import Any

from mcp.server.context import ServerRequestContext
from starlette.requests import Request

from backread.domain import Principal


def caller(context: ServerRequestContext[Any, Request]) -> Principal:
    """Who the endpoint found the token to speak for."""
    assert context.request is not None
    principal: Principal = context.request.state.principal
    return principal
