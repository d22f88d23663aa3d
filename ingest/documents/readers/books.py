"""EPUB: the chapters in reading order. https://www.w3.org/TR/epub-33/"""

from collections.abc import Iterator
from typing import BinaryIO, Final
from urllib.parse import unquote

from ingest.documents.kinds import decoded
from ingest.documents.packages import Package, events, name_of, resolved
from ingest.documents.pages import Limits, Page, Read, Unit
from ingest.documents.problems import Refused
from ingest.documents.readers.plain import headed, sections
from ingest.html_text import read_html

_CONTAINER: Final = "META-INF/container.xml"
_ENCRYPTION: Final = "META-INF/encryption.xml"
_PAGES: Final = frozenset({"application/xhtml+xml", "text/html"})


def read(file: BinaryIO, limits: Limits) -> Iterator[Read]:
    package = Package(file, inflated_bytes=limits.inflated_bytes)
    chapters = _chapters(package)
    if len(chapters) > limits.pages:
        raise Refused("too_many_pages", f"{len(chapters):,}")
    if _is_locked(package, chapters):
        raise Refused("encrypted")
    number = 0
    for part in chapters:
        text, _ = read_html(decoded(package.read(part)))
        for page in sections(headed(text)):
            number += 1
            yield Page(Unit.SECTION, number, page.text, page.label, page.marks)


def _chapters(package: Package) -> list[str]:
    """The names of the parts that a reader turns over, in order."""
    root = ""
    for event, element in events(package.xml(_CONTAINER)):
        if event == "end" and name_of(element) == "rootfile" and not root:
            root = element.get("full-path", "")
    folder = root.rpartition("/")[0]
    items: dict[str, str] = {}
    order: list[str] = []
    for event, element in events(package.xml(root)):
        if event == "start":
            continue
        if name_of(element) == "item" and element.get("media-type") in _PAGES:
            items[element.get("id", "")] = resolved(folder, unquote(element.get("href", "")))
        elif name_of(element) == "itemref":
            order.append(element.get("idref", ""))
    return [items[each] for each in order if each in items and package.has(items[each])]


def _is_locked(package: Package, chapters: list[str]) -> bool:
    """Fonts are often scrambled, which locks nothing; chapters that are, are sold with a lock."""
    if not package.has(_ENCRYPTION):
        return False
    locked = set()
    for event, element in events(package.xml(_ENCRYPTION)):
        if event == "end" and name_of(element) == "CipherReference":
            locked.add(unquote(element.get("URI", "")))
    return not locked.isdisjoint(chapters)
