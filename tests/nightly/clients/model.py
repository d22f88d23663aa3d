"""Stands in for the language model of a coding agent: asks for one MCP tool, then repeats what
the tool said. Speaks the Anthropic Messages and the OpenAI Responses protocols, both streaming.

So an agent that is driven by it uses its own MCP client from end to end, without any account.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

TOOL = "list_buckets"
Event = dict[str, Any]


class _Model(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        self._send(200, "application/json", json.dumps({"data": [], "models": []}))

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.end_headers()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        request = json.loads(body or b"{}")
        path = self.path.partition("?")[0]
        if path.endswith("/messages"):
            self._stream(_anthropic(request))
        elif path.endswith("/responses"):
            self._stream(_openai(request))
        else:
            self._send(404, "application/json", "{}")

    def _stream(self, events: list[Event]) -> None:
        lines = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]
        self._send(200, "text/event-stream", "".join(lines))

    def _send(self, status: int, kind: str, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())


def _anthropic(request: dict[str, Any]) -> list[Event]:
    name = next((tool["name"] for tool in request.get("tools", []) if _is_wanted(tool)), None)
    said = [
        block["content"]
        for message in request.get("messages", [])
        if isinstance(message["content"], list)
        for block in message["content"]
        if block.get("type") == "tool_result"
    ]
    block: Event
    if name and not said:
        block = {"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}
        delta: Event = {"type": "input_json_delta", "partial_json": "{}"}
    else:
        block = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": json.dumps(said) if said else "no such tool"}
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": request.get("model", ""),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    reason = "tool_use" if block["type"] == "tool_use" else "end_turn"
    return [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": None},
            "usage": usage,
        },
        {"type": "message_stop"},
    ]


def _openai(request: dict[str, Any]) -> list[Event]:
    said = [
        item["output"]
        for item in request.get("input", [])
        if item.get("type") == "function_call_output"
    ]
    item: Event
    call = _openai_call(request.get("tools", []))
    if call and not said:
        item = {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call_1",
            "arguments": "{}",
            **call,
        }
    else:
        text = json.dumps(said) if said else "no such tool"
        content = [{"type": "output_text", "text": text, "annotations": []}]
        item = {"type": "message", "id": "msg_1", "role": "assistant", "content": content}
    usage = {
        "input_tokens": 1,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 1,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 2,
    }
    response = {"id": "resp_1", "object": "response", "output": [item], "usage": usage}
    return [
        {"type": "response.created", "response": {"id": "resp_1"}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {**response, "status": "completed"}},
    ]


def _openai_call(tools: list[dict[str, Any]]) -> dict[str, str] | None:
    """How to call the tool, which may stand alone or inside a namespace."""
    for tool in tools:
        if _is_wanted(tool):
            return {"name": tool["name"]}
        for inner in tool.get("tools", []):
            if _is_wanted(inner):
                return {"name": inner["name"], "namespace": tool["name"]}
    return None


def _is_wanted(tool: dict[str, Any]) -> bool:
    return str(tool.get("name", "")).endswith(TOOL)


@contextmanager
def serving_model() -> Iterator[str]:
    """Yields the origin of the stand-in."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Model)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
