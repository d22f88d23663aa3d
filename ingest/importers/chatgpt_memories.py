"""What a ChatGPT conversation tells of ChatGPT's memory of the person.

There is no list of memories in the export. They show in three places: what the model wrote to its
`bio` tool, the list of saved memories that was put before the model, and the custom instructions.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from backread.domain import ParsedMemory
from ingest.importers.base import Raw, dict_in, list_in, text_in, time_in

SAVED = "Saved memory"
ABOUT_THE_PERSON = "Custom instructions: about you"
HOW_TO_ANSWER = "Custom instructions: how to answer"

_LISTED = re.compile(r"\d+\.\s*(?:\[(?P<day>\d{4}-\d\d-\d\d)[^\]]*\]\.?)?\s*(?P<text>.*)")
_FORGET = re.compile(r"forget(?:\s+that)?\b[\s:,]*(?P<text>.*)", re.IGNORECASE | re.DOTALL)
# ChatGPT wraps custom instructions into its own explanation and a fence.
_FENCED = re.compile(r"```(?:\w*\n)?(?P<text>.*)```", re.DOTALL)


def memories_in(mapping: Mapping[str, Any], said_at: datetime | None) -> tuple[ParsedMemory, ...]:
    """Everything remembered that the tree of messages shows, in its order; what the person had
    forgotten again is left out. `said_at` is for what has no time of its own."""
    found: list[ParsedMemory] = []
    for node_id, node in mapping.items():
        message = node.get("message") if isinstance(node, dict) else None
        if not isinstance(message, dict):
            continue
        if message.get("recipient") == "bio":
            _write(found, node_id, message)
            continue
        content = message.get("content")
        shape = content.get("content_type") if isinstance(content, dict) else None
        if shape == "model_editable_context":
            found += _listed(node_id, text_in(dict_in(content).get("model_set_context")))
        elif shape == "user_editable_context":
            found += _instructions(node_id, message, said_at)
    return tuple(found)


def _write(found: list[ParsedMemory], node_id: str, message: Raw) -> None:
    """A call of the `bio` tool: a statement to keep, or one to forget."""
    content = dict_in(message.get("content"))
    parts = [text_in(part) for part in list_in(content.get("parts"))]
    text = ("\n".join(part for part in parts if part) or text_in(content.get("text"))).strip()
    forgotten = _FORGET.fullmatch(text)
    if forgotten:
        gone = _bare(forgotten["text"])
        found[:] = [each for each in found if _bare(each.text) != gone]
    elif text:
        found.append(ParsedMemory(text, SAVED, time_in(message.get("create_time")), node_id))


def _bare(text: str) -> str:
    """ "The user likes tea." and "User likes tea" are one statement."""
    return " ".join(text.casefold().split()).removeprefix("the ").rstrip(".")


def _listed(node_id: str, text: str) -> Iterator[ParsedMemory]:
    """`1. [2024-05-01]. Lives in Lisbon.`, under a title. Lines without a number go on with the
    statement before them."""
    statement, day = "", None
    for line in text.split("\n"):
        found = _LISTED.fullmatch(line.strip())
        if found:
            if statement:
                yield ParsedMemory(statement, SAVED, day, node_id)
            statement, day = found["text"].strip(), _day(found["day"])
        elif statement and line.strip():
            statement = f"{statement}\n{line.strip()}"
    if statement:
        yield ParsedMemory(statement, SAVED, day, node_id)


def _day(text: str | None) -> datetime | None:
    found = time_in(text) if text else None
    return found.replace(tzinfo=UTC) if found else None


def _instructions(node_id: str, message: Raw, said_at: datetime | None) -> Iterator[ParsedMemory]:
    """Each of the two texts is one suggestion: a person wrote it as a whole."""
    content = dict_in(message.get("content"))
    bare = dict_in(dict_in(message.get("metadata")).get("user_context_message_data"))
    at = time_in(message.get("create_time")) or said_at
    for source, plain, wrapped in (
        (ABOUT_THE_PERSON, "about_user_message", "user_profile"),
        (HOW_TO_ANSWER, "about_model_message", "user_instructions"),
    ):
        text = text_in(bare.get(plain)).strip() or _unwrapped(text_in(content.get(wrapped)))
        if text:
            yield ParsedMemory(text, source, at, node_id)


def _unwrapped(text: str) -> str:
    found = _FENCED.search(text)
    return (found["text"] if found else text).strip()
