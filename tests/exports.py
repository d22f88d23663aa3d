"""Small exports in the platforms' formats, with invented words, for the tests of every area."""

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

NOON = 1_709_640_000  # 5 March 2024, 12:00 UTC

GARDEN = (
    "Which tomatoes grow on a balcony that faces north?",
    "Choose the cherry variety Zuckertraube; it bears fruit with little sun.",
)
BOILER = (
    "The boiler shows error E47. What does it mean?",
    "E47 says that the pressure sensor is blocked. Bleed the radiator first.",
)


def chatgpt_message(
    role: str, text: str, *, at: float | None = NOON, **more: Any
) -> dict[str, Any]:
    """`more` overrides the message's own keys."""
    return {
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": at,
        "content": {"content_type": "text", "parts": [text]},
        "status": "finished_successfully",
        "weight": 1.0,
        "metadata": {},
        "recipient": "all",
    } | more


def chatgpt(
    conversation_id: str = "conv-1",
    turns: Sequence[str | dict[str, Any]] = ("When do swifts leave?", "At the end of July."),
    *,
    start: float = NOON,
    **more: Any,
) -> dict[str, Any]:
    """A straight chat: texts alternate between the person and ChatGPT; a dict is a message."""
    mapping: dict[str, Any] = {
        "root": {"id": "root", "parent": None, "children": [], "message": None}
    }
    parent = "root"
    for place, turn in enumerate(turns):
        role = "assistant" if place % 2 else "user"
        message = (
            chatgpt_message(role, turn, at=start + place * 60) if isinstance(turn, str) else turn
        )
        node_id = f"{conversation_id}-n{place}"
        mapping[parent]["children"].append(node_id)
        mapping[node_id] = {"id": node_id, "parent": parent, "children": [], "message": message}
        parent = node_id
    return {
        "conversation_id": conversation_id,
        "title": "Swifts",
        "create_time": float(start),
        "update_time": float(start + len(turns) * 60),
        "current_node": parent,
        "mapping": mapping,
    } | more


def chatgpt_node(
    node_id: str, parent: str | None, role: str, text: str, *, at: float = NOON, **more: Any
) -> dict[str, Any]:
    """One node of a chat with branches; `more` overrides the message's own keys."""
    message = chatgpt_message(role, text, at=at, id=node_id, **more)
    return {"id": node_id, "parent": parent, "children": [], "message": message}


def chatgpt_tree(
    conversation_id: str, nodes: Sequence[dict[str, Any]], **more: Any
) -> dict[str, Any]:
    """A chat with branches. The last node is the one shown, unless `current_node` is given."""
    mapping = {node["id"]: node for node in nodes}
    for node in nodes:
        if node["parent"] in mapping:
            mapping[node["parent"]]["children"].append(node["id"])
    straight = chatgpt(conversation_id, [])
    return straight | {"current_node": nodes[-1]["id"], "mapping": mapping} | more


def claude_message(
    message_id: str, sender: str, text: str, *, parent: str | None = None, **more: Any
) -> dict[str, Any]:
    message: dict[str, Any] = {
        "uuid": message_id,
        "text": text,
        "content": [{"type": "text", "text": text, "citations": []}],
        "sender": sender,
        "created_at": "2024-03-05T12:00:00.000000Z",
        "updated_at": "2024-03-05T12:00:00.000000Z",
        "attachments": [],
        "files": [],
    }
    if parent is not None:
        message["parent_message_uuid"] = parent
    return message | more


def claude(
    conversation_id: str = "chat-1",
    turns: Sequence[str | dict[str, Any]] = ("How hot must a kiln be?", "About 1,240 °C."),
    **more: Any,
) -> dict[str, Any]:
    messages = []
    for place, turn in enumerate(turns):
        sender = "assistant" if place % 2 else "human"
        made = (
            claude_message(f"{conversation_id}-m{place}", sender, turn)
            if isinstance(turn, str)
            else turn
        )
        messages.append(made)
    return {
        "uuid": conversation_id,
        "name": "Kiln",
        "summary": "",
        "created_at": "2024-03-05T12:00:00.000000Z",
        "updated_at": "2024-03-05T12:05:00.000000Z",
        "account": {"uuid": "account-1"},
        "chat_messages": messages,
    } | more


def as_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def as_zip(members: Mapping[str, Any], path: Path) -> Path:
    """Bytes go in as they are, everything else as JSON."""
    path.write_bytes(zip_bytes(members))
    return path


def zip_bytes(members: Mapping[str, Any]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content if isinstance(content, bytes) else as_json(content))
    return packed.getvalue()


def write(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else as_json(content))
    return path


def write_chatgpt_zip(path: Path, chats: Sequence[Sequence[str]]) -> Path:
    """A ChatGPT data export with one straight chat for each list of texts."""
    conversations = [
        chatgpt(f"chat-{number}", texts, title=texts[0][:40], start=NOON + 3600 * number)
        for number, texts in enumerate(chats)
    ]
    return as_zip({"conversations.json": conversations}, path)
