"""Turns what people and models wrote into markup that is safe to show.

Chat text is untrusted. Markdown is rendered with HTML switched off, and the result then passes an
allow-list, so a mistake in one of the two is caught by the other. Images are never loaded: a
remote image would tell its host who reads the chat, and when.
"""

import html
import re
from collections.abc import MutableMapping, Sequence
from functools import lru_cache
from typing import Any, Final

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from markupsafe import Markup
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.texmath import texmath_plugin
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from api.web.filters import web_link

# Some Markdown takes time that grows faster than its length; longer text is shown as it is.
MAX_MARKDOWN_CHARACTERS: Final = 60_000
_MAX_HIGHLIGHT_CHARACTERS: Final = 40_000
_CACHED_TEXTS: Final = 1024

_TAGS: Final = frozenset(
    """p br hr h1 h2 h3 h4 h5 h6 strong em s blockquote ul ol li a code pre span div
    table thead tbody tr th td""".split()  # noqa: SIM905 - easier to read
)
_ATTRIBUTES: Final = {
    "a": {"href", "title", "class"},
    "code": {"class"},
    "span": {"class"},
    "div": {"class"},
    "ol": {"start"},
    "th": {"class"},
    "td": {"class"},
}
_OF_TASKS: Final = {"input": {"checked"}, "li": {"class"}, "ul": {"class"}}
_CLASS: Final = re.compile(r"[A-Za-z][A-Za-z0-9_+#.-]{0,30}( [a-z0-9]{1,4})?")
_LANGUAGE: Final = re.compile(r"[A-Za-z0-9_+#.-]{1,24}")
_MATH_ENDS: Final = {"\\(": "\\)", "\\[": "\\]"}
_FORMATTER: Final = HtmlFormatter(nowrap=True)


def render_markdown(text: str) -> Markup:
    """The text's Markdown as safe HTML. Very long text comes back unformatted, but whole."""
    if len(text) > MAX_MARKDOWN_CHARACTERS:  # not kept: a thousand of them would fill the memory
        return Markup('<div class="plain-text">{}</div>').format(text)
    return _rendered(text)


def render_code(code: str, language: str) -> Markup:
    """Source code as safe HTML, coloured when the language is known and the text not too long."""
    name = language if _LANGUAGE.fullmatch(language) else ""
    label = f' class="language-{html.escape(name)}"' if name else ""
    markup = f"<pre><code{label}>{_highlighted(code, name)}</code></pre>"
    return Markup(_clean(markup))  # noqa: S704 - through the allow-list


@lru_cache(maxsize=_CACHED_TEXTS)
def _rendered(text: str) -> Markup:
    return Markup(_clean(_MARKDOWN.render(text)))  # noqa: S704 - through the allow-list


def _clean(markup: str) -> str:
    return nh3.clean(
        markup,
        tags=set(_TAGS),
        attributes={tag: set(names) for tag, names in _ATTRIBUTES.items()},
        attribute_filter=_allowed_attribute,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )


def clean_note(markup: str) -> str:
    """As for chats, with boxes of tasks: whatever they were, they cannot be ticked."""
    return nh3.clean(
        markup,
        tags=_TAGS | {"input"},
        attributes={tag: set(names) for tag, names in (_ATTRIBUTES | _OF_TASKS).items()},
        attribute_filter=_allowed_attribute,
        set_tag_attribute_values={"input": {"type": "checkbox", "disabled": "disabled"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )


def _allowed_attribute(_tag: str, name: str, value: str) -> str | None:
    if name == "class":
        return value if _CLASS.fullmatch(value) else None
    return value


def _fence(
    _renderer: RendererHTML,
    tokens: Sequence[Token],
    index: int,
    _options: OptionsDict,
    _env: MutableMapping[str, Any],
) -> str:
    token = tokens[index]
    words = token.info.split()
    language = words[0] if words and _LANGUAGE.fullmatch(words[0]) else ""
    label = f' class="language-{html.escape(language)}"' if language else ""
    return f"<pre><code{label}>{_highlighted(token.content, language)}</code></pre>\n"


def _highlighted(code: str, language: str) -> str:
    if not language or len(code) > _MAX_HIGHLIGHT_CHARACTERS:
        return html.escape(code)
    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return html.escape(code)
    return str(highlight(code, lexer, _FORMATTER))


def _image(
    _renderer: RendererHTML,
    tokens: Sequence[Token],
    index: int,
    _options: OptionsDict,
    _env: MutableMapping[str, Any],
) -> str:
    """A link in the image's place, or its description when the address is no web address."""
    token = tokens[index]
    label = html.escape(token.content or "image")
    address = web_link(str(token.attrGet("src") or ""))
    if not address:
        return f'<span class="image-note">{label}</span>'
    return f'<a class="image-note" href="{html.escape(address)}">{label}</a>'


def _math(
    _renderer: RendererHTML,
    tokens: Sequence[Token],
    index: int,
    _options: OptionsDict,
    _env: MutableMapping[str, Any],
) -> str:
    """A formula as it was written: its backslashes and underscores must survive Markdown."""
    token = tokens[index]
    closing = _MATH_ENDS.get(token.markup, token.markup)
    source = html.escape(f"{token.markup}{token.content}{closing}")
    tag = "div" if token.block else "span"
    return f'<{tag} class="math">{source}</{tag}>'


def _no_inline_style(tokens: Sequence[Token]) -> None:
    """Tables align by class: the page's policy forbids style attributes."""
    for token in tokens:
        style = str(token.attrs.pop("style", "")) if token.attrs else ""
        if style.startswith("text-align:"):
            token.attrSet("class", f"align-{style.removeprefix('text-align:')}")


def markdown_parser() -> MarkdownIt:
    """A new parser, to which more may be added. What it gives is to be cleaned."""
    parser = MarkdownIt("commonmark", {"html": False, "linkify": True, "breaks": True})
    parser.enable(["table", "strikethrough", "linkify"])
    parser.use(texmath_plugin, delimiters="brackets")
    parser.use(
        dollarmath_plugin,
        allow_labels=False,
        allow_space=False,
        allow_digits=False,
        double_inline=True,
    )
    parser.add_render_rule("fence", _fence)
    parser.add_render_rule("image", _image)
    for rule in ("math_inline", "math_inline_double", "math_block"):
        parser.add_render_rule(rule, _math)
    parser.core.ruler.push("no_inline_style", lambda state: _no_inline_style(state.tokens))
    return parser


_MARKDOWN: Final = markdown_parser()
