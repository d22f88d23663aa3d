"""Writers of the formats that keep branches."""

from typing import Any

from backread.domain import Role
from tests.exports import chatgpt_node, chatgpt_tree, claude, claude_message
from tests.ingest.roundtrip.base import Writer
from tests.ingest.roundtrip.chats import Chat, Said
from tests.ingest.roundtrip.json_text import as_lines, json_bytes

_CLAUDE_ROOT = "00000000-0000-4000-8000-000000000000"


def iso(said: Said) -> str:
    return said.at.isoformat().replace("+00:00", "Z")


def _children(chat: Chat, parent: str | None) -> list[str]:
    return [said.id for said in chat.messages if said.parent == parent]


def _chatgpt(chat: Chat) -> bytes:
    root: dict[str, Any] = {"id": "root", "parent": None, "children": [], "message": None}
    nodes = [
        chatgpt_node(
            said.id, said.parent or "root", said.role.value, said.text, at=said.at.timestamp()
        )
        for said in chat.messages
    ]
    return json_bytes([chatgpt_tree(chat.id, [root, *nodes], current_node=chat.leaf)])


def _claude_ai(chat: Chat) -> bytes:
    messages: list[str | dict[str, Any]] = [
        claude_message(
            said.id,
            "human" if said.role is Role.USER else "assistant",
            said.text,
            parent=said.parent or _CLAUDE_ROOT,
            created_at=iso(said),
        )
        for said in chat.messages
    ]
    return json_bytes([claude(chat.id, messages, name=chat.title)])


def _deepseek(chat: Chat) -> bytes:
    mapping: dict[str, Any] = {
        "root": {"id": "root", "parent": None, "children": _children(chat, None), "message": None}
    }
    for said in chat.messages:
        kind = "REQUEST" if said.role is Role.USER else "RESPONSE"
        message = {
            "files": [],
            "model": "deepseek-chat",
            "inserted_at": iso(said),
            "fragments": [{"type": kind, "content": said.text}],
        }
        mapping[said.id] = {
            "id": said.id,
            "parent": said.parent or "root",
            "children": _children(chat, said.id),
            "message": message,
        }
    start = iso(chat.messages[0])
    about = {"id": chat.id, "title": chat.title, "inserted_at": start, "updated_at": start}
    return json_bytes([about | {"mapping": mapping}])


def _grok(chat: Chat) -> bytes:
    responses = []
    for said in chat.messages:
        response: dict[str, Any] = {
            "_id": said.id,
            "conversation_id": chat.id,
            "message": said.text,
            "sender": "human" if said.role is Role.USER else "ASSISTANT",
            "create_time": {"$date": {"$numberLong": str(int(said.at.timestamp() * 1000))}},
        }
        if said.parent:
            response["parent_response_id"] = said.parent
        responses.append({"response": response, "share_link": None})
    about = {"id": chat.id, "title": chat.title, "leaf_response_id": chat.leaf}
    about["create_time"] = iso(chat.messages[0])
    return json_bytes({"conversations": [{"conversation": about, "responses": responses}]})


def _openwebui(chat: Chat) -> bytes:
    messages = {
        said.id: {
            "id": said.id,
            "parentId": said.parent,
            "childrenIds": _children(chat, said.id),
            "role": said.role.value,
            "content": said.text,
            "timestamp": int(said.at.timestamp()),
        }
        for said in chat.messages
    }
    inner = {"title": chat.title, "history": {"currentId": chat.leaf, "messages": messages}}
    return json_bytes([{"id": chat.id, "title": chat.title, "chat": inner}])


def _librechat(chat: Chat) -> bytes:
    messages = [
        {
            "messageId": said.id,
            "createdAt": iso(said),
            "isCreatedByUser": said.role is Role.USER,
            "parentMessageId": said.parent or "00000000-0000-0000-0000-000000000000",
            "sender": "User" if said.role is Role.USER else "GPT",
            "text": said.text,
        }
        for said in chat.messages
    ]
    about = {"conversationId": chat.id, "endpoint": "openAI", "title": chat.title}
    return json_bytes(about | {"branches": True, "recursive": False, "messages": messages})


def _claude_code(chat: Chat) -> bytes:
    lines: list[Any] = []
    for said in chat.messages:
        message: dict[str, Any] = {"role": said.role.value, "content": said.text}
        if said.role is Role.ASSISTANT:
            message = {
                "id": f"answer-{said.id}",
                "role": "assistant",
                "model": "claude-opus",
                "content": [{"type": "text", "text": said.text}],
            }
        lines.append(
            {
                "parentUuid": said.parent,
                "isSidechain": False,
                "sessionId": chat.id,
                "type": said.role.value,
                "message": message,
                "uuid": said.id,
                "timestamp": iso(said),
            }
        )
    lines.append({"type": "last-prompt", "leafUuid": chat.leaf, "sessionId": chat.id})
    return as_lines(lines)


TREE_WRITERS = [
    Writer("chatgpt", "conversations.json", _chatgpt, has_branches=True, has_leaf=True),
    Writer("claude_ai", "conversations.json", _claude_ai, has_branches=True),
    Writer("deepseek", "conversations.json", _deepseek, has_branches=True),
    Writer("grok", "prod-grok-backend.json", _grok, has_branches=True, has_leaf=True),
    Writer("openwebui", "chats.json", _openwebui, has_branches=True, has_leaf=True),
    Writer("librechat", "chat.json", _librechat, has_branches=True),
    Writer("claude_code", "session.jsonl", _claude_code, has_branches=True, has_leaf=True),
]
