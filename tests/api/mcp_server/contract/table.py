"""The reference contract as a table: one row for each of the 14 tools.

The tests beside it make everything else out of these rows: the definitions that a client is
shown, calls at each limit and one past it, and who sees what. A tool is checked as soon as it is
named in `api.mcp_server.tools.TOOLS`; until then the tests of its row fail and say so. Whoever
adds a tool of the contract has nothing to change here unless its `call` needs data that is not
there yet: then `Place` (in `conftest.py`) stores it and offers its id under a name in braces.

`ADDITIONS` names the parameters that Backread has beyond the contract. They are optional, always.
"""

from dataclasses import dataclass, field
from typing import Any

READ, WRITE, CHATS = "memory:read", "memory:write", "chat-history:read"
SCOPES = (READ, WRITE, CHATS)


@dataclass(frozen=True)
class Parameter:
    """`most` is the limit of a number or of a list's length; `over` makes the value past it."""

    name: str
    type: str
    required: bool = False
    default: Any = None
    least: int | None = None
    most: int | None = None
    values: tuple[str, ...] = ()
    item: Any = None  # of a list: one valid entry
    may_be_empty: bool = False  # the list
    beside: dict[str, Any] = field(default_factory=dict)  # what else such a call needs
    without: tuple[str, ...] = ()  # parameters of `call` that such a call must not have


@dataclass(frozen=True)
class Row:
    """One tool. `call` is a call that works; texts in braces are ids of a `Place`."""

    name: str
    scope: str
    parameters: tuple[Parameter, ...] = ()
    call: dict[str, Any] = field(default_factory=dict)
    is_read_only: bool = True
    is_destructive: bool = False
    is_idempotent: bool = True


TURN = {"role": "user", "content": "We talked about the garden."}

ROWS = (
    Row(
        "store_memory",
        WRITE,
        (
            Parameter("text", "string", required=True),
            Parameter("bucketId", "number"),
        ),
        {"text": "The spare key hangs in the shed.", "bucketId": "{bucket}"},
        is_read_only=False,
    ),
    Row(
        "search_memories",
        READ,
        (
            Parameter("query", "string", required=True),
            Parameter("bucketId", "string"),
            Parameter("limit", "number", default=10, least=1, most=20),
        ),
        {"query": "tea", "bucketId": "{bucket}", "limit": 3},
    ),
    Row(
        "get_memories_and_buckets",
        READ,
        (
            Parameter("bucketId", "number"),
            Parameter("count", "number", default=10, least=1),
            Parameter("all", "boolean"),
            Parameter("query", "string"),
        ),
        {"bucketId": "{bucket}", "count": 3},
    ),
    Row(
        "update_or_move_memories",
        WRITE,
        (
            Parameter("memoryId", "string"),
            Parameter(
                "memoryIds",
                "array",
                most=100,
                item="{memory}",
                beside={"bucketName": "Elsewhere"},
                without=("memoryId", "text"),
            ),
            Parameter("text", "string"),
            Parameter("bucketId", "number"),
            Parameter("bucketName", "string"),
        ),
        {"memoryId": "{memory}", "text": "Ada prefers green tea."},
        is_read_only=False,
        is_destructive=True,
    ),
    Row("list_buckets", READ),
    Row(
        "create_bucket",
        WRITE,
        (Parameter("name", "string", required=True),),
        {"name": "Garden"},
        is_read_only=False,
    ),
    Row(
        "list_bucket_categories",
        READ,
        (Parameter("bucketId", "string", required=True),),
        {"bucketId": "{bucket}"},
    ),
    Row(
        "list_category_memories",
        READ,
        (
            Parameter("bucketId", "string", required=True),
            Parameter("categoryId", "string", required=True),
            Parameter("limit", "number", least=1),
        ),
        {"bucketId": "{bucket}", "categoryId": "{category}"},
    ),
    Row(
        "recall_chat_history",
        CHATS,
        (
            Parameter("query", "string"),
            Parameter("queries", "array", most=15, item={"query": "cedar"}, without=("query",)),
            Parameter("maxTokens", "number", default=600, least=1, most=2000),
            Parameter("before", "string"),
            Parameter("after", "string"),
            Parameter("mode", "string", default="speed", values=("speed", "quality")),
            Parameter("platform", "string"),
            Parameter("conversationContext", "string"),
            Parameter("conversationHistory", "array", most=50, item=TURN, may_be_empty=True),
        ),
        {"query": "cedar", "before": "2031-01-01", "after": "2001-01-01", "mode": "speed"},
    ),
    Row(
        "get_conversation_summary",
        CHATS,
        (Parameter("conversationId", "string", required=True),),
        {"conversationId": "{conversation}"},
    ),
    Row(
        "get_full_conversation",
        CHATS,
        (Parameter("conversationId", "string", required=True),),
        {"conversationId": "{conversation}"},
    ),
    Row(
        "export_conversation",
        CHATS,
        (Parameter("conversationId", "string", required=True),),
        {"conversationId": "{conversation}"},
        # It makes a link, which changes nothing that the person has; each call makes another.
        is_idempotent=False,
    ),
    Row("chat_history_overview", READ),
    Row(
        "search_uploaded_files",
        READ,
        (
            Parameter("query", "string", required=True),
            Parameter("bucketId", "number"),
            Parameter("topK", "number", default=5, least=1, most=20),
        ),
        {"query": "warranty", "topK": 3},
    ),
)

ADDITIONS: dict[str, dict[str, str]] = {
    "store_memory": {"supersedes": "string", "conversationId": "string", "messageId": "string"},
    "search_memories": {"asOf": "string"},
    "get_memories_and_buckets": {"cursor": "string"},
    "update_or_move_memories": {"supersedes": "string"},
    "list_category_memories": {"cursor": "string"},
}
