"""Memories to review, in a real Chromium: choosing many at once is what its script is for."""

import pytest
from playwright.sync_api import BrowserContext, expect

from backread.settings import Settings
from tests.e2e.test_browser import (
    chromium,
    complaints,
    context,
    server,
    set_up,
    tasks,
    upload,
)
from tests.exports import chatgpt_node, chatgpt_tree, zip_bytes

__all__ = ["chromium", "complaints", "context", "server", "tasks"]  # fixtures, and the jobs

pytestmark = [pytest.mark.browser, pytest.mark.parametrize("database", ["sqlite"], indirect=True)]


def remembering() -> bytes:
    nodes = [chatgpt_node("q", None, "user", "Remember this.")]
    for number in range(3):
        node = chatgpt_node(
            f"b{number}", nodes[-1]["id"], "assistant", f"Fact {number}.", recipient="bio"
        )
        nodes.append(node)
    nodes.append(chatgpt_node("a", "b2", "assistant", "Noted."))
    memories = [{"account_uuid": "u", "conversations_memory": "**Work**\n\n- Pots\n- Tiles"}]
    return zip_bytes(
        {"conversations.json": [chatgpt_tree("chat", nodes)], "memories.json": memories}
    )


def test_many_memories_are_chosen_at_once_and_kept_or_dismissed(
    context: BrowserContext, server: Settings, complaints: list[str]
) -> None:
    page = context.new_page()
    set_up(page, server)
    upload(page, "export.zip", remembering())
    page.get_by_role("link", name="Review them").click()
    keep = page.get_by_role("button", name="Keep")
    expect(keep).to_be_disabled()

    page.get_by_label("Choose all", exact=True).check()
    expect(page.get_by_text("5 chosen")).to_be_visible()
    page.get_by_label("Choose all from ChatGPT").uncheck()
    expect(page.get_by_text("2 chosen")).to_be_visible()

    name = page.get_by_label("Name of the new bucket")
    expect(name).to_be_hidden()
    page.get_by_label("Bucket", exact=True).select_option("new")
    keep.click()  # refused by the browser itself: the bucket has no name
    expect(name).to_be_focused()
    name.fill("Studio")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.method))
    keep.dblclick()
    expect(page.get_by_role("status")).to_contain_text("Kept 2 memories")
    assert sent.count("POST") == 1

    page.get_by_label("Choose all", exact=True).check()
    page.get_by_label("Bucket", exact=True).select_option("new")
    page.get_by_role("button", name="Dismiss").click()  # needs no bucket, and so no name
    expect(page.get_by_role("status")).to_contain_text("Dismissed 3 suggestions")
    expect(page.get_by_role("heading", name="Nothing to review")).to_be_visible()
    assert complaints == []
