"""Reads pages as a person would: by what they say and where they lead."""

import re
from html.parser import HTMLParser

from starlette.testclient import TestClient


def csrf_of(browser: TestClient) -> str:
    """The token that the page's own scripts send with every change."""
    match = re.search(r'<meta name="csrf-token" content="([^"]+)">', browser.get("/import").text)
    assert match, "nobody is signed in"
    return match[1]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def tags_of(html: str) -> list[tuple[str, dict[str, str | None]]]:
    """Every start tag with its attributes, as a browser's parser would find them."""
    reader = _Reader()
    reader.feed(html)
    return reader.tags


def text_of(html: str) -> str:
    """The page's text with single spaces."""
    reader = _Reader()
    reader.feed(html)
    return " ".join(" ".join(reader.text).split())


def links_of(html: str) -> list[str]:
    return [attributes["href"] or "" for tag, attributes in tags_of(html) if "href" in attributes]


def conversation_links(html: str) -> list[str]:
    """Paths of the conversations that a page links to, in order, each once."""
    return list(dict.fromkeys(re.findall(r'href="(/c/[0-9a-z]{26})"', html)))
