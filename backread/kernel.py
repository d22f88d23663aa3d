"""The shared parts of a running process, opened once and handed down.

Each process (web server, worker, command line) makes one `Kernel` after it has forked. Parts open
on first use, so a command that needs only the database does not load a model.
"""

from functools import cached_property

from backread.llm.embedding import Embedder
from backread.llm.open import open_embedder
from backread.settings import Settings
from backread.store.engine import Store
from backread.vectors.index import VectorIndex
from backread.vectors.open import open_index


class Kernel:
    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    @cached_property
    def store(self) -> Store:
        return Store(self.settings.sqlalchemy_url)

    @cached_property
    def index(self) -> VectorIndex:
        return open_index(self.settings, self.embedder.signature)

    @cached_property
    def embedder(self) -> Embedder:
        return open_embedder(self.settings)

    @property
    def dense_signature(self) -> str:
        """What a passage or memory is marked with once its vector is indexed: the model, and the
        index it is in, because an index that was made anew has no vectors."""
        return f"{self.embedder.signature}@{self.index.lexical_signature}"

    def warm_up(self) -> None:
        """Loads the embedding model now instead of with the first question, which takes seconds.
        Raises InvalidInput or Unavailable when it cannot be had."""
        self.embedder.embed_queries(["warm up"])

    def close(self) -> None:
        """Closes what was opened."""
        for name in ("index", "store"):
            if name in self.__dict__:
                self.__dict__.pop(name).close()
