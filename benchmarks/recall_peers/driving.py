"""Runs inside the environment of one system: indexes conversations, then asks the questions.

    PYTHON driving.py SYSTEM JOB.json

Needs nothing but the standard library and the system itself. JOB.json holds `home` (an empty
folder), `conversations` (for each its turns, as pairs of id and text), `questions` (for each
conversation pairs of id and text) and what the system needs (see `benchmarks.recall_peers`).

It says on its standard output where it is, one JSON object a line, and waits for a line before it
goes on, so that processor time can be read in between; the last object holds what was found.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

DEPTH = 20
Pairs = Sequence[Sequence[str]]


class System(Protocol):
    """One system, asked by its own interface. A conversation is a haystack of its own.

    `ways` are the kinds of search that it offers, of which each is asked everything.
    """

    @property
    def ways(self) -> Sequence[str]: ...

    async def index(self, conversation: str, turns: Pairs) -> None: ...

    async def ask(self, conversation: str, question: str, way: str) -> list[str]:
        """Ids of turns, best first, at most DEPTH."""
        ...


class Txtai:
    """`Embeddings(path=…, hybrid=True)`: BM25 and vectors, weighted equally, as documented."""

    ways = ("hybrid",)

    def __init__(self, job: dict[str, Any]) -> None:
        self._model = job["sentence_model"]
        self._indexes: dict[str, Any] = {}

    async def index(self, conversation: str, turns: Pairs) -> None:
        embeddings = import_module("txtai").Embeddings(path=self._model, hybrid=True)
        embeddings.index([(identifier, text, None) for identifier, text in turns])
        self._indexes[conversation] = embeddings

    async def ask(self, conversation: str, question: str, way: str) -> list[str]:
        return [found[0] for found in self._indexes[conversation].search(question, DEPTH)]


class Memsearch:
    """Milvus Lite: dense and BM25 by RRF, which is what it does always. A file for each turn."""

    ways = ("hybrid",)

    def __init__(self, job: dict[str, Any]) -> None:
        self._home = Path(job["home"])
        self._url = job["embeddings_url"]
        self._indexes: dict[str, Any] = {}
        self._ids: dict[str, str] = {}

    async def index(self, conversation: str, turns: Pairs) -> None:
        folder = self._home / conversation
        folder.mkdir()
        for number, (identifier, text) in enumerate(turns):
            (folder / f"{number}.md").write_text(text, encoding="utf-8")
            self._ids[f"{conversation}/{number}"] = identifier
        searcher = import_module("memsearch").MemSearch(
            [str(folder)],
            embedding_provider="openai",
            embedding_model="minilm",
            embedding_base_url=self._url,
            embedding_api_key="none",
            milvus_uri=str(self._home / f"{conversation}.db"),
        )
        await searcher.index()
        self._indexes[conversation] = searcher

    async def ask(self, conversation: str, question: str, way: str) -> list[str]:
        found = await self._indexes[conversation].search(question, top_k=DEPTH)
        return [self._ids[f"{conversation}/{Path(each['source']).stem}"] for each in found]


class Mempalace:
    """`search_memories`; strategy "union" adds BM25's candidates to Chroma's."""

    ways = ("union", "vector")

    def __init__(self, job: dict[str, Any]) -> None:
        self._home = Path(job["home"])

    async def index(self, conversation: str, turns: Pairs) -> None:
        palace = str(self._home / conversation)
        collection = import_module("mempalace.palace").get_collection(palace, create=True)
        for start in range(0, len(turns), 100):
            part = turns[start : start + 100]
            collection.upsert(
                ids=[identifier for identifier, _ in part],
                documents=[text for _, text in part],
                metadatas=[
                    {"wing": "chats", "room": conversation, "source_file": identifier}
                    for identifier, _ in part
                ],
            )

    async def ask(self, conversation: str, question: str, way: str) -> list[str]:
        found = import_module("mempalace.searcher").search_memories(
            question,
            str(self._home / conversation),
            n_results=DEPTH,
            candidate_strategy=way,
        )
        return [each["source_file"] for each in found["results"]]


class McpMemoryService:
    """`SqliteVecMemoryStorage`: `retrieve_hybrid`, weights as shipped; `retrieve`, the default."""

    ways = ("hybrid", "semantic")

    def __init__(self, job: dict[str, Any]) -> None:
        self._home = Path(job["home"])
        self._stores: dict[str, Any] = {}

    async def index(self, conversation: str, turns: Pairs) -> None:
        package = "mcp_memory_service"
        storage = import_module(f"{package}.storage.sqlite_vec").SqliteVecMemoryStorage(
            str(self._home / f"{conversation}.db")
        )
        await storage.initialize()
        memory = import_module(f"{package}.models.memory").Memory
        hash_of = import_module(f"{package}.utils.hashing").generate_content_hash
        memories = [
            memory(content=text, content_hash=hash_of(text), metadata={"turn": identifier})
            for identifier, text in turns
        ]
        for start in range(0, len(memories), 100):
            await storage.store_batch(memories[start : start + 100])
        self._stores[conversation] = storage

    async def ask(self, conversation: str, question: str, way: str) -> list[str]:
        store = self._stores[conversation]
        search = store.retrieve_hybrid if way == "hybrid" else store.retrieve
        found = await search(question, n_results=DEPTH)
        return [each.memory.metadata["turn"] for each in found]


class BasicMemory:
    """`search_notes` over MCP (stdio), a note for each turn, a project for each conversation."""

    ways = ("hybrid", "text")

    def __init__(self, job: dict[str, Any]) -> None:
        self._home = Path(job["home"])
        self._url = job["embeddings_url"]
        self._program = str(Path(sys.executable).with_name("basic-memory"))
        self._session: Any = None
        self._open: Any = None

    async def index(self, conversation: str, turns: Pairs) -> None:
        if self._session is not None:
            raise RuntimeError("Everything is indexed before the first question.")
        folder = self._home / "notes" / conversation
        folder.mkdir(parents=True)
        self._configure(conversation, folder)
        for identifier, text in turns:
            note = f"---\ntitle: {identifier}\ntype: note\n---\n\n{text}\n"
            (folder / f"{identifier.replace(':', '-')}.md").write_text(note, encoding="utf-8")
        process = await asyncio.create_subprocess_exec(
            self._program, "reindex", "--project", conversation, stdin=subprocess.DEVNULL
        )
        if await process.wait():
            raise RuntimeError("basic-memory could not index.")

    def _configure(self, conversation: str, folder: Path) -> None:
        path = Path.home() / ".basic-memory" / "config.json"
        path.parent.mkdir(exist_ok=True)
        known = json.loads(path.read_text("utf-8"))["projects"] if path.exists() else {}
        settings = {
            "projects": known | {conversation: {"path": str(folder)}},
            "default_project": conversation,
            "semantic_search_enabled": True,
            "semantic_embedding_provider": "litellm",
            "semantic_embedding_model": "openai/minilm",
            "semantic_embedding_dimensions": 384,
            "semantic_embedding_forward_dimensions": False,
            "semantic_embedding_api_base": self._url,
            "semantic_embedding_api_key": "none",
        }
        path.write_text(json.dumps(settings), encoding="utf-8")

    async def ask(self, conversation: str, question: str, way: str) -> list[str]:
        if self._session is None:
            self._open = _mcp_session(self._program)
            self._session = await self._open.__aenter__()
        answer = await self._session.call_tool(
            "search_notes",
            {
                "query": question,
                "project": conversation,
                "search_type": way,
                "page_size": DEPTH,
                "output_format": "json",
            },
        )
        found = json.loads(answer.content[0].text)
        return [each["title"] for each in found["results"]]


@asynccontextmanager
async def _mcp_session(program: str) -> AsyncIterator[Any]:
    stdio = import_module("mcp.client.stdio")
    mcp = import_module("mcp")
    parameters = stdio.StdioServerParameters(
        command=program, args=["mcp"], env={**os.environ, "BASIC_MEMORY_LOG_LEVEL": "ERROR"}
    )
    async with (
        stdio.stdio_client(parameters) as (reading, writing),
        mcp.ClientSession(reading, writing) as session,
    ):
        await session.initialize()
        yield session


SYSTEMS: dict[str, type[Any]] = {
    "txtai": Txtai,
    "memsearch": Memsearch,
    "mempalace": Mempalace,
    "mcp-memory-service": McpMemoryService,
    "basic-memory": BasicMemory,
}


class Channel:
    """Standard output for this program alone: what a system prints goes to standard error."""

    def __init__(self) -> None:
        self._lines = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)

    def say(self, **fields: object) -> None:
        """Returns when the other side has taken note."""
        self._lines.write(json.dumps(fields) + "\n")
        self._lines.flush()
        sys.stdin.readline()


async def drive(system: System, job: dict[str, Any]) -> None:
    """The first question is asked once before the measured ones: models load with it."""
    channel = Channel()
    channel.say(at="started")
    for conversation, turns in job["conversations"].items():
        await system.index(conversation, turns)
    channel.say(at="indexed")
    for way in system.ways:
        conversation, questions = next(iter(job["questions"].items()))
        await system.ask(conversation, questions[0][1], way)
        channel.say(at="warm")
        ranked: dict[str, list[str]] = {}
        for conversation, questions in job["questions"].items():
            for identifier, question in questions:
                ranked[identifier] = await system.ask(conversation, question, way)
        channel.say(at="asked", way=way, ranked=ranked)


if __name__ == "__main__":
    given = json.loads(Path(sys.argv[2]).read_text("utf-8"))
    asyncio.run(drive(SYSTEMS[sys.argv[1]](given), given))
    sys.stdout.flush()
    os._exit(0)  # servers that a system left running would keep the interpreter waiting
