"""recall_chat_history: the question that everything else exists for."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from api.mcp_server.tool import Answer, Arguments, Tool, from_json_text
from backread.domain import Principal, Scope
from backread.kernel import Kernel
from recall.history import (
    DEFAULT_TOKENS,
    MAX_HISTORY,
    MAX_QUERIES,
    MAX_TOKENS,
    RecallRequest,
    RecallResult,
    recall_chat_history,
)

# What one answer may hold in all, whatever fifteen budgets add up to: clients refuse more.
_ALL_TOKENS = 15_000


class TurnArguments(Arguments):
    role: Literal["user", "assistant", "system", "tool"] = Field(description="Who said it.")
    content: str = Field(description="What was said.")


class QueryArguments(Arguments):
    query: str | None = Field(
        None,
        description="What to look for, in the user's own words and language. Names, topics and "
        "times (“last March”) are understood. Required unless queries is used, or after or before "
        "alone, which list all conversations of that time in order.",
    )
    max_tokens: int | None = Field(
        None,
        ge=1,
        le=MAX_TOKENS,
        description=f"Token budget for the returned context. Default {DEFAULT_TOKENS}, "
        f"max {MAX_TOKENS}.",
        json_schema_extra={"type": "number", "default": DEFAULT_TOKENS},
    )
    before: str | None = Field(
        None,
        description="Latest date, inclusive, ISO 8601: 2024-05-31 or 2024-05-31T18:00:00+02:00. "
        "A bare date is read as UTC.",
    )
    after: str | None = Field(
        None, description="Earliest date, inclusive, ISO 8601. A bare date is read as UTC."
    )
    mode: Literal["speed", "quality"] | None = Field(
        None,
        description="quality is slower and more thorough, for hard questions. Default speed.",
        json_schema_extra={"default": "speed"},
    )
    platform: str | None = Field(
        None, description='Optional hint: "claude", "chatgpt" or "typingmind".'
    )
    conversation_context: str | None = Field(
        None, description="Short summary of the current exchange, to ground the search."
    )
    conversation_history: Annotated[list[TurnArguments] | None, BeforeValidator(from_json_text)] = (
        Field(
            None,
            max_length=MAX_HISTORY,
            description="Recent turns of the current dialogue as {role, content}, "
            f"at most {MAX_HISTORY}, to ground the search.",
        )
    )


class RecallArguments(QueryArguments):
    queries: Annotated[list[QueryArguments] | None, BeforeValidator(from_json_text)] = Field(
        None,
        min_length=1,
        max_length=MAX_QUERIES,
        description=f"Up to {MAX_QUERIES} queries answered in parallel; each takes the same "
        "fields as a single call. Use different angles: timeline, people, decisions, outcomes.",
    )


def _run(kernel: Kernel, principal: Principal, arguments: RecallArguments) -> Answer:
    values: dict[str, Any] = arguments.model_dump(exclude_none=True)
    if arguments.queries and not (arguments.query or "").strip():
        values.pop("query", None)
    for query in values.get("queries", ()):
        share = _ALL_TOKENS // len(values["queries"])
        budget = query.get("max_tokens", values.get("max_tokens", DEFAULT_TOKENS))
        query["max_tokens"] = min(budget, share)
    result = recall_chat_history(kernel, principal, RecallRequest(**values))
    return Answer(result.text, result)


TOOL = Tool(
    name="recall_chat_history",
    title="Recall past conversations",
    description=(
        "Search the user's past conversations with AI assistants (ChatGPT, Claude and others) and "
        "get a short cited answer, not raw logs. Call it whenever the user refers to something "
        "from before, or asks about past decisions, projects, people or advice that their history "
        "can answer; do not ask them to repeat it. One query for a simple lookup; for a broad "
        "question send queries from different angles. Use after and before for a time window, "
        "without a query for everything in it. "
        "The sources give a conversationId for get_conversation_summary and "
        "get_full_conversation. When nothing is found it says so; do not guess then."
    ),
    scope=Scope.CHAT_HISTORY_READ,
    arguments=RecallArguments,
    result=RecallResult,
    run=_run,
)
