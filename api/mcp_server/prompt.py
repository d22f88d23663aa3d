"""What a prompt is: something that a person picks in their client, filled with what they said."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import mcp_types

from backread.domain import Principal, Scope
from backread.kernel import Kernel

# Values that begin as the typed text does; the second argument.
Suggest = Callable[[Kernel, Principal, str], Sequence[str]]


@dataclass(frozen=True)
class PromptParameter:
    """One argument. All arguments are texts, as the protocol has them."""

    name: str
    description: str
    is_required: bool = False
    suggest: Suggest | None = None


@dataclass(frozen=True)
class Prompt:
    """One prompt. `run` gives the message that the client puts before its model; it is
    synchronous and is called in a thread."""

    name: str
    title: str
    description: str
    scope: Scope
    parameters: tuple[PromptParameter, ...]
    run: Callable[[Kernel, Principal, Mapping[str, str]], str]

    def definition(self) -> mcp_types.Prompt:
        return mcp_types.Prompt(
            name=self.name,
            title=self.title,
            description=self.description,
            arguments=[
                mcp_types.PromptArgument(
                    name=each.name, description=each.description, required=each.is_required
                )
                for each in self.parameters
            ],
        )

    def parameter(self, name: str) -> PromptParameter | None:
        return next((each for each in self.parameters if each.name == name), None)
