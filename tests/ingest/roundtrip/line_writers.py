"""Writers of the formats whose chats are one line of messages."""

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from backread.domain import Role
from tests.ingest.roundtrip.base import Writer
from tests.ingest.roundtrip.chats import Chat, Said, Times
from tests.ingest.roundtrip.json_text import as_lines, json_bytes
from tests.ingest.roundtrip.tree_writers import iso


def _is_user(said: Said) -> bool:
    return said.role is Role.USER


def _ms(said: Said) -> int:
    return int(said.at.timestamp() * 1000)


def _roles(chat: Chat) -> list[dict[str, Any]]:
    return [{"role": said.role.value, "content": said.text} for said in chat.line]


def _codex(chat: Chat) -> bytes:
    """Each turn as an event and as an item for the model, as most versions write it."""
    start = iso(chat.line[0])
    meta = {"id": chat.id, "timestamp": start, "cwd": "/home/ada", "cli_version": "0.100.0"}
    lines: list[Any] = [{"timestamp": start, "type": "session_meta", "payload": meta}]
    for said in chat.line:
        at = iso(said)
        if _is_user(said):
            turn = {"type": "task_started", "turn_id": said.id}
            lines.append({"timestamp": at, "type": "event_msg", "payload": turn})
        block = {"type": "input_text" if _is_user(said) else "output_text", "text": said.text}
        item = {"type": "message", "role": said.role.value, "content": [block]}
        event = {
            "type": "user_message" if _is_user(said) else "agent_message",
            "message": said.text,
        }
        lines.append({"timestamp": at, "type": "response_item", "payload": item})
        lines.append({"timestamp": at, "type": "event_msg", "payload": event})
    return as_lines(lines)


def _copilot_cli(chat: Chat) -> bytes:
    lines: list[Any] = [
        {
            "type": "session.start",
            "data": {"sessionId": chat.id, "startTime": iso(chat.line[0])},
            "id": "start",
            "timestamp": iso(chat.line[0]),
            "parentId": None,
        }
    ]
    for said in chat.line:
        lines.append(
            {
                "type": f"{said.role.value}.message",
                "data": {"content": said.text},
                "id": said.id,
                "timestamp": iso(said),
                "parentId": said.parent or "start",
            }
        )
    return as_lines(lines)


def _cursor(chat: Chat) -> bytes:
    headers = [{"bubbleId": said.id, "type": 1 if _is_user(said) else 2} for said in chat.line]
    composer = {
        "composerId": chat.id,
        "name": chat.title,
        "createdAt": _ms(chat.line[0]),
        "fullConversationHeadersOnly": headers,
    }
    rows = [(f"composerData:{chat.id}", json_bytes(composer).decode())]
    for said, header in zip(chat.line, headers, strict=True):
        bubble = header | {"text": said.text, "createdAt": iso(said)}
        rows.append((f"bubbleId:{chat.id}:{said.id}", json_bytes(bubble).decode()))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.vscdb"
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("CREATE TABLE cursorDiskKV (key TEXT UNIQUE, value BLOB)")
            database.executemany("INSERT INTO cursorDiskKV VALUES (?, ?)", rows)
        return path.read_bytes()


def _gemini_cli(chat: Chat) -> bytes:
    start = iso(chat.line[0])
    about = {"sessionId": chat.id, "projectHash": "abc", "startTime": start, "lastUpdated": start}
    messages = [
        {
            "id": said.id,
            "timestamp": iso(said),
            "type": "user" if _is_user(said) else "gemini",
            "content": said.text,
        }
        for said in chat.line
    ]
    return json_bytes(about | {"kind": "main", "messages": messages})


def _gemini_aistudio(chat: Chat) -> bytes:
    chunks = [
        {
            "text": said.text,
            "role": "user" if _is_user(said) else "model",
            "createTime": iso(said),
        }
        for said in chat.line
    ]
    settings = {"model": "models/gemini-2.5-pro"}
    return json_bytes({"runSettings": settings, "chunkedPrompt": {"chunks": chunks}})


