"""An import that brings more than conversations, through the same door as a person's."""

from typing import Any

from starlette.testclient import TestClient

from tests.api.archive import run_jobs
from tests.api.web.pages import csrf_of
from tests.exports import chatgpt_node, chatgpt_tree, zip_bytes

KEY = "sk_live_4eC39HqLyjWDarjtT1zdp7dc"


def bring_finds(browser: TestClient, **members: Any) -> str:
    """Uploads a zip with these members and runs the import; returns its id. Without any: a chat
    in which two memories are written and a key stands, and a Claude project with two files."""
    answer = browser.post(
        "/api/v1/imports",
        files={"files": ("export.zip", zip_bytes(members or _members()))},
        headers={"X-CSRF-Token": csrf_of(browser), "Accept": "application/json"},
    )
    assert answer.status_code == 202, answer.text
    run_jobs(browser)
    return str(answer.json()["id"])


def _members() -> dict[str, Any]:
    return {
        "conversations.json": [
            chatgpt_tree(
                "glazes",
                [
                    chatgpt_node("q", None, "user", f"Remember this. My key is {KEY}"),
                    chatgpt_node("b1", "q", "assistant", "Fires at cone 6.", recipient="bio"),
                    chatgpt_node("b2", "b1", "assistant", "Likes <b>tea</b>.", recipient="bio"),
                    chatgpt_node("a", "b2", "assistant", "Noted."),
                ],
                title="Glazes & tiles",
            )
        ],
        "projects.json": [
            {
                "uuid": "project-1",
                "name": "Kiln & co",
                "description": "",
                "prompt_template": "Be **brief**.",
                "updated_at": "2026-03-01T00:00:00Z",
                "docs": [
                    {
                        "uuid": "d-1",
                        "filename": "../Töpfe.md",
                        "content": "# Pots\n\n<script>alert(1)</script>",
                        "created_at": "2026-02-01T00:00:00Z",
                    }
                ],
            }
        ],
    }
