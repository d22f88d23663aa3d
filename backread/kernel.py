"""The shared parts of a running process, opened once and handed down.

Each process (web server, worker, command line) makes one `Kernel` after it has forked. Parts open
on first use, so a command that needs only the database does not load a model.
"""

from functools import cached_property

from backread.llm.embedding import Embedder
from backread.llm.language.model import LanguageModel
from backread.llm.language.open import open_language_model
from backread.metering import StoreLedger
from backread.serving import ServingModel
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
        return open_index(self.settings, lambda: self.embedder.signature)

    @cached_property
    def models(self) -> ServingModel:
        return ServingModel(self.settings, lambda: self.store)

    @property
    def embedder(self) -> Embedder:
        """The embedding model that questions are answered with now."""
        return self.models.current()

    @cached_property
    def language_model(self) -> LanguageModel | None:
        """None when none is configured: then everything works without one."""
        return open_language_model(self.settings, StoreLedger(self.store, self.settings))

    @property
    def dense_signature(self) -> str:
        """What a passage or memory is marked with once its vector is indexed: the model, and the
        index it is in, because an index that was made anew has no vectors."""
        return self.signature_with(self.embedder)

    def signature_with(self, embedder: Embedder) -> str:
        """The same for a given model. For work that takes a while, in which models may change."""
        return f"{embedder.signature}@{self.index.lexical_signature}"

    def warm_up(self) -> None:
        """Loads the embedding model now instead of with the first question, which takes seconds.
        Raises InvalidInput or Unavailable when it cannot be had."""
        self.embedder.embed_queries(["warm up"])

    def close(self) -> None:
        """Closes what was opened."""
        for name in ("index", "store"):
            if name in self.__dict__:
                self.__dict__.pop(name).close()
