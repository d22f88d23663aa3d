"""Vectors kept on disk between runs, so that a change of the ranking is measured in seconds."""

import hashlib
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from backread.kernel import Kernel
from backread.llm.embedding import Embedder, Vectors
from backread.serving import ServingModel


class CachedEmbedder:
    """Gives what the model gave before for the same text, and asks it for the rest.

    The file is bound to the model's signature; another model has rows of its own.
    """

    def __init__(self, embedder: Embedder, file: Path) -> None:
        self._embedder = embedder
        file.parent.mkdir(parents=True, exist_ok=True)
        self._rows = sqlite3.connect(file, check_same_thread=False, timeout=60)
        self._rows.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB)")

    @property
    def signature(self) -> str:
        return self._embedder.signature

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._all("passage", texts, self._embedder.embed_passages)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._all("query", texts, self._embedder.embed_queries)

    def _all(
        self, kind: str, texts: Sequence[str], embed: Callable[[Sequence[str]], Vectors]
    ) -> Vectors:
        keys = [self._key(kind, text) for text in texts]
        known = {key: found for key in set(keys) if (found := self._read(key)) is not None}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            vectors = embed(list(missing.values()))
            for key, vector in zip(missing, vectors, strict=True):
                known[key] = vector
                self._rows.execute(
                    "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
                    (key, vector.astype(np.float32).tobytes()),
                )
            self._rows.commit()
        if not keys:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        return np.stack([known[key] for key in keys])

    def _key(self, kind: str, text: str) -> bytes:
        named = f"{self.signature}\0{kind}\0{text}"
        return hashlib.blake2b(named.encode("utf-8", "replace"), digest_size=16).digest()

    def _read(self, key: bytes) -> Vectors | None:
        row = self._rows.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
        return None if row is None else np.frombuffer(row[0], dtype=np.float32)


class CachedModels(ServingModel):
    """The models of a kernel, with their vectors kept in a file."""

    def __init__(self, kernel: Kernel, file: Path) -> None:
        super().__init__(kernel.settings, lambda: kernel.store)
        self._file = file
        self._cached: dict[str, CachedEmbedder] = {}

    def open(self, name: str) -> Embedder:
        if name not in self._cached:
            self._cached[name] = CachedEmbedder(super().open(name), self._file)
        return self._cached[name]