def _lechat(chat: Chat) -> bytes:
    messages = [
        {
            "id": said.id,
            "version": 0,
            "chatId": chat.id,
            "content": said.text,
            "contentChunks": None if _is_user(said) else [{"type": "text", "text": said.text}],
            "role": said.role.value,
            "createdAt": iso(said),
            "files": [],
        }
        for said in chat.line
    ]
    return json_bytes(sorted(messages, key=lambda message: str(message["content"])[::-1]))


def _perplexity(chat: Chat) -> bytes:
    entries = [
        {
            "uuid": asked.id,
            "query": asked.text,
            "answer": answer.text if answer else "",
            "timestamp": iso(asked),
        }
        for asked, answer in chat.pairs
    ]
    return json_bytes(
        {
            "metadata": {"thread_title": chat.title, "thread_id": chat.id},
            "conversations": entries,
        }
    )


def _vscode_copilot(chat: Chat) -> bytes:
    requests = [
        {
            "requestId": asked.id,
            "message": {"text": asked.text, "parts": []},
            "response": [{"value": answer.text}] if answer else [],
            "timestamp": _ms(asked),
        }
        for asked, answer in chat.pairs
    ]
    about = {"version": 3, "sessionId": chat.id, "responderUsername": "GitHub Copilot"}
    return json_bytes(about | {"requesterUsername": "ada", "requests": requests})


def _typingmind(chat: Chat) -> bytes:
    messages = [
        {"uuid": said.id, "role": said.role.value, "content": said.text, "createdAt": iso(said)}
        for said in chat.line
    ]
    inner = {"id": chat.id, "chatID": chat.id, "chatTitle": chat.title, "messages": messages}
    return json_bytes({"data": {"chats": [inner], "folders": []}})


def _chatbotui(chat: Chat) -> bytes:
    history = {
        "id": chat.id,
        "name": chat.title,
        "messages": _roles(chat),
        "model": {"id": "gpt-4", "name": "GPT-4"},
        "prompt": "Be kind.",
        "temperature": 1,
        "folderId": None,
    }
    return json_bytes({"version": 4, "history": [history], "folders": [], "prompts": []})


def _character_ai(chat: Chat) -> bytes:
    messages = [
        {
            "id": place,
            "uuid": said.id,
            "text": said.text,
            "src": {"name": "x" if _is_user(said) else "Captain", "is_human": _is_user(said)},
        }
        for place, said in enumerate(chat.line)
    ]
    history = {"external_id": chat.id, "created": iso(chat.line[0]), "msgs": messages}
    return json_bytes(
        {"info": {"character": {"name": "Captain"}}, "histories": {"histories": [history]}}
    )


def _sillytavern(chat: Chat) -> bytes:
    header = {
        "user_name": "Ada",
        "character_name": "Keeper",
        "create_date": "2025-3-5@12h 00m 00s",
        "chat_metadata": {"integrity": chat.id},
    }
    lines = [
        {
            "name": "Ada" if _is_user(said) else "Keeper",
            "is_user": _is_user(said),
            "send_date": _ms(said),
            "mes": said.text,
        }
        for said in chat.line
    ]
    return as_lines([header, *lines])


def _transcript_lines(chat: Chat) -> bytes:
    return as_lines(
        message | {"timestamp": iso(said)}
        for message, said in zip(_roles(chat), chat.line, strict=True)
    )


LINE_WRITERS = [
    Writer("codex", "rollout.jsonl", _codex),
    Writer("copilot_cli", "events.jsonl", _copilot_cli),
    Writer("cursor", "state.vscdb", _cursor),
    Writer("gemini_cli", "session.json", _gemini_cli),
    Writer("gemini_aistudio", "prompt", _gemini_aistudio),
    Writer("lechat", "chat.json", _lechat),
    Writer("perplexity", "thread.json", _perplexity, times=Times.PAIR),
    Writer("vscode_copilot", "session.json", _vscode_copilot, times=Times.PAIR),
    Writer("typingmind", "export.json", _typingmind),
    Writer("chatbotui", "export.json", _chatbotui, times=Times.NONE),
    Writer("character_ai", "dumper.json", _character_ai, times=Times.NONE),
    Writer("sillytavern", "chat.jsonl", _sillytavern),
    Writer("transcript", "messages.jsonl", _transcript_lines, needs_answer=True),
]
