"""What the product asks of an embedding model."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Texts to unit vectors. Deterministic for one `signature`, which is stored with each vector:
    vectors of different signatures are never compared."""

    @property
    def signature(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Rows of length 1, in the order given. Raises Unavailable if the model cannot be had."""
        ...

    def embed_queries(self, texts: Sequence[str]) -> Vectors: ...
