"""Backread as one of the systems: stored and indexed as an import does, asked by `search()`.

    python -m benchmarks.recall_peers.backread_driving JOB.json

The same job and the same talk as in `driving`; the job names the folder of the labelled set too,
since Backread is given what an export has: who said it, when, and in which chat.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.migrate import upgrade
from benchmarks.recall_peers.driving import DEPTH, Pairs, drive
from benchmarks.recall_quality.data import read_set
from benchmarks.recall_quality.loading import Loaded, load
from recall.search import SearchQuery, search


class Backread:
    """Default settings, the packaged model, mode "speed"."""

    ways = ("search",)

    def __init__(self, job: dict[str, Any]) -> None:
        self._set = Path(job["set"])
        self._kernel = Kernel(Settings(home=Path(job["home"])))
        upgrade(self._kernel.store)
        self._loaded: dict[str, Loaded] = {}

    async def index(self, conversation: str, turns: Pairs) -> None:
        data = read_set(self._set, [conversation])
        if len(data.documents) != len(turns):
            raise RuntimeError(f"{conversation} is not the same in the set and in the job.")
        self._loaded[conversation] = load(self._kernel, data)

    async def ask(self, conversation: str, question: str, way: str) -> list[str]:
        loaded = self._loaded[conversation]
        result = search(
            self._kernel,
            loaded.principals[conversation],
            SearchQuery(text=question, limit=DEPTH),
        )
        return list(dict.fromkeys(loaded.msg_of[hit.message_id] for hit in result.hits))


if __name__ == "__main__":
    given = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    asyncio.run(drive(Backread(given), given))
