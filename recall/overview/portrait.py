"""The portrait: what somebody's chats are about, and what recurs in them, each with where it says
so. Made from digests alone, so that it takes a moment even for a large archive."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

import numpy as np

from backread.store.models import Conversation, ConversationDigest
from recall.grouping.clustering import across_languages, centred, group, unit
from recall.grouping.phrases import distinctive, name_from
from recall.overview.digests import total_hours, vector_of
from recall.overview.names import PERSON, PROJECT, TOOL
from recall.overview.sensitive import is_sensitive
from recall.overview.styles import FEWEST_CHATS, sentence_of

MOST_CONVERSATIONS = 20_000  # the newest; older ones are counted, not told of

_MOST_TOPICS = 12
_FEWEST_GROUPED = 6  # conversations; of fewer, each is a topic of its own
_MOST_PHRASES = 6
_CITED = 4
_MOST_NAMES = {PERSON: 10, PROJECT: 10, TOOL: 15}
_RECURS_IN = 2
_MOST_SAID = 8
_ENOUGH_MESSAGES = 100  # to tell when somebody writes
_CLEAR_SHARE = 0.45  # of the messages, in a third of the day
_PARTS = {"at night": (22, 6), "in the morning": (6, 14), "in the afternoon and evening": (14, 22)}

Entry = tuple[ConversationDigest, Conversation]


@dataclass(frozen=True, slots=True)
class Portrait:
    """`body` is what is kept; `conversation_ids` are all that it was made from."""

    body: dict[str, Any]
    conversation_ids: list[str]


def make_portrait(entries: Sequence[Entry], zone: tzinfo) -> Portrait:
    """The portrait of the conversations, given oldest first and without private ones."""
    told = [each for each in entries if each[0].body]
    return Portrait(
        {
            "topics": _topics(told),
            "people": _names(told, PERSON),
            "projects": _projects(told),
            "tools": _names(told, TOOL),
            "style": [*_traits(told), *_times_of_day(told, zone)],
            "said": _said(told),
        },
        [conversation.id for _, conversation in entries],
    )


def _topics(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    texts = [digest.body.get("topic", "") for digest, _ in entries]
    usable = [place for place, text in enumerate(texts) if text]
    if not usable:
        return []
    if len(usable) < _FEWEST_GROUPED:
        return [_single(entries[place][1]) for place in reversed(usable)]
    rows = across_languages(
        np.stack([vector_of(entries[place][0]) for place in usable]),
        [entries[place][0].language for place in usable],
    )
    labels = group(rows, [texts[place] for place in usable])
    near = centred(rows)
    found = []
    for label in range(int(labels.max()) + 1):
        own = np.flatnonzero(labels == label)
        if len(own) >= _RECURS_IN:
            centre = unit(near[own].mean(axis=0))
            order = own[np.argsort(-(near[own] @ centre), kind="stable")]
            found.append([usable[place] for place in order.tolist()])
    found.sort(key=lambda each: (-len(each), each[0]))
    ranked = distinctive(texts, found, most=3 * _MOST_PHRASES)
    topics = []
    for places, phrases in zip(found, ranked, strict=True):
        named = [each for each in phrases if not is_sensitive(each.surface)]
        name, _ = name_from(named)
        if name:
            topics.append(
                _topic(
                    name,
                    [each.surface for each in named[:_MOST_PHRASES]],
                    [entries[place][1] for place in places],
                )
            )
    return topics[:_MOST_TOPICS]


def _single(conversation: Conversation) -> dict[str, Any]:
    name = " ".join(conversation.title.split())[:120] or "Untitled"
    return _topic(name, [], [conversation])


def _topic(name: str, phrases: list[str], conversations: Sequence[Conversation]) -> dict[str, Any]:
    """`conversations` come the most typical first."""
    months = Counter(
        f"{each.last_message_at:%Y-%m}" for each in conversations if each.last_message_at
    )
    dated = [each.first_message_at for each in conversations if each.first_message_at]
    ends = [each.last_message_at for each in conversations if each.last_message_at]
    return {
        "name": name,
        "phrases": phrases,
        "count": len(conversations),
        "first": min(dated).isoformat() if dated else None,
        "last": max(ends).isoformat() if ends else None,
        "months": dict(sorted(months.items())),
        "cited": [[each.id, ""] for each in conversations[:_CITED]],
    }


def _names(entries: Sequence[Entry], kind: str) -> list[dict[str, Any]]:
    """Names that recur in several conversations, most first."""
    seen: dict[str, list[tuple[str, str]]] = defaultdict(list)
    written: dict[str, Counter[str]] = defaultdict(Counter)
    for digest, conversation in entries:
        for each_kind, name, times, message_id in digest.body.get("names", []):
            if each_kind == kind:
                seen[name.lower()].append((conversation.id, message_id))
                written[name.lower()][name] += times
    found = [
        _named(written[key].most_common(1)[0][0], places)
        for key, places in seen.items()
        if len(places) >= _RECURS_IN
    ]
    found.sort(key=lambda each: (-each["count"], each["name"]))
    return found[: _MOST_NAMES[kind]]


def _named(name: str, places: Sequence[tuple[str, str]]) -> dict[str, Any]:
    newest = [list(each) for each in places[::-1][:_CITED]]
    return {"name": name, "count": len(places), "cited": newest}


def _projects(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Projects of the platforms, and others that are called one."""
    places: dict[str, list[tuple[str, str]]] = defaultdict(list)
    names: dict[str, str] = {}
    for _, conversation in entries:
        name = " ".join(conversation.project.split())[:120]
        if name and not is_sensitive(name):
            places[name.lower()].append((conversation.id, ""))
            names.setdefault(name.lower(), name)
    found = [_named(names[key], each) for key, each in places.items() if len(each) >= _RECURS_IN]
    known = {each["name"].lower() for each in found}
    found += [each for each in _names(entries, PROJECT) if each["name"].lower() not in known]
    found.sort(key=lambda each: (-each["count"], each["name"]))
    return found[: _MOST_NAMES[PROJECT]]


