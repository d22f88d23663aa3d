"""What the product asks of a language model, and how it says that it could not.

A caller has a way without a model first. It calls the model only to do better, catches
`LanguageModelFailure`, keeps what it had, and marks the row so that it is made again later.

LanguageModelFailure         no usable answer; do without
├── LanguageModelUnavailable down, refused, or an answer that cannot be used even after repair
└── BudgetSpent              asking would go over the account's budget; nothing was sent
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol, TypeVar

from pydantic import BaseModel

from backread.errors import Unavailable
from backread.llm.language.prompt import Prompt

Answer = TypeVar("Answer", bound=BaseModel)


class Why(StrEnum):
    """The reason of a failure, for those who decide when to try again."""

    UNREACHABLE = "unreachable"  # refused, reset, no such host
    TIMEOUT = "timeout"
    BUSY = "busy"  # 429 after all patience
    SERVER_ERROR = "server_error"  # 5xx
    REJECTED = "rejected"  # 4xx: key, model name, context length
    REFUSED = "refused"  # the model would not, or a filter stopped it
    EMPTY = "empty"
    TRUNCATED = "truncated"  # the answer did not fit
    BAD_OUTPUT = "bad_output"  # not what was asked for, after one repair
    TOO_LARGE = "too_large"  # the prompt is larger than the model's context
    BUDGET = "budget"


# What the next try may well get past. The others answer this input in the same way again.
PASSING = frozenset({Why.UNREACHABLE, Why.TIMEOUT, Why.BUSY, Why.SERVER_ERROR, Why.REJECTED})


class LanguageModelFailure(Unavailable):
    """No usable answer. `why` names the reason."""

    code = "language_model_failure"

    def __init__(self, message: str, *, why: Why, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.why = why

    @property
    def is_about_the_input(self) -> bool:
        """True when another input may succeed although this one failed."""
        return self.why not in PASSING and self.why is not Why.BUDGET


class LanguageModelUnavailable(LanguageModelFailure):
    """The model could not be asked, or did not answer usably. `retry_after_seconds`: how long
    its server asked to be left alone, 0 when it did not say."""

    code = "language_model_unavailable"

    def __init__(
        self, message: str, *, why: Why, hint: str = "", retry_after_seconds: float = 0.0
    ) -> None:
        super().__init__(message, why=why, hint=hint)
        self.retry_after_seconds = retry_after_seconds


class BudgetSpent(LanguageModelFailure):
    """Nothing was sent. `renews_at` is when the day or month of the account ends."""

    code = "budget_spent"

    def __init__(self, message: str, *, renews_at: datetime, hint: str = "") -> None:
        super().__init__(message, why=Why.BUDGET, hint=hint)
        self.renews_at = renews_at


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request. `is_estimated`: the server did not say, or never answered."""

    tokens_in: int
    tokens_out: int
    is_estimated: bool = False


class LanguageModel(Protocol):
    """A model behind any kind of API. Safe to use from several threads."""

    @property
    def name(self) -> str:
        """The model's name, as its server knows it; stored with whatever it made."""
        ...

    @property
    def context_tokens(self) -> int:
        """How much prompt and answer together may be, in estimated tokens."""
        ...

    def room(self, prompt: Prompt, max_output_tokens: int) -> int:
        """Estimated tokens of data that may still be added to the prompt."""
        ...

    def complete(
        self,
        prompt: Prompt,
        *,
        account_id: str,
        result: type[Answer],
        max_output_tokens: int,
        timeout_seconds: float | None = None,
    ) -> Answer:
        """The model's answer as an instance of `result`, validated.

        Each request is reserved in the account's budget before it is sent and written down in
        its usage afterwards. `timeout_seconds` bounds the whole call, repeats included; None
        means the setting's patience. Raises LanguageModelUnavailable or BudgetSpent.
        """
        ...
