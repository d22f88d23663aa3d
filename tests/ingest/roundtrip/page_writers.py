"""Writers of the formats that are pages, tables and plain texts."""

import csv
import html
import io
import re
from typing import Any

from backread.domain import Role
from tests.ingest.roundtrip.base import Writer, shown, without_outer_blanks, words_only
from tests.ingest.roundtrip.chats import Chat, Times
from tests.ingest.roundtrip.json_text import json_bytes
from tests.ingest.roundtrip.tree_writers import iso

# What begins a turn, a block of code, a rule or a note in Markdown: a text that has one of these
# at the start of a line reads as more than one text, also to people.
_MARKUP = re.compile(
    r"^\s*(#|---|\*\*|__|```|~~~|[-*>]|<|[^\n]{0,80}:)|<time|<details", re.MULTILINE
)
_TIME_ALONE = re.compile(r"^\W*\d{4}-\d\d-\d\d", re.MULTILINE)


def _is_plain(text: str) -> bool:
    lines = shown(text)
    return not _MARKUP.search(lines) and not _TIME_ALONE.search(lines)


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _no_surrogates(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _plain_utf8(text: str) -> bool:
    return _is_plain(text) and _no_surrogates(text) and "\x00" not in text


def _gemini_takeout(chat: Chat) -> bytes:
    rows = []
    for asked, answer in reversed(chat.pairs):
        row: dict[str, Any] = {
            "header": "Gemini Apps",
            "title": f"Prompted {asked.text}",
            "titleUrl": f"https://gemini.google.com/app/{chat.id}",
            "time": iso(asked),
            "products": ["Gemini Apps"],
        }
        if answer:
            row["safeHtmlItem"] = [{"html": f"<p>{html.escape(answer.text)}</p>"}]
        rows.append(row)
    return json_bytes(rows)


def _ms_copilot(chat: Chat) -> bytes:
    table = io.StringIO()
    writer = csv.writer(table)
    writer.writerow(["Conversation", "Time", "Author", "Message"])
    for said in reversed(chat.line):
        author = "Human" if said.role is Role.USER else "AI"
        writer.writerow([chat.title, iso(said), author, said.text])
    return b"\xef\xbb\xbf" + _utf8(table.getvalue())


def _poe_page(chat: Chat) -> bytes:
    edges: list[Any] = [
        {
            "node": {
                "messageId": place + 1,
                "author": "human" if said.role is Role.USER else "gpt4_o",
                "creationTime": int(said.at.timestamp() * 1_000_000),
                "text": said.text,
                "attachments": [],
            }
        }
        for place, said in enumerate(chat.line)
    ]
    share = {
        "shareCode": chat.id,
        "chatTitle": chat.title,
        "messagesConnection": {"edges": edges},
    }
    data = {"props": {"pageProps": {"data": {"mainQuery": {"chatShare": share}}}}}
    script = json_bytes(data).replace(b"</", b"<\\/")
    return (
        b'<!DOCTYPE html><html><body><script id="__NEXT_DATA__" type="application/json">'
        + script
        + b"</script></body></html>"
    )


def _poe_transcript(chat: Chat) -> bytes:
    parts = [
        f"{'User' if said.role is Role.USER else 'GPT-5.5'}:\n{said.text}" for said in chat.line
    ]
    return _utf8("\n\n---\n\n".join(parts))


def _chatgpt_exporter(chat: Chat) -> bytes:
    turns = []
    for said in chat.line:
        speaker = "You" if said.role is Role.USER else "ChatGPT"
        stamp = f'<time datetime="{iso(said)}" title="x">12:00</time>'
        turns.append(f"#### {speaker}:\n{stamp}\n\n{said.text}\n")
    return _utf8(f"# {chat.title}\n\n" + "\n".join(turns))


def _transcript_markdown(chat: Chat) -> bytes:
    turns = [f"## {said.role.value.title()} ({iso(said)})\n\n{said.text}\n" for said in chat.line]
    return _utf8(f"# {chat.title}\n\n" + "\n".join(turns))


PAGE_WRITERS = [
    Writer(
        "gemini_takeout",
        "MyActivity.json",
        _gemini_takeout,
        times=Times.PAIR,
        stored=words_only,
    ),
    Writer("ms_copilot", "history.csv", _ms_copilot, accepts=_no_surrogates),
    Writer("poe", "share.html", _poe_page),
    Writer(
        "poe",
        "transcript.md",
        _poe_transcript,
        times=Times.NONE,
        stored=without_outer_blanks,
        accepts=_plain_utf8,
        needs_answer=True,
    ),
    Writer(
        "chatgpt_exporter",
        "page.md",
        _chatgpt_exporter,
        stored=without_outer_blanks,
        accepts=_plain_utf8,
    ),
    Writer(
        "transcript",
        "notes.md",
        _transcript_markdown,
        stored=without_outer_blanks,
        accepts=_plain_utf8,
        needs_answer=True,
    ),
]
