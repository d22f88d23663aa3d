"""What the overview keeps of one conversation: months, language, names, what it shows of its
person. Made once from the person's own words, and again only when the conversation changes."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from backread.jobs import JobContext, one_of_many
from backread.kernel import Kernel
from backread.store.engine import WriteSession
from backread.store.models import Conversation, ConversationDigest
from backread.store.repositories import overview as store
from backread.store.repositories.overview import SpokenMessage
from backread.text.language import language_of
from recall.overview.names import Named, names_in
from recall.overview.sensitive import is_private, is_sensitive
from recall.overview.styles import is_of_oneself, traits_in
from recall.sentences import sentences

DIGEST_MAKER = "digest-1"
BATCH = 64

# What of a conversation is read: enough to know it by, whatever its length.
_MOST_MESSAGES = 120
_MESSAGE_CHARACTERS = 2_000
_CONVERSATION_CHARACTERS = 12_000
_TOPIC_CHARACTERS = 600
_MOST_NAMES, _MOST_SAID = 20, 3
_PASTED = 1_200  # a longer message is mostly something pasted, not the person's own words
_SAID_CHARACTERS = 200
_VECTOR = np.dtype("<f2")


def digests_made_with(kernel: Kernel) -> str:
    """Names the way digests are made and the embedding model."""
    return f"{DIGEST_MAKER}|{kernel.embedder.signature}"[:200]


def digest_some(kernel: Kernel, account_id: str, context: JobContext | None = None) -> int:
    """Reads up to 64 conversations that are new or have changed; returns how many it read. One
    that cannot be read is left out of the portrait until it changes. Raises Unavailable when the
    embedding model is away."""
    way = digests_made_with(kernel)
    with kernel.store.read() as session:
        conversations = store.conversations_to_digest(session, account_id, way, limit=BATCH)
        spoken = store.spoken_messages(
            session,
            account_id,
            [each.id for each in conversations],
            characters=_MESSAGE_CHARACTERS,
            most=_MOST_MESSAGES,
        )
    if not conversations:
        return 0
    read = [_read(each, spoken[each.id], context) for each in conversations]
    vectors = kernel.embedder.embed_passages([each.topic_text or "…" for each in read])
    rows = [
        ConversationDigest(
            conversation_id=each.conversation.id,
            account_id=account_id,
            made_with=way,
            source_changed_at=each.conversation.changed_at,
            language=each.language,
            is_private=each.is_private,
            months=each.months,
            body={} if each.is_private else each.body,
            vector=b"" if each.is_private else vector.astype(_VECTOR).tobytes(),
            in_overview=False,
        )
        for each, vector in zip(read, vectors, strict=True)
    ]
    with kernel.store.write() as session:
        _write(session, rows)
    return len(rows)


def _read(
    conversation: Conversation, spoken: Sequence[SpokenMessage], context: JobContext | None
) -> "Reading":
    with one_of_many("digest_conversation", conversation.id, context):
        return Reading.of(conversation, spoken)
    return Reading(conversation, months={}, language="", is_private=True, topic_text="", body={})


def _write(session: WriteSession, rows: Sequence[ConversationDigest]) -> None:
    store.write_digests(session, rows)


def vector_of(digest: ConversationDigest) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.frombuffer(digest.vector, dtype=_VECTOR).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Reading:
    """One conversation as it was read."""

    conversation: Conversation
    months: dict[str, int]
    language: str
    is_private: bool
    topic_text: str
    body: dict[str, Any]

    @classmethod
    def of(cls, conversation: Conversation, spoken: Sequence[SpokenMessage]) -> "Reading":
        said = _said(spoken)
        texts = [each.text for each in said]
        title = " ".join(conversation.title.split())
        private = is_private(title, texts)
        topic_text = _topic_text(title, texts)
        return cls(
            conversation=conversation,
            months=dict(Counter(f"{m.created_at:%Y-%m}" for m in spoken if m.created_at)),
            language=language_of(" ".join(texts) or title).code,
            is_private=private,
            topic_text="" if private else topic_text,
            body={} if private else _body(topic_text, said),
        )


def _said(spoken: Sequence[SpokenMessage]) -> list[SpokenMessage]:
    """The person's messages, up to a bound."""
    kept: list[SpokenMessage] = []
    left = _CONVERSATION_CHARACTERS
    for each in spoken:
        if each.is_users and each.text:
            kept.append(each)
            left -= len(each.text)
            if left <= 0:
                break
    return kept


def _topic_text(title: str, texts: Sequence[str]) -> str:
    """What the conversation is known by: its title and how it began, without code."""
    parts = [title] if title else []
    left = _TOPIC_CHARACTERS - len(title)
    for text in texts[:3]:
        for sentence in sentences(text):
            if left <= 0:
                break
            parts.append(sentence[:left])
            left -= len(sentence)
    return "\n".join(parts)


def _body(topic_text: str, said: Sequence[SpokenMessage]) -> dict[str, Any]:
    return {
        "topic": topic_text,
        "hours": _hours(said),
        "names": _names(said),
        "traits": _traits(said),
        "said": _of_oneself(said),
    }


def _hours(said: Sequence[SpokenMessage]) -> dict[str, int]:
    """Hours of the week in UTC, Monday 00:00 being 0, in which the person wrote."""
    hours = Counter(
        str(each.created_at.weekday() * 24 + each.created_at.hour)
        for each in said
        if each.created_at
    )
    return dict(hours)


def _names(said: Sequence[SpokenMessage]) -> list[list[Any]]:
    """[kind, name, times, message id of the first]."""
    times: Counter[Named] = Counter()
    first: dict[Named, str] = {}
    for each in said:
        for named, count in names_in(each.text).items():
            times[named] += count
            first.setdefault(named, each.id)
    kept = sorted(times, key=lambda named: (-times[named], named.kind, named.name))
    return [
        [named.kind, named.name, times[named], first[named]]
        for named in kept[:_MOST_NAMES]
        if not is_sensitive(named.name)
    ]


def _traits(said: Sequence[SpokenMessage]) -> dict[str, str]:
    """By trait, the first message that shows it."""
    found: dict[str, str] = {}
    for each in said:
        if len(each.text) > _PASTED:
            continue
        for key in traits_in(each.text):
            found.setdefault(key, each.id)
    return found


def _of_oneself(said: Sequence[SpokenMessage]) -> list[list[str]]:
    """[sentence, message id]."""
    found: list[list[str]] = []
    for each in said:
        if len(each.text) > _PASTED:
            continue
        for sentence in sentences(each.text):
            fits = len(sentence) <= _SAID_CHARACTERS and is_of_oneself(sentence)
            if fits and not is_sensitive(sentence):
                found.append([sentence, each.id])
            if len(found) == _MOST_SAID:
                return found
    return found


def total_hours(digests: Sequence[Mapping[str, Any]]) -> dict[int, int]:
    """Hours of the week over many digests' bodies."""
    total: dict[int, int] = defaultdict(int)
    for body in digests:
        for hour, count in body.get("hours", {}).items():
            total[int(hour)] += int(count)
    return total
