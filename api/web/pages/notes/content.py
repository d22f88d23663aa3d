"""A note's Markdown as safe HTML: as that of chats, with tasks and links between notes."""

import unicodedata
from collections.abc import Callable, Iterable
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markupsafe import Markup
from mdit_py_plugins.tasklists import tasklists_plugin

from api.web.content import MAX_MARKDOWN_CHARACTERS, clean_note, markdown_parser, render_markdown
from api.web.pages.notes.addresses import note_address
from backread.notes.paths import ENDING, folder_of

_MAX_LINK: Final = 700  # characters between the brackets
_ADDRESS: Final = "address of a note"

Resolve = Callable[[str], str | None]


def render_note(text: str, address: Resolve) -> Markup:
    """`[[path]]` and `[[path|words]]` become links where `address` knows the path, else their
    words; `- [ ]` and `- [x]` become boxes that cannot be ticked. Very long text comes back
    unformatted, but whole."""
    if len(text) > MAX_MARKDOWN_CHARACTERS:
        return render_markdown(text)
    return Markup(clean_note(_MARKDOWN.render(text, {_ADDRESS: address})))  # noqa: S704 - cleaned


def addresses_from(here: str, paths: Iterable[str]) -> Resolve:
    """Finds a note as one names it in the note `here`: by its path, by its path from the same
    folder, or by its name where only one note has that. `.md` may be left out."""
    known = set(paths)
    by_name: dict[str, list[str]] = {}
    for path in known:
        by_name.setdefault(path.rpartition("/")[2], []).append(path)

    def address(target: str) -> str | None:
        wanted = unicodedata.normalize("NFC", target.partition("#")[0].strip())
        if not wanted:
            return None
        wanted = wanted if wanted.endswith(ENDING) else wanted + ENDING
        beside = f"{folder_of(here)}/{wanted}" if folder_of(here) else wanted
        for path in (wanted, beside):
            if path in known:
                return note_address(path)
        named = by_name.get(wanted, [])
        return note_address(named[0]) if len(named) == 1 else None

    return address


def _wikilink(state: StateInline, silent: bool) -> bool:
    start = state.pos + 2
    if not state.src.startswith("[[", state.pos):
        return False
    end = state.src.find("]]", start, min(state.posMax, start + _MAX_LINK))
    inside = state.src[start:end] if end > start else ""
    target, _, words = inside.partition("|")
    if not target.strip() or "\n" in inside or "[" in inside:
        return False
    if not silent:
        address = state.env[_ADDRESS](target)
        if address is not None:
            state.push("link_open", "a", 1).attrs = {"href": address}
        state.push("text", "", 0).content = words.strip() or target.strip()
        if address is not None:
            state.push("link_close", "a", -1)
    state.pos = end + 2
    return True


def _parser() -> MarkdownIt:
    parser = markdown_parser()
    parser.use(tasklists_plugin)
    parser.inline.ruler.before("link", "wikilink", _wikilink)
    return parser


_MARKDOWN: Final = _parser()
