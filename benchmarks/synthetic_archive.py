"""Makes ChatGPT and Claude exports of any size from a seed: the same seed, the same bytes.

Sizes follow real exports: most chats are short and a few are very long, answers are several times
as long as questions, and a ChatGPT message carries about 700 bytes beside its words. The words
are made up; their frequencies follow Zipf's law, so that an index of them has a realistic shape.
"""

import itertools
import json
import random
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Platform = Literal["chatgpt", "claude_ai"]

_SYLLABLES = ("ka", "lo", "mi", "ten", "ra", "vos", "el", "du", "sher", "in", "po", "gal")
_CJK = "春夏秋冬山川風雨花鳥月雪東京京都旅行計画料理音楽学校仕事時間世界問題研究"
_VOCABULARY = 30_000
_SENTENCES = 20_000
_START = 1_690_000_000  # July 2023
_GAP_SECONDS = 6 * 3600


@dataclass(frozen=True, slots=True)
class Written:
    """What an archive holds. `json_bytes` is the size of its conversations as JSON."""

    conversations: int
    messages: int
    json_bytes: int


class ChatMaker:
    """An endless supply of conversations in one platform's export format."""

    def __init__(self, platform: Platform, seed: int = 1) -> None:
        self._random = random.Random(seed)
        self._platform = platform
        self._sentences = self._make_sentences()
        self._count = 0

    def conversations(self) -> Iterator[tuple[dict[str, Any], int]]:
        """Each conversation with the number of its messages."""
        while True:
            count = max(2, min(600, round(self._random.lognormvariate(1.6, 1.0)) * 2))
            at = _START + self._count * _GAP_SECONDS
            turns = [self._turn(place, at + place * 45) for place in range(count)]
            self._count += 1
            make = self._chatgpt if self._platform == "chatgpt" else self._claude
            yield make(turns, at), count

    def _make_sentences(self) -> list[str]:
        words = [
            "".join(self._random.choices(_SYLLABLES, k=self._random.randint(1, 4)))
            for _ in range(_VOCABULARY)
        ]
        weights = list(itertools.accumulate(1 / (rank + 3) for rank in range(_VOCABULARY)))
        sentences = []
        for _ in range(_SENTENCES):
            chosen = self._random.choices(words, cum_weights=weights, k=self._random.randint(5, 22))
            sentences.append(" ".join(chosen).capitalize() + self._random.choice(".,.?!."))
        return sentences

    def _text(self, size: int) -> str:
        """Paragraphs, lists and code of about `size` characters; now and then Japanese."""
        if self._random.random() < 0.03:
            return "".join(self._random.choices(_CJK, k=max(10, size // 3)))
        parts: list[str] = []
        length = 0
        while length < size:
            kind = self._random.random()
            lines = self._random.choices(self._sentences, k=self._random.randint(2, 6))
            if kind < 0.12:
                names = [line.split(" ")[0] for line in lines]
                code = "\n".join(f"    {name} = f({i})" for i, name in enumerate(names))
                part = f"```python\ndef run(x):\n{code}\n```"
            elif kind < 0.3:
                part = "\n".join(f"- {line}" for line in lines)
            else:
                part = " ".join(lines)
            parts.append(part)
            length += len(part) + 2
        return "\n\n".join(parts)

    def _uuid(self) -> str:
        digits = f"{self._random.getrandbits(128):032x}"
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

    def _turn(self, place: int, at: int) -> tuple[str, str, str, int]:
        size = self._random.lognormvariate(5.0 if place % 2 == 0 else 7.2, 0.9)
        role = "user" if place % 2 == 0 else "assistant"
        return self._uuid(), role, self._text(min(60_000, round(size))), at

    def _title(self) -> str:
        return " ".join(self._random.choice(self._sentences).rstrip(".,?!").split(" ")[:5])

    def _chatgpt(self, turns: list[tuple[str, str, str, int]], at: int) -> dict[str, Any]:
        mapping: dict[str, Any] = {
            "client-created-root": {
                "id": "client-created-root",
                "message": None,
                "parent": None,
                "children": [turns[0][0]],
            }
        }
        parent = "client-created-root"
        for place, (node_id, role, text, moment) in enumerate(turns):
            children = [turns[place + 1][0]] if place + 1 < len(turns) else []
            mapping[node_id] = {
                "id": node_id,
                "message": _chatgpt_message(node_id, role, text, moment, self._uuid()),
                "parent": parent,
                "children": children,
            }
            parent = node_id
        conversation_id = self._uuid()
        return {
            "title": self._title(),
            "create_time": float(at),
            "update_time": float(turns[-1][3]),
            "mapping": mapping,
            "moderation_results": [],
            "current_node": parent,
            "plugin_ids": None,
            "conversation_id": conversation_id,
            "conversation_template_id": None,
            "gizmo_id": None,
            "is_archived": False,
            "safe_urls": [],
            "default_model_slug": "gpt-5",
            "id": conversation_id,
        }

    def _claude(self, turns: list[tuple[str, str, str, int]], at: int) -> dict[str, Any]:
        messages = []
        parent = "00000000-0000-4000-8000-000000000000"
        for message_id, role, text, moment in turns:
            messages.append(
                {
                    "uuid": message_id,
                    "text": text,
                    "content": [
                        {
                            "start_timestamp": _iso(moment),
                            "stop_timestamp": _iso(moment),
                            "flags": None,
                            "type": "text",
                            "text": text,
                            "citations": [],
                        }
                    ],
                    "sender": "human" if role == "user" else role,
                    "created_at": _iso(moment),
                    "updated_at": _iso(moment),
                    "attachments": [],
                    "files": [],
                    "parent_message_uuid": parent,
                }
            )
            parent = message_id
        return {
            "uuid": self._uuid(),
            "name": self._title(),
            "summary": "",
            "created_at": _iso(at),
            "updated_at": _iso(turns[-1][3]),
            "account": {"uuid": "0b5e4c11-0000-4000-8000-000000000001"},
            "chat_messages": messages,
        }


def _iso(moment: int) -> str:
    days, rest = divmod(moment - _START, 86_400)
    hours, seconds = divmod(rest, 3600)
    year, day = divmod(days, 336)
    month, day = divmod(day, 28)
    clock = f"{hours:02}:{seconds // 60:02}:{seconds % 60:02}.000000Z"
    return f"{2015 + year % 12}-{month + 1:02}-{day + 1:02}T{clock}"


def _chatgpt_message(
    node_id: str, role: str, text: str, at: int, request_id: str
) -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "request_id": request_id,
        "timestamp_": "absolute",
        "message_source": None,
        "serialization_metadata": {"custom_symbol_offsets": []},
    }
    if role == "assistant":
        metadata |= {
            "model_slug": "gpt-5",
            "default_model_slug": "gpt-5",
            "finish_details": {"type": "stop", "stop_tokens": [200002]},
            "is_complete": True,
            "citations": [],
            "content_references": [],
            "parent_id": request_id,
        }
    return {
        "id": node_id,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": at + 0.25,
        "update_time": None,
        "content": {"content_type": "text", "parts": [text]},
        "status": "finished_successfully",
        "end_turn": role == "assistant" or None,
        "weight": 1.0,
        "metadata": metadata,
        "recipient": "all",
        "channel": "final" if role == "assistant" else None,
    }


def write_archive(path: Path, platform: Platform, json_bytes: int, *, seed: int = 1) -> Written:
    """A zip with one `conversations.json` of at least `json_bytes`; memory stays small."""
    size = conversations = messages = 0
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive,
        archive.open("conversations.json", "w", force_zip64=True) as stream,
    ):
        size += stream.write(b"[")
        for conversation, count in ChatMaker(platform, seed).conversations():
            if size >= json_bytes:
                break
            text = json.dumps(conversation, ensure_ascii=False, separators=(",", ":"))
            size += stream.write(((", " if conversations else "") + text).encode())
            conversations += 1
            messages += count
        size += stream.write(b"]")
    return Written(conversations, messages, size)
