"""What clients of every age ask, and what their answers must and must not hold."""

import json
import random
import re
from dataclasses import dataclass
from typing import Any

from tests.api.mcp_server.calls import MODERN
from tests.nightly.mixed_load.server import CANARY, Caller
from tests.nightly.mixed_load.wire import Headers

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
HANDSHAKE, STATELESS, STREAM = "handshake", "stateless", "HTTP+SSE"
ERAS = {HANDSHAKE: 45, STATELESS: 40, STREAM: 15}  # of 100 requests
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "load", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
_CANARIES = re.compile(re.escape(CANARY).encode() + rb"[0-9a-f]{16}")
_ASKED: list[tuple[int, str, dict[str, Any]]] = [
    (45, "tools/call", {"name": "list_buckets", "arguments": {}}),
    (20, "tools/call", {"name": "get_memories_and_buckets", "arguments": {}}),
    (10, "tools/list", {}),
    (10, "resources/list", {}),
    (5, "prompts/list", {}),
    (10, "", {}),  # what each era begins with
]
_SAYS_CANARY = {"list_buckets", "get_memories_and_buckets"}


@dataclass(frozen=True, slots=True)
class Question:
    """One request, and what identifies its answer."""

    era: str
    id: str
    caller: Caller
    headers: Headers
    body: bytes
    says_canary: bool

    def problem(self, answer: bytes) -> str | None:
        """What is wrong with an answer that came for this question."""
        try:
            message = json.loads(answer)
        except ValueError:
            return "the answer is not JSON"
        if message.get("id") != self.id:
            return f"the answer is for another request: {message.get('id')}"
        own = self.caller.canary.encode()
        found = set(_CANARIES.findall(answer))
        if found - {own}:
            return "the answer holds another account's words"
        if "result" not in message or message["result"].get("isError"):
            return f"refused: {answer[:200]!r}"
        if self.says_canary and not found:
            return "the answer lacks the account's own words"
        return None


def question(draw: random.Random, era: str, caller: Caller, number: int) -> Question:
    """Anything that a client of that age may ask. Its id is like no other."""
    _, method, params = draw.choices(_ASKED, weights=[weight for weight, *_ in _ASKED])[0]
    version = MODERN if era == STATELESS else draw.choice(VERSIONS)
    if not method and era == STATELESS:
        method = "server/discover"
    elif not method:
        method = "initialize"
        params = {
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": {"name": "load", "version": "1"},
        }
    request_id = f"{era} {number} {draw.getrandbits(48):012x}"
    name = params.get("name", "")
    headers: Headers = (*envelope(caller), ("MCP-Protocol-Version", version))
    if era == STATELESS:
        params = {**params, "_meta": META}
        headers += (("Mcp-Method", method),) + ((("Mcp-Name", name),) if name else ())
    body = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
    return Question(
        era, request_id, caller, headers, json.dumps(body).encode(), name in _SAYS_CANARY
    )


def envelope(caller: Caller) -> Headers:
    """The headers that every request has."""
    return (
        ("Authorization", f"Bearer {caller.token}"),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    )
