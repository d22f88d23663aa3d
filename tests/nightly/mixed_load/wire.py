"""As little HTTP as a load needs: the machine belongs to the server."""

import asyncio
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Self

Headers = tuple[tuple[str, str], ...]


class Wire:
    """One kept connection. Requests go over it one after another; one that the server has closed
    meanwhile is opened again."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()

    async def ask(self, path: str, headers: Headers, body: bytes) -> tuple[int, bytes]:
        """Status and body of a POST. Raises ConnectionError."""
        reader = await self._send("POST", path, headers, body)
        status, fields = await _head(reader)
        if "content-length" in fields:
            answer = await reader.readexactly(int(fields["content-length"]))
        elif fields.get("transfer-encoding") == "chunked":
            answer = b"".join([part async for part in _chunks(reader)])
        else:
            answer = b""
        if fields.get("connection") == "close":
            self._close()
        return status, answer

    async def events(self, path: str, headers: Headers) -> AsyncIterator[tuple[str, str]]:
        """Name and data of each event of a stream, for as long as it is open."""
        reader = await self._send("GET", path, headers, b"")
        status, _ = await _head(reader)
        if status != 200:
            raise ConnectionError(f"a stream was answered with {status}")
        name, rest = "", b""
        async for part in _chunks(reader):
            *lines, rest = (rest + part).split(b"\n")
            for line in (each.decode().rstrip("\r") for each in lines):
                if line.startswith("event:"):
                    name = line.removeprefix("event:").strip()
                elif line.startswith("data:"):
                    yield name, line.removeprefix("data:").strip()

    async def _send(
        self, method: str, path: str, headers: Headers, body: bytes
    ) -> asyncio.StreamReader:
        if self._reader is None or self._writer is None or self._reader.at_eof():
            self._reader, self._writer = await asyncio.open_connection(
                "127.0.0.1", self._port, limit=2**20
            )
        lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{self._port}"]
        lines += [f"{name}: {value}" for name, value in headers]
        lines += [f"Content-Length: {len(body)}", "", ""]
        self._writer.write("\r\n".join(lines).encode("latin-1") + body)
        return self._reader

    def _close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None


async def _head(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as error:
        raise ConnectionError("the server closed the connection") from error
    first, *lines = head.decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in lines if line)
    return int(first.split()[1]), {name.lower(): value.strip() for name, _, value in pairs}


async def _chunks(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while size := int(await reader.readuntil(b"\r\n"), 16):
        yield (await reader.readexactly(size + 2))[:-2]
    await reader.readexactly(2)
