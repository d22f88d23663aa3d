import re

from starlette.testclient import TestClient

from tests.api.archive import Importer
from tests.api.exports import conversation, dialogue, message
from tests.api.web.pages import conversation_links, links_of, tags_of, text_of


def only_conversation(browser: TestClient) -> str:
    (path,) = conversation_links(browser.get("/conversations").text)
    return path


def anchors(html: str) -> list[str]:
    return [
        attributes["id"] or ""
        for _, attributes in tags_of(html)
        if (attributes.get("id") or "").startswith("m-")
    ]


def branched() -> dict[str, object]:
    """One question asked twice; the platform shows the second way of asking."""
    return conversation(
        [
            message("q", None, "user", "How long does rye bread prove?"),
            message("a", "q", "assistant", "Four hours.", at=10),
            message("q2a", "a", "user", "And in the fridge?", at=20),
            message("a2a", "q2a", "assistant", "Twelve hours, cold.", at=30),
            message("q2b", "a", "user", "And on a warm day?", at=40),
            message("a2b", "q2b", "assistant", "Two hours, warm.", at=50),
        ],
        current="a2b",
    )


def test_the_reader_shows_the_line_that_the_platform_shows(
    signed_in: TestClient, bring_in: Importer
) -> None:
    bring_in(branched())
    page = signed_in.get(only_conversation(signed_in))
    text = text_of(page.text)
    assert "Two hours, warm." in text
    assert "Twelve hours, cold." not in text
    assert "19 February 2025" in text
    assert "https://chatgpt.com/c/c-1" in page.text


def test_a_fork_leads_to_the_other_branch_and_back(
    signed_in: TestClient, bring_in: Importer
) -> None:
    bring_in(branched())
    path = only_conversation(signed_in)
    page = signed_in.get(path).text
    assert "2/2" in text_of(page)
    (other,) = [link for link in links_of(page) if "?at=" in link and link.startswith(path)]
    branch = signed_in.get(other.split("#")[0]).text
    assert "Twelve hours, cold." in branch
    assert "Two hours, warm." not in branch
    assert "another branch" in branch
    assert other.split("#")[1] in anchors(branch)
    assert "1/2" in text_of(branch)
    (back,) = [link for link in links_of(branch) if "?at=" in link and link.startswith(path)]
    assert "Two hours, warm." in signed_in.get(back.split("#")[0]).text


def test_every_message_has_an_anchor_that_names_it(
    signed_in: TestClient, bring_in: Importer
) -> None:
    bring_in(dialogue("One?", "One.", "Two?", "Two."))
    found = anchors(signed_in.get(only_conversation(signed_in)).text)
    assert len(found) == len(set(found)) == 4
    assert all(re.fullmatch(r"m-[0-9a-z]{26}", anchor) for anchor in found)


def test_a_long_conversation_comes_in_pages_and_an_anchor_finds_its_page(
    signed_in: TestClient, bring_in: Importer
) -> None:
    bring_in(dialogue(*(f"Line number {number}." for number in range(501))))
    path = only_conversation(signed_in)
    pages = [signed_in.get(f"{path}?page={number}").text for number in (1, 2, 3)]
    seen = [anchors(page) for page in pages]
    assert [len(page) for page in seen] == [200, 200, 101]
    assert len({anchor for page in seen for anchor in page}) == 501
    wanted = seen[2][50]
    assert wanted in anchors(signed_in.get(f"{path}?at={wanted.removeprefix('m-')}").text)
    assert anchors(signed_in.get(f"{path}?page=99").text) == seen[2]


def test_markdown_is_shown_as_markdown(signed_in: TestClient, bring_in: Importer) -> None:
    answer = (
        "A **strong** word, `code` and $a_1 + b_1$.\n\n```python\nprint('x')\n```\n\n"
        "| a | b |\n|---|--:|\n| 1 | 2 |\n\nhttps://example.org/page"
    )
    bring_in(dialogue("Show me", answer))
    page = signed_in.get(only_conversation(signed_in)).text
    assert "<strong>strong</strong>" in page
    assert '<code class="language-python"><span class="nb">print</span>' in page
    assert '<td class="align-right">2</td>' in page
    assert "$a_1 + b_1$" in text_of(page)
    assert '<a href="https://example.org/page" rel="noopener noreferrer nofollow">' in page


def test_the_outline_lists_the_users_questions(signed_in: TestClient, bring_in: Importer) -> None:
    bring_in(dialogue("First **thing**?", "Yes.", "Second thing?", "No.", "Third thing?", "Maybe."))
    text = text_of(signed_in.get(only_conversation(signed_in)).text)
    assert "Questions First thing? Second thing? Third thing?" in text


def test_somebody_elses_conversation_is_like_one_that_does_not_exist(
    signed_in: TestClient, bring_in: Importer
) -> None:
    bring_in(dialogue("Mine?", "Yours."))
    path = only_conversation(signed_in)
    missing = signed_in.get("/c/" + "0" * 26)
    assert missing.status_code == 404
    assert "no such conversation" in text_of(missing.text)
    assert signed_in.get(path + "x").status_code == 404


def test_an_unknown_message_in_the_address_shows_the_conversation(
    signed_in: TestClient, bring_in: Importer
) -> None:
    bring_in(branched())
    path = only_conversation(signed_in)
    assert "Two hours, warm." in signed_in.get(f"{path}?at={'0' * 26}").text
