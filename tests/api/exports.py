"""ChatGPT exports as the web app's tests need them: dated, with branches where one wants them."""

from collections.abc import Sequence
from typing import Any

from tests.exports import chatgpt, chatgpt_node, chatgpt_tree, zip_bytes

START = 1_740_000_000.0  # 19 February 2025, 21:20 UTC


def message(
    node_id: str, parent: str | None, role: str, text: str, *, at: float = 0.0, **more: Any
) -> dict[str, Any]:
    """One node of a conversation's tree. `at`: seconds after the conversation began."""
    return chatgpt_node(node_id, parent, role, text, at=START + at, **more)


def conversation(
    nodes: Sequence[dict[str, Any]],
    *,
    title: str = "Rye bread in the mountains",
    identity: str = "c-1",
    current: str = "",
) -> dict[str, Any]:
    return chatgpt_tree(
        identity,
        nodes,
        title=title,
        create_time=START,
        update_time=START + 600,
        current_node=current or nodes[-1]["id"],
    )


def dialogue(*texts: str, title: str = "", identity: str = "c-1") -> dict[str, Any]:
    """A conversation without branches: user and assistant in turn."""
    return chatgpt(identity, texts, title=title or texts[0][:40], start=START)


def zipped(*conversations: dict[str, Any], name: str = "conversations.json") -> bytes:
    """The export as it comes by mail."""
    return zip_bytes({name: list(conversations)})
