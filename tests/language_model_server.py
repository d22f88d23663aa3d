"""A chat-completions endpoint on loopback that answers as it is told to, real HTTP and all."""

import json
import socket
import struct
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any

Asked = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Say:
    """A completion. `usage` None leaves it out, as some servers do."""

    content: Any = ""
    finish: str = "stop"
    usage: tuple[int, int] | None = (100, 20)
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class Fail:
    """An error as OpenAI words it."""

    status: int
    message: str = "something"
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Raw:
    """Anything at all."""

    body: bytes
    status: int = 200
    content_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class Hang:
    """Takes the request and says nothing for as long as the server lives."""


@dataclass(frozen=True, slots=True)
class Disconnect:
    """Takes the request and hangs up; `halfway`: within its answer."""

    halfway: bool = False


Step = Say | Fail | Raw | Hang | Disconnect


def say_json(**values: Any) -> Say:
    return Say(json.dumps(values, ensure_ascii=False))


class LanguageModelServer:
    """`script` is played first, a step for each request; then `answer` is asked."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.script: deque[Step] = deque()
        self.answer: Callable[[Asked], Step] = lambda asked: say_json(text="fine")
        self.base_url = ""
        self.most_at_once = 0
        self._at_once = 0
        self._ending = Event()
        self._lock = Lock()

    def play(self, *steps: Step) -> None:
        self.script.extend(steps)

    @property
    def calls(self) -> int:
        return len(self.asked)

    def take(self, asked: Asked, headers: dict[str, str], path: str) -> Step:
        with self._lock:
            self.asked.append(asked)
            self.headers.append(headers)
            self.paths.append(path)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            step = self.script.popleft() if self.script else None
        return step if step is not None else self.answer(asked)

    def done(self) -> None:
        with self._lock:
            self._at_once -= 1

    def wait_for_end(self) -> None:
        self._ending.wait(30)

    def end(self) -> None:
        self._ending.set()


def completion(step: Say, model: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": step.content}
    if step.refusal is not None:
        message["refusal"] = step.refusal
    answer: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": step.finish}],
    }
    if step.usage is not None:
        tokens_in, tokens_out = step.usage
        answer["usage"] = {
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "total_tokens": tokens_in + tokens_out,
        }
    return answer


@contextmanager
def language_model_server() -> Iterator[LanguageModelServer]:
    endpoint = LanguageModelServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            step = endpoint.take(asked, headers, self.path)
            try:
                self._carry_out(step, asked)
            finally:
                endpoint.done()

        def _carry_out(self, step: Step, asked: Asked) -> None:
            if isinstance(step, Say):
                body = json.dumps(completion(step, asked["model"])).encode()
                self._send(200, body)
            elif isinstance(step, Fail):
                error = {"error": {"message": step.message, "type": "error", "code": None}}
                self._send(step.status, json.dumps(error).encode(), step.headers)
            elif isinstance(step, Raw):
                self._send(step.status, step.body, content_type=step.content_type)
            elif isinstance(step, Hang):
                endpoint.wait_for_end()
                self.close_connection = True
            else:
                self._hang_up(halfway=step.halfway)

        def _send(
            self,
            status: int,
            body: bytes,
            headers: dict[str, str] | None = None,
            content_type: str = "application/json",
        ) -> None:
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def _hang_up(self, *, halfway: bool) -> None:
            if halfway:
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", "1000")
                self.end_headers()
                self.wfile.write(b'{"choices": [{"mess')
                self.wfile.flush()
            # A reset, as a process that was killed leaves it.
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        endpoint.base_url = f"http://127.0.0.1:{server.server_port}/v1"
        try:
            yield endpoint
        finally:
            endpoint.end()
            server.shutdown()
            thread.join()
