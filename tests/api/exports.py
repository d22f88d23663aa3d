"""Small invented ChatGPT exports, with branches where a test wants them."""

import io
import json
import zipfile
from collections.abc import Sequence
from typing import Any

START = 1_740_000_000.0  # 19 February 2025, 21:20 UTC


def message(
    node_id: str,
    parent: str | None,
    role: str,
    text: str,
    *,
    at: float = 0.0,
    metadata: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """One node of a conversation's tree. `at`: seconds after the conversation began."""
    return {
        "id": node_id,
        "parent": parent,
        "children": [],
        "message": {
            "id": node_id,
            "author": {"role": role},
            "create_time": START + at,
            "content": {"content_type": "text", "parts": [text]},
            "metadata": metadata or {},
        },
    }


def conversation(
    nodes: Sequence[dict[str, Any]],
    *,
    title: str = "Rye bread in the mountains",
    identity: str = "c-1",
    current: str = "",
) -> dict[str, Any]:
    mapping = {node["id"]: node for node in nodes}
    for node in nodes:
        if node["parent"] in mapping:
            mapping[node["parent"]]["children"].append(node["id"])
    return {
        "id": identity,
        "conversation_id": identity,
        "title": title,
        "create_time": START,
        "update_time": START + 600,
        "current_node": current or nodes[-1]["id"],
        "mapping": mapping,
    }


def dialogue(*texts: str, title: str = "", identity: str = "c-1") -> dict[str, Any]:
    """A conversation without branches: user and assistant in turn."""
    nodes = [
        message(
            f"{identity}-{number}",
            f"{identity}-{number - 1}" if number else None,
            "assistant" if number % 2 else "user",
            text,
            at=60.0 * number,
        )
        for number, text in enumerate(texts)
    ]
    return conversation(nodes, title=title or texts[0][:40], identity=identity)


def zipped(*conversations: dict[str, Any], name: str = "conversations.json") -> bytes:
    """The export as it comes by mail."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, json.dumps(list(conversations)))
    return buffer.getvalue()
