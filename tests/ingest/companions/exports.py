"""Companions of a Claude export, with invented words."""

from typing import Any


def memories(text: str = "Ada runs a pottery.", **more: Any) -> dict[str, Any]:
    return {"account_uuid": "account-1", "conversations_memory": text} | more


def document(number: int = 1, content: str = "Fire slowly.", **more: Any) -> dict[str, Any]:
    return {
        "uuid": f"document-{number}",
        "filename": f"note-{number}.md",
        "content": content,
        "created_at": "2026-02-01T07:24:00.000000+00:00",
    } | more


def project(*documents: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "uuid": "project-1",
        "name": "Glazes",
        "description": "",
        "prompt_template": "",
        "created_at": "2026-01-01T00:00:00.000000+00:00",
        "updated_at": "2026-03-01T00:00:00.000000+00:00",
        "docs": list(documents),
    } | more
