"""A conversation as a Markdown file for people: the dialogue that its platform shows."""

import re
import unicodedata
from collections.abc import Sequence

from backread.artifacts import Artifact, HasPlace, Version, by_message
from backread.identity import content_hash
from backread.store.models import Conversation, Message
from ingest.own_archive.form import FORM, MANIFEST_KEY

_NAME_CHARS = 60
_FENCES = re.compile(r"`{3,}")
_LANGUAGE = re.compile(r"[A-Za-z0-9_+#.-]{1,24}")
_NOT_IN_NAMES = re.compile(r"[^\w.-]+")


def readable_name(conversation: Conversation) -> str:
    """A path that says what is in it, the same in every archive of the conversation, and safe in
    every file system."""
    title = unicodedata.normalize("NFC", conversation.title)
    words = _NOT_IN_NAMES.sub("-", title).strip("-.")[:_NAME_CHARS].strip("-.").lower()
    when = conversation.first_message_at or conversation.created_at
    day = when.strftime("%Y-%m-%d") if when else "undated"
    own = content_hash(conversation.external_id.encode("utf-8", "surrogatepass"))[:10]
    return f"conversations/{conversation.platform}/{day}_{words or 'untitled'}_{own}.md"


def readable(
    conversation: Conversation,
    messages: Sequence[Message],
    changes: Sequence[HasPlace] = (),
) -> str:
    """The whole text, with the artifacts that `changes` (messages of the same line) made. Its
    front matter says that it came from an archive, so that importing the archive's folder reads
    the raw captures and not this copy of them."""
    about = {
        MANIFEST_KEY: str(FORM),
        "title": _quoted(conversation.title),
        "platform": conversation.platform,
        "id": _quoted(conversation.external_id),
        "created": conversation.created_at.isoformat() if conversation.created_at else "",
        "updated": conversation.updated_at.isoformat() if conversation.updated_at else "",
        "model": _quoted(conversation.model) if conversation.model else "",
        "project": _quoted(conversation.project) if conversation.project else "",
        "url": _quoted(conversation.url) if conversation.url else "",
        "starred": "true" if conversation.is_starred else "",
        "archived": "true" if conversation.is_archived else "",
    }
    told = [f"{key}: {value}" for key, value in about.items() if value]
    title = " ".join(conversation.title.split()) or "Untitled"
    parts = ["\n".join(["---", *told, "---"]), f"# {title}"]
    artifacts = by_message(messages, changes)
    for message in messages:
        parts.append(_turn(message, conversation.assistant_name))
        parts += [_artifact(*each) for each in artifacts.get(message.id, ())]
    return "\n\n".join(parts) + "\n"


def _turn(message: Message, assistant_name: str) -> str:
    speaker = "You" if message.role == "user" else message.author or assistant_name
    when = f" · {message.created_at:%Y-%m-%d %H:%M} UTC" if message.created_at else ""
    parts = [f"## {' '.join(speaker.split()) or message.role.title()}{when}", message.text]
    parts += [f"[attached: {_named(each)}]" for each in message.attachments]
    parts += [
        f"- <{each.get('url', '')}> {each.get('title', '')}".rstrip() for each in message.citations
    ]
    return "\n\n".join(part for part in parts if part)


def _artifact(artifact: Artifact, version: Version) -> str:
    """The latest version with its text; of earlier ones that there was one."""
    place = f"version {version.number} of {len(artifact.versions)}"
    name = " ".join(artifact.title.split()) or "Untitled"
    if version is not artifact.latest:
        return f"[artifact: {name}, {place}]"
    fence = "`" * (max(map(len, _FENCES.findall(version.text)), default=2) + 1)
    language = artifact.language if _LANGUAGE.fullmatch(artifact.language) else ""
    return f"[artifact: {name}, {place}]\n\n{fence}{language}\n{version.text}\n{fence}"


def _named(attachment: dict[str, object]) -> str:
    return " ".join(str(attachment.get("name", "")).split())


def _quoted(text: str) -> str:
    """A YAML scalar in double quotes, on one line."""
    flat = " ".join(text.split())
    return '"' + flat.replace("\\", "\\\\").replace('"', '\\"') + '"'
