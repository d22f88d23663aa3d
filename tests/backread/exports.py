"""Small invented exports for tests that drive the product from outside."""

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_START = 1_710_000_000.0  # 9 March 2024

GARDEN = [
    ("user", "Which tomatoes grow on a balcony that faces north?"),
    ("assistant", "Choose the cherry variety Zuckertraube; it bears fruit with little sun."),
]
BOILER = [
    ("user", "The boiler shows error E47. What does it mean?"),
    ("assistant", "E47 says that the pressure sensor is blocked. Bleed the radiator first."),
]


def write_chatgpt_zip(path: Path, chats: Sequence[Sequence[tuple[str, str]]]) -> Path:
    """A ChatGPT data export with one conversation for each list of (role, text)."""
    conversations = [_conversation(number, chat) for number, chat in enumerate(chats)]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps(conversations))
    return path


def _conversation(number: int, chat: Sequence[tuple[str, str]]) -> dict[str, Any]:
    chat_id = f"11111111-0000-4000-8000-{number:012d}"
    mapping: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None}}
    parent = "root"
    for place, (role, text) in enumerate(chat):
        node = f"{chat_id[:-4]}{place:04x}"
        mapping[node] = {
            "id": node,
            "parent": parent,
            "children": [],
            "message": {
                "id": node,
                "author": {"role": role, "name": None, "metadata": {}},
                "create_time": _START + 3600 * number + 60 * place,
                "content": {"content_type": "text", "parts": [text]},
                "status": "finished_successfully",
                "weight": 1.0,
                "metadata": {},
                "recipient": "all",
            },
        }
        mapping[parent].setdefault("children", []).append(node)
        parent = node
    return {
        "title": chat[0][1][:40],
        "create_time": _START + 3600 * number,
        "update_time": _START + 3600 * number + 60 * len(chat),
        "mapping": mapping,
        "current_node": parent,
        "conversation_id": chat_id,
        "id": chat_id,
    }
