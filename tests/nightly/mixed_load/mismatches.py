"""Requests of the stateless era whose headers and body say different things. What stands between
client and server reads the headers, the server the body; each of these must be refused with 400
and the protocol's code -32020 (MCP 2026-07-28, "Streamable HTTP", standard request headers)."""

import base64
import json
import random
from dataclasses import dataclass
from typing import Any

from tests.api.mcp_server.calls import MODERN
from tests.nightly.mixed_load.asking import META, VERSIONS, envelope
from tests.nightly.mixed_load.server import Caller
from tests.nightly.mixed_load.wire import Headers

HEADER_MISMATCH = -32020
_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_NAMED = {
    "tools/call": ("name", ["list_buckets", "search_memories", "store_memory"]),
    "prompts/get": ("name", ["recall_context", "weekly_review"]),
    "resources/read": ("uri", ["agentmemory://status", "agentmemory://memories/latest"]),
}
_PLAIN = ["tools/list", "resources/list", "prompts/list", "server/discover"]


@dataclass(frozen=True, slots=True)
class Mismatch:
    """`kind` says what contradicts what."""

    kind: str
    id: str
    headers: Headers
    body: bytes

    def problem(self, status: int, answer: bytes) -> str | None:
        try:
            message = json.loads(answer)
        except ValueError:
            message = {}
        code = message.get("error", {}).get("code", "none")
        if (status, code, message.get("id")) == (400, HEADER_MISMATCH, self.id):
            return None
        return f"{self.kind}: answered with status {status} and code {code}"


def mismatch(draw: random.Random, caller: Caller, number: int) -> Mismatch:
    """A request in which exactly one thing is wrong."""
    method = draw.choice([*_NAMED, *_PLAIN])
    params: dict[str, Any] = {"_meta": dict(META)}
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
    value = ""
    if method in _NAMED:
        key, values = _NAMED[method]
        value = draw.choice(values)
        params[key] = value
        headers["Mcp-Name"] = value if draw.random() < 0.7 else _wrapped(value)
    kinds = [
        "no version header",
        "another version in the header",
        "another version in the body",
        "no method header",
        "another method in the header",
        "the method twice",
    ]
    if value:
        kinds += ["no name header", "another name in the header", "a broken name in the header"]
    kind = draw.choice(kinds)
    twice: Headers = ()
    match kind:
        case "no version header":
            del headers["MCP-Protocol-Version"]
        case "another version in the header":
            headers["MCP-Protocol-Version"] = draw.choice([*VERSIONS, "2031-01-01", "2026-07-29"])
        case "another version in the body":
            other = [*VERSIONS, "2031-01-01", "", None, 20260728, MODERN + " ", [MODERN], True]
            params["_meta"][_VERSION_KEY] = draw.choice(other)
        case "no method header":
            del headers["Mcp-Method"]
        case "another method in the header":
            headers["Mcp-Method"] = _other(draw, method, [*_NAMED, *_PLAIN])
        case "the method twice":
            twice = (("Mcp-Method", draw.choice([method, "ping"])),)
        case "no name header":
            del headers["Mcp-Name"]
        case "another name in the header":
            other_name = _other(draw, value, _NAMED[method][1])
            headers["Mcp-Name"] = draw.choice([other_name, _wrapped(other_name)])
        case "a broken name in the header":
            headers["Mcp-Name"] = draw.choice(["=?base64?not base64?=", "=?base64?/w==?=", ""])
    request_id = f"mismatch {number} {draw.getrandbits(48):012x}"
    body = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
    sent = envelope(caller) + tuple(headers.items()) + twice
    return Mismatch(kind, request_id, sent, json.dumps(body).encode())


def _other(draw: random.Random, value: str, values: list[str]) -> str:
    """Something else: a neighbour, another case, more or less of it."""
    changed = [value.upper(), value[:-1], f"{value}s", f"x{value}", value.replace("_", "-") + "."]
    return draw.choice([each for each in [*values, *changed] if each != value])


def _wrapped(value: str) -> str:
    """The form of values that a header cannot hold as they are."""
    return f"=?base64?{base64.b64encode(value.encode()).decode()}?="
