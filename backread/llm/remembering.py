"""The same text is not embedded twice: an embedder that remembers what it was given last."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from backread.llm.embedding import Embedder, Vectors

_PASSAGES = 8_192  # about 12 MB at 384 numbers a text
_QUERIES = 256


class RememberingEmbedder:
    """Another embedder, and the vectors of the last texts by the hash of their content.

    Chats repeat themselves: the same greeting, the same pasted file, the same question asked by
    an agent again. Nothing is kept beyond this process, so what is deleted leaves no vector.
    Threads may share it.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._passages = _Memory(_PASSAGES)
        self._queries = _Memory(_QUERIES)

    @property
    def signature(self) -> str:
        return self._embedder.signature

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._rows(texts, self._passages, self._embedder.embed_passages)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._rows(texts, self._queries, self._embedder.embed_queries)

    def _rows(
        self,
        texts: Sequence[str],
        memory: "_Memory",
        embed: Callable[[Sequence[str]], Vectors],
    ) -> Vectors:
        keys = [_key(text) for text in texts]
        known = memory.recall(keys)
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if new or not keys:
            rows = embed(list(new.values()))
            if not keys:
                return rows
            fresh = dict(zip(new, rows, strict=True))
            memory.keep(fresh)
            known |= fresh
        return np.stack([known[key] for key in keys])


class _Memory:
    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._rows: OrderedDict[bytes, NDArray[np.float32]] = OrderedDict()

    def recall(self, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        found = {}
        with self._lock:
            for key in keys:
                row = self._rows.get(key)
                if row is not None:
                    self._rows.move_to_end(key)
                    found[key] = row
        return found

    def keep(self, rows: dict[bytes, NDArray[np.float32]]) -> None:
        with self._lock:
            for key, row in rows.items():
                self._rows[key] = row.copy()  # a view would keep its whole batch
            while len(self._rows) > self._most:
                self._rows.popitem(last=False)


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
