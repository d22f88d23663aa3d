"""Embedding models that fastembed runs on onnxruntime, on this machine.

Texts are embedded in batches of like length, because every text of a batch costs as much as the
longest. A model given by name is downloaded to the data folder on first use; the packaged one
(`packaged_minilm.py`) is not.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Protocol

import numpy as np

from backread.llm.embedding import Vectors
from backread.llm.providers import Wanted
from backread.llm.texts import prefixes_of, sendable

_BATCH_TEXTS = 32
_BATCH_TOKENS = 512
_BYTES_PER_TOKEN = 4  # roughly, in any script; only used to form batches


class _Model(Protocol):
    """What is used of fastembed's TextEmbedding."""

    def embed(self, documents: list[str], batch_size: int) -> Iterator[Vectors]: ...


class FastembedEmbedder:
    """Any model that fastembed lists, or one registered with it. Loads on first use, once, from
    whichever thread comes first.

    Raises InvalidInput when there is no such model, Unavailable when it cannot be loaded. In a
    model computed in int8 a vector depends a little on the texts embedded beside it, because the
    scale of a batch is shared.
    """

    def __init__(
        self,
        model_name: str,
        *,
        signature: str,
        threads: int,
        cache_dir: Path,
        provider: Wanted = "auto",
        prepare: Callable[[], Path] | None = None,
    ) -> None:
        """`prepare` returns the folder of a model that is here already, which keeps fastembed
        from looking for it on a hub."""
        self._name = model_name
        self._signature = signature
        self._threads = threads
        self._cache_dir = cache_dir
        self._provider = provider
        self._prepare = prepare
        self._query_prefix, self._passage_prefix = prefixes_of(model_name)
        self._lock = threading.Lock()
        self._model: _Model | None = None

    @property
    def signature(self) -> str:
        return self._signature

    @cached_property
    def dimensions(self) -> int:
        return int(_library("embedding_size")(self._name))

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._embed([self._passage_prefix + sendable(text) for text in texts])

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed([self._query_prefix + sendable(text) for text in texts])

    def _embed(self, texts: list[str]) -> Vectors:
        rows = np.empty((len(texts), self.dimensions), dtype=np.float32)
        if not texts:
            return rows
        model = self._loaded()
        for places in _batches(texts):
            batch = [texts[place] for place in places]
            for place, row in zip(places, model.embed(batch, batch_size=len(batch)), strict=True):
                rows[place] = row
        return _unit_rows(rows)

    def _loaded(self) -> _Model:
        with self._lock:
            if self._model is None:
                folder = None if self._prepare is None else self._prepare()
                self._model = _library("load_model")(
                    self._name,
                    threads=self._threads,
                    cache_dir=self._cache_dir,
                    provider=self._provider,
                    folder=folder,
                )
            return self._model


def _library(name: str) -> Any:
    """A function of `fastembed_loader`, which takes seconds to import: not before it is needed,
    so that a command that only reads the model's name does not wait."""
    return resolve_name(f"backread.llm.fastembed_loader:{name}")


def _batches(texts: Sequence[str]) -> Iterator[list[int]]:
    """Places of the texts, grouped so that those of a group are about equally long."""
    sizes = [len(text.encode()) for text in texts]
    batch: list[int] = []
    for place in sorted(range(len(texts)), key=sizes.__getitem__, reverse=True):
        longest = sizes[batch[0]] // _BYTES_PER_TOKEN + 1 if batch else 0
        if batch and (len(batch) == _BATCH_TEXTS or (len(batch) + 1) * longest > _BATCH_TOKENS):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def _unit_rows(rows: Vectors) -> Vectors:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    rows /= np.maximum(lengths, np.finfo(np.float32).tiny)
    return rows
