"""What a tool is: a typed contract in front of one call of a recall service."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mcp_types
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from api.mcp_server.schemas import flat_schema
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from backread.settings import Settings


class Arguments(BaseModel):
    """Base of all argument models. Names are camelCase on the wire, as the contract has them.

    A null counts as not given, because models fill optional parameters with it. An unknown name
    is an error: a filter that was ignored would give a wrong answer that looks right.
    """

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True
    )

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, values: Any) -> Any:
        if isinstance(values, dict):
            return {key: value for key, value in values.items() if value is not None}
        return values


def from_json_text(value: Any) -> Any:
    """A list or a map that came as JSON text, which some clients make of nested arguments."""
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value  # the field's own check says what is wrong with it
    return value


@dataclass(frozen=True, slots=True)
class Answer:
    """`text` is what a model reads; `result` is the same for programs."""

    text: str
    result: BaseModel


def _always(_: Settings) -> bool:
    return True


@dataclass(frozen=True)
class Tool:
    """One tool. `run` is synchronous and is called in a thread. A tool that the settings do not
    offer is unknown to every client."""

    name: str
    title: str
    description: str
    scope: Scope
    arguments: type[Arguments]
    result: type[BaseModel]
    run: Callable[[Kernel, Principal, Any], Answer]
    is_read_only: bool = True
    is_idempotent: bool = True
    is_destructive: bool = False
    is_offered: Callable[[Settings], bool] = _always

    def definition(self) -> mcp_types.Tool:
        """The tool as `tools/list` shows it. All hints are explicit: a client takes a missing
        one for the worst case."""
        return mcp_types.Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=flat_schema(self.arguments, "validation"),
            output_schema=flat_schema(self.result, "serialization"),
            annotations=mcp_types.ToolAnnotations(
                title=self.title,
                read_only_hint=self.is_read_only,
                destructive_hint=self.is_destructive,
                idempotent_hint=self.is_idempotent,
                open_world_hint=False,
            ),
        )


def argument_problems(tool: Tool, error: ValidationError) -> str:
    """What is wrong with a call's arguments, in words that let a model repair it."""
    lines = []
    for item in error.errors(include_url=False, include_context=False):
        where = ".".join(str(part) for part in item["loc"]) or "arguments"
        if item["type"] == "extra_forbidden":
            lines.append(f"{where}: there is no such parameter.")
        else:
            lines.append(f"{where}: {item['msg'].removeprefix('Value error, ')}.")
    names = ", ".join(field.alias or name for name, field in tool.arguments.model_fields.items())
    known = f"{tool.name} takes: {names}." if names else f"{tool.name} takes no parameters."
    return "\n".join([*lines, known, "Correct the arguments and call it again."])
