"""Prompts on the protocol's side: what a caller sees, gets and is helped to complete."""

from collections.abc import Sequence
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    PaginatedRequestParams,
    PromptMessage,
    TextContent,
)
from starlette.requests import Request

from api.mcp_server.caller import caller
from api.mcp_server.guarding import Guard
from api.mcp_server.prompt import Prompt
from api.mcp_server.prompts import PROMPTS
from backread.domain import Principal
from backread.kernel import Kernel

# Prompts change with a release only, and what a grant allows does not change at all.
_TTL_MS = 300_000
_MOST_CHARACTERS = 2000


class PromptDesk:
    """The prompts of one process, bound to its kernel."""

    def __init__(self, kernel: Kernel, guard: Guard, prompts: tuple[Prompt, ...] = PROMPTS) -> None:
        self._kernel = kernel
        self._guard = guard
        self._prompts = {prompt.name: prompt for prompt in prompts}

    def prompt(self, name: str) -> Prompt | None:
        return self._prompts.get(name)

    async def list_prompts(
        self, context: ServerRequestContext[Any, Request], _: PaginatedRequestParams | None
    ) -> ListPromptsResult:
        """Those that the caller's grant allows, in a fixed order."""
        principal = caller(context)
        visible = [
            each.definition() for each in self._prompts.values() if each.scope in principal.scopes
        ]
        return ListPromptsResult(prompts=visible, ttl_ms=_TTL_MS, cache_scope="private")

    async def get(
        self, context: ServerRequestContext[Any, Request], params: GetPromptRequestParams
    ) -> GetPromptResult:
        """The prompt's message, filled with what is asked for."""
        principal = caller(context)
        prompt = self._prompts.get(params.name)
        if prompt is None:
            raise MCPError(INVALID_PARAMS, f"Unknown prompt: {params.name[:64]}")
        given = _checked(prompt, params.arguments or {})
        text = await self._guard.run(
            prompt.name,
            principal,
            prompt.scope,
            lambda: prompt.run(self._kernel, principal, given),
        )
        return GetPromptResult(
            description=prompt.description,
            messages=[PromptMessage(role="user", content=TextContent(type="text", text=text))],
        )

    async def suggestions(
        self, principal: Principal, name: str, argument: str, typed: str
    ) -> Sequence[str]:
        """Values for an argument. Raises MCPError for a prompt or an argument that is not ours."""
        prompt = self._prompts.get(name)
        parameter = prompt.parameter(argument) if prompt else None
        if prompt is None or parameter is None:
            raise MCPError(INVALID_PARAMS, "There is no such prompt, or no such argument of it.")
        if parameter.suggest is None:
            return []
        suggest = parameter.suggest
        return await self._guard.run(
            prompt.name,
            principal,
            prompt.scope,
            lambda: suggest(self._kernel, principal, typed),
        )


def _checked(prompt: Prompt, given: dict[str, str]) -> dict[str, str]:
    """Without blanks. Raises MCPError for what is missing, unknown or too long."""
    kept = {name: value.strip() for name, value in given.items() if value.strip()}
    for name, value in kept.items():
        if prompt.parameter(name) is None:
            raise MCPError(INVALID_PARAMS, f"{prompt.name} has no argument {name[:64]}.")
        if len(value) > _MOST_CHARACTERS:
            raise MCPError(INVALID_PARAMS, f"{name} may have {_MOST_CHARACTERS} characters.")
    for each in prompt.parameters:
        if each.is_required and each.name not in kept:
            raise MCPError(INVALID_PARAMS, f"{prompt.name} needs the argument {each.name}.")
    return kept
