"""Chats that browser scripts saved from ChatGPT's pages: Markdown, `tavern` lines and `ooba`
pairs. Their JSON is ChatGPT's own and is read as that.

Pages hold less than exports: no ids of messages, often no times. A page that names its chat's
address is a copy of that ChatGPT conversation and converges with it; others stay by themselves.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from backread.domain import ParsedConversation, Platform, Role
from backread.errors import UnreadableImport
from ingest.importers.base import Raw, dicts_in, list_in, text_in, time_in
from ingest.importers.chatgpt import CHATGPT
from ingest.importers.drafts import Draft, digest_id, in_a_line, with_work_beside
from ingest.importers.envelopes import LINES_KEY, TEXT_KEY
from ingest.importers.tavern import (
    is_tavern_message,
    pair_drafts,
    tavern_id,
    tavern_thread,
)
from ingest.normalise import clean

_SPEAKER = re.compile(r"^#{4,5} (You|ChatGPT|Plugin(?: \((.*?)\))?):\s*$")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_TIME = re.compile(r'<time datetime="([^"]+)"[^>]*>[^<]*</time>')
_THOUGHT = re.compile(
    r"<details>\s*<summary>\s*(?:Thought|Reasoned)[^<]*</summary>(.*?)</details>", re.DOTALL
)
_CHAT = re.compile(r"https://chat(?:gpt|\.openai)\.com/(?:g/[^/\s]+/)?c/([0-9A-Za-z-]+)")


class ChatGptExporterImporter:
    """Guarantees: messages in the order of the page; a speaker's heading inside a code block is
    text."""

    slug = Platform.CHATGPT_EXPORTER.value
    version = CHATGPT.version

    def recognises(self, raw: Any) -> bool:
        """The exporter's headings; `tavern` lines without SillyTavern's own metadata; `internal`
        and `visible` without `data_visible`."""
        if not isinstance(raw, dict):
            return False
        text = raw.get(TEXT_KEY)
        if isinstance(text, str):
            return any(line.startswith("####") and _SPEAKER.match(line) for line in _open(text))
        if isinstance(raw.get("visible"), list) and isinstance(raw.get("internal"), list):
            return "data_visible" not in raw
        lines = dicts_in(raw.get(LINES_KEY))
        if not lines or not {"user_name", "character_name"} <= lines[0].keys():
            return False
        own = "chat_metadata" in lines[0] or "create_date" in lines[0]
        return not own and any(map(is_tavern_message, lines))

    def platform_of(self, raw: Raw) -> str:
        """ChatGPT's when the page tells which chat it is."""
        page = _read_page(text_in(raw.get(TEXT_KEY))) if TEXT_KEY in raw else _Page()
        return _platform(page).value

    def identify(self, raw: Raw) -> str:
        """The chat's id from its address where the page kept it, else of its beginning."""
        if TEXT_KEY in raw:
            page = _read_page(text_in(raw.get(TEXT_KEY)))
            first = page.drafts[0].text if page.drafts else ""
            return page.chat_id or (f"first:{digest_id(page.title, first)}" if first else "")
        if LINES_KEY in raw:
            return tavern_id(dicts_in(raw.get(LINES_KEY)))
        pairs = list_in(raw.get("visible"))
        return f"first:{digest_id(str(pairs[0]))}" if pairs else ""

    def parse(self, raw: Raw) -> ParsedConversation:
        external_id = self.identify(raw)
        if not external_id:
            raise UnreadableImport("The page has no messages.")
        page = _Page()
        news: Counter[str] = Counter()
        if TEXT_KEY in raw:
            page = _read_page(text_in(raw.get(TEXT_KEY)))
            thread = in_a_line(page.drafts)
        elif LINES_KEY in raw:
            # The script's names for both sides, "You" and "Assistant", are nobody's.
            lines = [line | {"name": ""} for line in dicts_in(raw.get(LINES_KEY))]
            thread = tavern_thread(lines, news)
        else:
            thread = in_a_line(pair_drafts(raw.get("visible")))
        created_at, updated_at = thread.times
        return ParsedConversation(
            platform=_platform(page),
            external_id=external_id,
            title=page.title or thread.first_words,
            messages=thread.messages,
            shown_line=thread.shown_line,
            created_at=page.created_at or created_at,
            updated_at=page.updated_at or updated_at,
            url=page.url,
            assistant_name="ChatGPT",
            news=dict(news),
        )


CHATGPT_EXPORTER = ChatGptExporterImporter()


@dataclass(slots=True)
class _Page:
    title: str = ""
    url: str = ""
    chat_id: str = ""
    created_at: Any = None
    updated_at: Any = None
    drafts: list[Draft] = field(default_factory=list)


def _platform(page: _Page) -> Platform:
    return Platform.CHATGPT if page.chat_id else Platform.CHATGPT_EXPORTER


def _open(text: str) -> Iterator[str]:
    """The lines that are not inside a code block; a block's lines come as blanks."""
    fence = ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if fence:
            yield ""
            if found and found[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif found:
            fence = found[1]
            yield ""
        else:
            yield line


def _read_page(text: str) -> _Page:
    page = _Page()
    body = _front_matter(clean(text), page)
    lines = body.split("\n")
    starts = [(n, m) for n, line in enumerate(_open(body)) if (m := _SPEAKER.match(line))]
    head = lines[: starts[0][0]] if starts else lines
    for line in head:
        if line.startswith("# ") and not page.title:
            page.title = line[2:].strip()
        _note_address(line, page)
    ends = [*(n for n, _ in starts), len(lines)][1:]
    drafts: list[Draft] = []
    for place, ((start, speaker), end) in enumerate(zip(starts, ends, strict=True)):
        draft = _draft(place, speaker, "\n".join(lines[start + 1 : end]))
        if draft.role is Role.TOOL:
            draft.aside("tool_result", draft.text, draft.author)
            draft.texts = []
        if not draft.is_empty:
            drafts.append(draft)
    page.drafts = list(with_work_beside(drafts))
    return page


def _note_address(text: str, page: _Page) -> bool:
    address = _CHAT.search(text)
    if address and not page.chat_id:
        page.url, page.chat_id = address.group(0), address.group(1)
    return address is not None


def _front_matter(text: str, page: _Page) -> str:
    """Keys are the person's choice; what is known by its form is taken."""
    text = text.lstrip("\n")
    end = text.find("\n---", 4)
    if not text.startswith("---\n") or end < 0:
        return text
    for line in text[4:end].split("\n"):
        key, _, value = line.partition(":")
        value = value.strip().strip("\"'")
        if _note_address(value, page):
            continue
        if key.strip().lower() == "title":
            page.title = value
        elif "creat" in key.lower():
            page.created_at = time_in(value)
        elif "updat" in key.lower():
            page.updated_at = time_in(value)
    return text[end + 4 :]


def _draft(place: int, speaker: re.Match[str], body: str) -> Draft:
    role = {"You": Role.USER, "ChatGPT": Role.ASSISTANT}.get(speaker[1], Role.TOOL)
    draft = Draft(f"index:{place}", role, author=speaker[2] or "", has_weak_id=True)
    stamp = _TIME.search(body[:500])
    if stamp:
        draft.created_at = time_in(stamp[1])
        body = body[: stamp.start()] + body[stamp.end() :]
    for thought in _THOUGHT.findall(body):
        draft.aside("reasoning", thought.strip())
    draft.texts.append(_THOUGHT.sub("", body).strip())
    return draft
