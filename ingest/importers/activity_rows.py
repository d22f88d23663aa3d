"""One row of Google's activity: what was asked and answered, in the JSON and in the page form."""

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ingest.html_text import read_html
from ingest.importers.activity_dates import looks_like_date, read_date
from ingest.importers.base import Raw, dict_in, dicts_in, list_in, text_in, time_in

# What Google writes before the prompt. Other languages' words are kept as part of it.
_VERBS = (
    "Prompted ",
    "Asked ",
    "Said ",
    "Submitted query ",
    "Branched ",
    "Answered ",
    "送信したメッセージ: ",
    "Υποβλήθηκε το ερώτημα ",
    "Has dicho: ",
    "Hiciste la petición ",
    "Pokyn: ",
    "Pokyn ",
)
_BARE_VERBS = frozenset(verb.strip(" :") for verb in _VERBS)
_NOT_CHAT = ("Created ", "Used ", "Gave ", "Added ", "Selected ", "Cleared ")
_CHAT = re.compile(r"gemini\.google\.com/app/(?:c/)?([0-9A-Za-z_-]{6,})")
_HEADER = re.compile(r'class="header-cell[^>]*>(.*?)</div>', re.DOTALL)
_CONTENT = re.compile(r'class="content-cell[^>]*mdl-typography--body-1"?[^>]*>', re.DOTALL)
_CONTENT_ENDS = re.compile(r'</div>\s*<div class="content-cell', re.DOTALL)
_FILE = re.compile(r'\s*-(?:\s|&nbsp;)*<a href="(?!https?:)')
_FILE_NAME = re.compile(r"[^\n/]{1,200}\.[A-Za-z0-9]{2,5}")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_NAMES = ("gemini", "bard")


@dataclass(slots=True)
class Row:
    prompt: str
    answer: str = ""
    at: datetime | None = None
    is_chat: bool = True
    has_known_verb: bool = True
    is_date_unread: bool = False
    links: dict[str, str] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)


def is_gemini(row: Raw) -> bool:
    """Search, YouTube and Assistant write rows of the same shape into files of the same name."""
    names = [row.get("header"), *list_in(row.get("products"))]
    text = " ".join(name for name in names if isinstance(name, str)).lower()
    return any(name in text for name in _NAMES)


def is_other_action(row: Raw) -> bool:
    """Whether a row tells of something else than a prompt: a canvas that was made, a rating."""
    return text_in(row.get("title")).startswith(_NOT_CHAT) and not row.get("safeHtmlItem")


def is_page_of_gemini(cell: str) -> bool:
    header = _HEADER.search(cell[:5000])
    return header is not None and any(name in header.group(1).lower() for name in _NAMES)


def is_other_action_of_page(cell: str) -> bool:
    start = _CONTENT.search(cell)
    return start is not None and cell[start.end() :].lstrip().startswith(_NOT_CHAT)


def chat_id(text: str) -> str:
    """The id of the chat that a link in the text leads to, or ""."""
    found = _CHAT.search(text)
    return found.group(1) if found else ""


def row_of_json(row: Raw) -> Row:
    html = "\n".join(text_in(item.get("html")) for item in dicts_in(row.get("safeHtmlItem")))
    answer, links = read_html(html)
    title = text_in(row.get("title"))
    result = Row(title, answer, time_in(row.get("time")), links=links)
    _take_verb(result, has_chat=bool(chat_id(text_in(row.get("titleUrl")))))
    for item in list_in(row.get("attachedFiles")):
        result.files.append(text_in(item) or text_in(dict_in(item).get("name")) or "file")
    for item in dicts_in(row.get("subtitles")):
        name = text_in(item.get("name")).strip().removeprefix("- ").strip()
        if _FILE_NAME.fullmatch(name) and name not in result.files:
            result.files.append(name)
    if row.get("imageFile"):
        result.files.append(text_in(row.get("imageFile")) or "image")
    return result


def row_of_page(cell: str) -> Row:
    """Prompt, then the date on a line of its own, then the answer."""
    start = _CONTENT.search(cell)
    content = cell[start.end() :] if start else ""
    end = _CONTENT_ENDS.search(content)
    content = content[: end.start()] if end else content
    pieces = _BREAK.split(content)
    place = next(
        (n for n, piece in enumerate(pieces) if looks_like_date(read_html(piece)[0])), len(pieces)
    )
    asked = pieces[:place]
    listed = next((n for n, piece in enumerate(asked) if _FILE.match(piece)), len(asked))
    _, asked_links = read_html("<br>".join(asked[listed:]))
    if 1 < listed < len(asked):
        listed -= 1  # the line that says how many files follow
    prompt, _ = read_html("<br>".join(asked[:listed]))
    answer, links = read_html("<br>".join(pieces[place + 1 :]))
    date = read_html(pieces[place])[0] if place < len(pieces) else ""
    result = Row(prompt, answer, read_date(date), links=links)
    result.is_date_unread = bool(date) and result.at is None
    result.files = [name for url, name in asked_links.items() if "://" not in url and name]
    _take_verb(result, has_chat=bool(chat_id(cell)))
    return result


def _take_verb(row: Row, *, has_chat: bool) -> None:
    title = row.prompt.replace("\u00a0", " ").lstrip()
    for verb in _VERBS:
        if title.startswith(verb):
            row.prompt = title[len(verb) :].strip()
            return
    if title.strip(" :") in _BARE_VERBS:
        row.prompt = ""
        return
    row.prompt = title.strip()
    if title.startswith(_NOT_CHAT) and not row.answer:
        row.is_chat = False
        return
    row.has_known_verb = False
    row.is_chat = has_chat or bool(row.answer)


def rows_in(values: Any, *, is_page: bool) -> list[Row]:
    """In the order of the file, which is newest first."""
    if is_page:
        return [row_of_page(value) for value in list_in(values) if isinstance(value, str)]
    return [row_of_json(value) for value in dicts_in(values)]