def _traits(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    seen: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for digest, conversation in entries:
        for key, message_id in digest.body.get("traits", {}).items():
            seen[key].append((conversation.id, message_id))
    found = [
        {
            "text": sentence_of(key),
            "count": len(places),
            "cited": [list(each) for each in places[::-1][:_CITED]],
        }
        for key, places in seen.items()
        if len(places) >= FEWEST_CHATS and sentence_of(key)
    ]
    return sorted(found, key=lambda each: (-each["count"], each["text"]))


def _times_of_day(entries: Sequence[Entry], zone: tzinfo) -> list[dict[str, Any]]:
    """When they write, if that is clear. Its evidence is the count, not a message."""
    hours = total_hours([digest.body for digest, _ in entries])
    total = sum(hours.values())
    if total < _ENOUGH_MESSAGES:
        return []
    offset = datetime.now(UTC).astimezone(zone).utcoffset() or timedelta()
    shift = round(offset.total_seconds() / 3600)
    local: Counter[int] = Counter()
    weekend = 0
    for hour, count in hours.items():
        moved = (hour + shift) % (7 * 24)
        local[moved % 24] += count
        weekend += count if moved >= 5 * 24 else 0
    found = []
    for part, (start, end) in _PARTS.items():
        inside = [h % 24 for h in range(start, end if end > start else end + 24)]
        share = sum(local[hour] for hour in inside) / total
        if share >= _CLEAR_SHARE:
            found.append(_counted(f"Writes mostly {part} ({share:.0%} of messages).", total))
            break
    if weekend / total <= 0.1:
        found.append(_counted(f"Writes on working days ({1 - weekend / total:.0%}).", total))
    return found


def _counted(text: str, messages: int) -> dict[str, Any]:
    return {"text": text, "count": 0, "messages": messages, "cited": []}


def _said(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """What they said of themselves, newest first, each thing once."""
    found: list[dict[str, Any]] = []
    seen: set[str] = set()
    for digest, conversation in reversed(entries):
        for sentence, message_id in digest.body.get("said", []):
            key = " ".join(sentence.lower().split())
            if key in seen:
                continue
            seen.add(key)
            at = conversation.last_message_at
            found.append(
                {
                    "text": sentence,
                    "at": at.isoformat() if at else None,
                    "cited": [[conversation.id, message_id]],
                }
            )
            if len(found) == _MOST_SAID:
                return found
    return found
