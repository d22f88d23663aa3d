"""An embeddings endpoint on loopback that answers as OpenAI's does."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from backread.llm.hashing import HashingEmbedder

Answer = Callable[[dict[str, Any]], tuple[int, dict[str, Any]]]


class EmbeddingsEndpoint:
    """Keeps what it was asked; `answer` may be replaced to misbehave."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.answer: Answer = well_behaved
        self.base_url = ""


def well_behaved(asked: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """Vectors of length 3, out of order: a client must look at each one's index."""
    rows = HashingEmbedder().embed_passages(asked["input"]) * 3
    data = [
        {"object": "embedding", "index": n, "embedding": row} for n, row in enumerate(rows.tolist())
    ]
    return 200, vectors_answer(data[::-1])


def vectors_answer(data: list[dict[str, Any]]) -> dict[str, Any]:
    usage = {"prompt_tokens": 0, "total_tokens": 0}
    return {"object": "list", "model": "m", "data": data, "usage": usage}


@contextmanager
def embeddings_endpoint() -> Iterator[EmbeddingsEndpoint]:
    endpoint = EmbeddingsEndpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            endpoint.asked.append(asked)
            endpoint.keys.append(self.headers.get("Authorization", ""))
            status, answer = endpoint.answer(asked)
            body = json.dumps(answer).encode()
            self.send_response(status if self.path == "/v1/embeddings" else 404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        endpoint.base_url = f"http://127.0.0.1:{server.server_port}/v1"
        yield endpoint
        server.shutdown()
        thread.join()
