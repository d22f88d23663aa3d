"""MiniLM behind an OpenAI-compatible `/v1/embeddings`, for systems that only speak that.

    python -m benchmarks.recall_peers.embedding_server FOLDER

FOLDER holds `model.onnx` and `tokenizer.json`. Listens on a free port of 127.0.0.1 and prints it.
One thread, texts padded to the longest of their batch: the cheapest way to serve this model.
"""

import base64
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

_MAX_TOKENS = 256
_BATCH = 16


class Model:
    """Texts to unit vectors, by the mean of their tokens."""

    def __init__(self, folder: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options)
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(_MAX_TOKENS)
        self._tokenizer.enable_padding()

    def embed(self, texts: list[str]) -> NDArray[np.float32]:
        by_length = sorted(range(len(texts)), key=lambda number: len(texts[number]))
        vectors = np.zeros((len(texts), 384), dtype=np.float32)
        for start in range(0, len(texts), _BATCH):
            part = by_length[start : start + _BATCH]
            vectors[part] = self._embed_batch([texts[number] for number in part])
        return vectors

    def _embed_batch(self, texts: list[str]) -> NDArray[np.float32]:
        encoded = self._tokenizer.encode_batch(texts)
        mask = np.array([each.attention_mask for each in encoded], dtype=np.int64)
        (states,) = self._session.run(
            ["last_hidden_state"],
            {
                "input_ids": np.array([each.ids for each in encoded], dtype=np.int64),
                "attention_mask": mask,
                "token_type_ids": np.zeros_like(mask),
            },
        )
        summed = (np.asarray(states) * mask[..., None]).sum(axis=1)
        unit: NDArray[np.float32] = summed / np.linalg.norm(summed, axis=1, keepdims=True)
        return unit


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: Model

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = asked["input"]
        vectors = self.model.embed([texts] if isinstance(texts, str) else texts)
        packed = asked.get("encoding_format") == "base64"
        answer = {
            "object": "list",
            "model": asked["model"],
            "data": [
                {"object": "embedding", "index": number, "embedding": _written(vector, packed)}
                for number, vector in enumerate(vectors)
            ],
            "usage": {"prompt_tokens": 0, "total_tokens": 0},
        }
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Says nothing: a line for each of thousands of requests helps nobody."""


def _written(vector: NDArray[np.float32], packed: bool) -> object:
    return base64.b64encode(vector.tobytes()).decode() if packed else vector.tolist()


def main() -> None:
    Handler.model = Model(Path(sys.argv[1]))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
