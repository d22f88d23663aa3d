"""Which embedding model answers questions, and every other one that is open beside it.

The database says which: a change of models is for all processes of an installation, and each of
them sees it within `LOOK_SECONDS`. Until it does it goes on with the former model, whose vectors
are still there.
"""

import threading
import time
from collections.abc import Callable

from backread.llm.embedding import Embedder
from backread.llm.open import open_embedder
from backread.settings import Settings
from backread.store.engine import Store
from backread.store.repositories.embedding_models import Role, model_of

LOOK_SECONDS = 1.0


class ServingModel:
    """Opens models by the name that BACKREAD_EMBEDDING_MODEL takes, each once. Threads may
    share it."""

    def __init__(self, settings: Settings, store: Callable[[], Store]) -> None:
        self._settings = settings
        self._store = store
        self._lock = threading.Lock()
        self._opened: dict[str, Embedder] = {}
        self._serving = ""
        self._looked_at = -LOOK_SECONDS

    def current(self) -> Embedder:
        """The model whose vectors are searched now. Raises InvalidInput when there is no model of
        its name any more."""
        if not self._serving or time.monotonic() - self._looked_at >= LOOK_SECONDS:
            self.look_again()
        return self.open(self._serving)

    def open(self, name: str) -> Embedder:
        """Raises InvalidInput when there is no such model. Loading it comes later."""
        with self._lock:
            if name not in self._opened:
                self._opened[name] = open_embedder(self._settings, name)
            return self._opened[name]

    def close(self, name: str) -> None:
        """Lets go of a model, and of the memory that it takes."""
        with self._lock:
            self._opened.pop(name, None)

    def look_again(self) -> None:
        """Asks the database at once, after a change of models by this very process."""
        with self._store().read() as session:
            row = model_of(session, Role.SERVING)
        self._serving = self._settings.embedding_model if row is None else row.name
        self._looked_at = time.monotonic()
