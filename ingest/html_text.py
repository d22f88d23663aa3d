"""Text of the HTML that platforms write answers in, with the marks of Markdown where they help."""

import re
from html.parser import HTMLParser

from ingest.normalise import clean

_BLOCKS = {"p", "div", "ul", "ol", "table", "blockquote", "section", "article"}
_SILENT = {"script", "style", "svg", "title", "head"}
_MANY_LINES = re.compile(r"\n[ \t]*\n\s*\n")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.links: dict[str, str] = {}
        self._silent = 0
        self._pre = 0
        self._link = ""
        self._link_text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SILENT:
            self._silent += 1
        elif tag == "br":
            self.parts.append("\n")
        elif tag in _BLOCKS:
            self.parts.append("\n\n")
        elif tag == "li":
            self.parts.append("\n- ")
        elif tag == "tr":
            self.parts.append("\n")
        elif tag in ("td", "th"):
            self.parts.append(" | ")
        elif tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            self.parts.append("\n\n" + "#" * int(tag[1]) + " ")
        elif tag == "pre":
            self._pre += 1
            self.parts.append("\n\n```\n")
        elif tag == "code" and not self._pre:
            self.parts.append("`")
        elif tag == "a":
            self._link, self._link_text = dict(attrs).get("href") or "", []
        elif tag == "img":
            self.parts.append(dict(attrs).get("alt") or "")

    def handle_endtag(self, tag: str) -> None:
        if tag in _SILENT:
            self._silent = max(0, self._silent - 1)
        elif tag == "pre" and self._pre:
            self._pre -= 1
            self.parts.append("\n```\n\n")
        elif tag == "code" and not self._pre:
            self.parts.append("`")
        elif tag in _BLOCKS or tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            self.parts.append("\n\n")
        elif tag == "a" and self._link:
            self.links.setdefault(self._link, "".join(self._link_text).strip())
            self._link = ""

    def handle_data(self, data: str) -> None:
        if self._silent:
            return
        text = data if self._pre else re.sub(r"[ \t\r\n\f]+", " ", data)
        self.parts.append(text)
        self._link_text.append(text)


def read_html(html: str) -> tuple[str, dict[str, str]]:
    """The text, and the links with what they were called. Never fails: HTML has no errors."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    lines = [line.rstrip() for line in "".join(reader.parts).split("\n")]
    text = "\n".join(line if line.startswith("    ") else line.removeprefix(" ") for line in lines)
    links = {clean(url): clean(name) for url, name in reader.links.items()}
    return clean(_MANY_LINES.sub("\n\n", text)).strip(), links
