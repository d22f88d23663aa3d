"""ChatGPT's citation marks: private-use characters and lenticular brackets inside the text.

U+E200 opens a mark, U+E202 separates its fields, U+E201 closes it: `cite`, `filecite`, `navlist`,
`entity[…]`. U+E203/U+E204 and U+E205/U+E206 wrap spans whose words stay. Older answers have
`【8†source】`. A mark is replaced by the words that the export gives for it, or dropped.
"""

import json
import re
from typing import Any

from backread.domain import Citation
from ingest.importers.base import Raw, dict_in, dicts_in, list_in, text_in
from ingest.normalise import clean

# Blanks are only looked at from the first of their run on: else a long run takes for ever.
_MARK = re.compile("(?<![ \\t])[ \\t]*\ue200([^\ue200\ue201]{0,4000})\ue201")
# An answer that was cut off while it was written: the mark has no end.
_OPEN_MARK = re.compile("(?<![ \\t])[ \\t]*\ue200[a-z_]{1,20}(?:\ue202[^\\s\ue200-\ue2ff]{0,200})*")
_BRACKETS = re.compile("(?<![ \\t])[ \\t]*【\\d+(?::\\d+)?†[^】\\n]{0,200}】")
_ANY_MARK = re.compile("[\ue200-\ue2ff【]")
_MOST_CITATIONS = 200


def without_marks(text: str, metadata: Raw) -> str:
    """The text as ChatGPT shows it, with the marks' words in place of the marks."""
    if text.isascii() or not _ANY_MARK.search(text):
        return text
    for reference in dicts_in(metadata.get("content_references")):
        matched = reference.get("matched_text")
        # Some references match a plain blank; only real marks are replaced.
        if isinstance(matched, str) and ("\ue200" in matched or "†" in matched):
            alt = reference.get("alt")
            words = alt if isinstance(alt, str) else _words(matched)
            text = text.replace(matched if words else f" {matched}", words)
            text = text.replace(matched, words)
    text = _MARK.sub(lambda mark: _words(mark.group(0)), text)
    text = _OPEN_MARK.sub("", text)
    text = _BRACKETS.sub("", text)
    return clean(text)


def _words(mark: str) -> str:
    """A named thing keeps its name (`entity["people","Ada Lovelace"]`); other marks have none."""
    found = re.search(r"entity\ue202?(\[.*\])", mark, re.DOTALL)
    if not found:
        return ""
    try:
        fields = json.loads(found.group(1))
    except json.JSONDecodeError:
        return ""
    named = len(fields) > 1 and isinstance(fields[1], str)
    return (" " if mark[0] in " \t" else "") + fields[1] if named else ""


def citations_in(metadata: Raw) -> list[Citation]:
    """Every link that the answer cites, once each, in the order of first mention."""
    links: dict[str, str] = {}
    for reference in dicts_in(metadata.get("content_references")):
        _collect(links, reference)
        for name in ("items", "sources", "fallback_items"):
            for item in dicts_in(reference.get(name)):
                _collect(links, item)
                for website in dicts_in(item.get("supporting_websites")):
                    _collect(links, website)
        for url in list_in(reference.get("safe_urls")):
            _collect(links, {"url": url})
    for citation in dicts_in(metadata.get("citations")):
        _collect(links, dict_in(citation.get("metadata")))
    for entry in dicts_in(dict_in(metadata.get("_cite_metadata")).get("metadata_list")):
        _collect(links, entry)
    return [Citation(url, title) for url, title in list(links.items())[:_MOST_CITATIONS]]


def _collect(links: dict[str, str], source: dict[str, Any]) -> None:
    url = text_in(source.get("url"))
    if url.startswith(("http://", "https://")) and not links.get(url):
        links[url] = text_in(source.get("title"))
