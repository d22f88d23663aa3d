"""Embeddings from an endpoint that speaks OpenAI's API: a cloud, or a model server of your own."""

import threading
from collections.abc import Sequence

import numpy as np
from openai import APIConnectionError, APIStatusError, OpenAI, OpenAIError
from openai.types import CreateEmbeddingResponse

from backread.errors import Unavailable
from backread.llm.embedding import Vectors
from backread.llm.texts import prefixes_of, sendable

DEFAULT_BASE_URL = "https://api.openai.com/v1"

_BATCH_TEXTS = 64
_MOST_CHARACTERS = 16_000  # what is beyond this is not read; passages are far shorter
# Endpoints that take less say so in one of these ways, llama.cpp's server with a 500. A text is
# shortened down to this before it is given up.
_TOO_LARGE = frozenset({400, 413, 422})
_LEAST_CHARACTERS = 250
# A person waits for a query. Passages are embedded in the background, where patience pays.
_QUERY_SECONDS, _QUERY_RETRIES = 10.0, 1
_PASSAGE_SECONDS, _PASSAGE_RETRIES = 120.0, 4


class OpenAICompatibleEmbedder:
    """A model behind `POST <base_url>/embeddings`.

    The length of its vectors is what its first answer has. What is too much for the endpoint is
    sent in smaller batches, and of a single text its beginning, so that no text holds up the
    others. Raises Unavailable when the endpoint cannot be reached, refuses, or answers with
    anything but one vector of that length, made of finite numbers, for each text.
    """

    def __init__(self, model: str, *, base_url: str, api_key: str) -> None:
        self._model = model
        self._base_url = base_url or DEFAULT_BASE_URL
        # The client insists on a key; servers of one's own mostly ignore it.
        self._client = OpenAI(base_url=self._base_url, api_key=api_key or "none")
        self._query_prefix, self._passage_prefix = prefixes_of(model)
        self._lock = threading.Lock()
        self._dimensions = 0

    @property
    def signature(self) -> str:
        return f"openai:{self._model}"

    @property
    def dimensions(self) -> int:
        """Asks the endpoint when nothing was embedded yet."""
        if not self._dimensions:
            self.embed_queries(["dimensions"])
        return self._dimensions

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        client = self._client.with_options(timeout=_PASSAGE_SECONDS, max_retries=_PASSAGE_RETRIES)
        return self._embed(client, [self._passage_prefix + text for text in texts])

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        client = self._client.with_options(timeout=_QUERY_SECONDS, max_retries=_QUERY_RETRIES)
        return self._embed(client, [self._query_prefix + text for text in texts])

    def _embed(self, client: OpenAI, texts: Sequence[str]) -> Vectors:
        # Endpoints refuse an input of nothing but spaces; a full stop says as little.
        inputs = [sendable(text[:_MOST_CHARACTERS]) if text.strip() else "." for text in texts]
        rows = [
            self._ask(client, inputs[start : start + _BATCH_TEXTS])
            for start in range(0, len(inputs), _BATCH_TEXTS)
        ]
        if not rows:
            return np.empty((0, self.dimensions), dtype=np.float32)
        return np.concatenate(rows)

    def _ask(self, client: OpenAI, texts: list[str]) -> Vectors:
        try:
            answer = client.embeddings.create(
                model=self._model, input=texts, encoding_format="float"
            )
        except APIStatusError as error:
            smaller = _smaller(texts) if _may_be_too_large(error) else None
            if smaller is not None:
                return np.concatenate([self._ask(client, some) for some in smaller])
            raise Unavailable(
                f"The embeddings endpoint refused with status {error.status_code}: "
                f"{error.message}.",
                hint="Check BACKREAD_EMBEDDING_MODEL, BACKREAD_EMBEDDING_BASE_URL and "
                "BACKREAD_EMBEDDING_API_KEY.",
            ) from error
        except APIConnectionError as error:
            raise Unavailable(
                f"The embeddings endpoint {self._base_url} cannot be reached: {error.message}",
                hint="Check BACKREAD_EMBEDDING_BASE_URL and that the endpoint runs.",
            ) from error
        except (OpenAIError, ValueError) as error:
            raise self._bad_answer(str(error)) from error
        return self._checked(answer, len(texts))

    def _checked(self, answer: CreateEmbeddingResponse, expected: int) -> Vectors:
        if len(answer.data) != expected:
            raise self._bad_answer(f"{len(answer.data)} vectors for {expected} texts")
        ordered = [item.embedding for item in sorted(answer.data, key=lambda item: item.index)]
        lengths = {len(vector) for vector in ordered}
        with self._lock:
            known = self._dimensions or len(ordered[0])
            if lengths != {known} or not known:
                raise self._bad_answer(f"vectors of length {sorted(lengths)} instead of {known}")
            self._dimensions = known
        rows = np.array(ordered, dtype=np.float32)
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        if not np.all(np.isfinite(norms)) or not np.all(norms > 0):
            raise self._bad_answer("a vector that is zero or not made of finite numbers")
        rows /= norms
        return rows

    def _bad_answer(self, what: str) -> Unavailable:
        return Unavailable(
            f"The embeddings endpoint gave an answer that cannot be used: {what}.",
            hint=f"Check that {self._model!r} at {self._base_url} is an embedding model.",
        )


def _may_be_too_large(error: APIStatusError) -> bool:
    return error.status_code in _TOO_LARGE or (
        error.status_code == 500 and "too large" in error.message
    )


def _smaller(texts: list[str]) -> tuple[list[str], ...] | None:
    """Two halves of a batch, or the first half of a single text; None when it is small already."""
    if len(texts) > 1:
        middle = len(texts) // 2
        return texts[:middle], texts[middle:]
    half = len(texts[0]) // 2
    return ([sendable(texts[0][:half])],) if half >= _LEAST_CHARACTERS else None
