"""Claude.ai: data exports of all three generations, single chats, snapshots and design chats.

`text` of a message is a join of everything, thinking and placeholders included; its words are
the text blocks of `content`. Edits and retries share a `parent_message_uuid`; older exports have
no parents, and there the list's order is the chat.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from backread.domain import Aside, MessageKind, ParsedConversation, ParsedMessage, Platform, Role
from backread.errors import UnreadableImport
from ingest.importers import tree
from ingest.importers.base import Raw, dict_in, dicts_in, text_in, time_in
from ingest.importers.claude_artifacts import without_tags
from ingest.importers.claude_blocks import Blocks, attachments_in, read_blocks, without_placeholders
from ingest.importers.claude_design import is_design_chat, parse_design_message

_ROLES = {"human": Role.USER, "user": Role.USER, "assistant": Role.ASSISTANT}

_ParseMessage = Callable[[str, str | None, Raw, Counter[str]], ParsedMessage]


class ClaudeAiImporter:
    """Guarantees: parents before children; one id per message; the shown line never empty while
    there is a message."""

    slug = Platform.CLAUDE_AI.value
    version = 3

    def recognises(self, raw: Any) -> bool:
        """`chat_messages` whose messages have a `sender`; empty chats have a `uuid` of their own.
        Design chats keep `messages` with `content` objects instead."""
        if not isinstance(raw, dict):
            return False
        if not isinstance(raw.get("chat_messages"), list):
            return is_design_chat(raw)
        messages = dicts_in(raw["chat_messages"])
        return any("sender" in m for m in messages) if messages else "uuid" in raw

    def identify(self, raw: Raw) -> str:
        """The chat's uuid; a snapshot without one goes by its first message."""
        for key in ("uuid", "conversation_id", "id"):
            if text_in(raw.get(key)):
                return text_in(raw.get(key))
        for message in dicts_in(raw.get("chat_messages")):
            if text_in(message.get("uuid")):
                return f"message:{text_in(message.get('uuid'))}"
        return ""

    def parse(self, raw: Raw) -> ParsedConversation:
        external_id = self.identify(raw)
        if not external_id:
            raise UnreadableImport("The conversation has neither an id nor a message.")
        news: Counter[str] = Counter()
        is_design = not isinstance(raw.get("chat_messages"), list)
        messages = _messages(raw, parse_design_message if is_design else _parse_message, news)
        has_address = not is_design and not external_id.startswith("message:")
        return ParsedConversation(
            platform=Platform.CLAUDE_AI,
            external_id=external_id,
            title=_title(raw),
            messages=tuple(messages.values()),
            shown_line=tuple(_shown_line(raw, messages)),
            created_at=time_in(raw.get("created_at")),
            updated_at=time_in(raw.get("updated_at")),
            url=f"https://claude.ai/chat/{external_id}" if has_address else "",
            model=text_in(raw.get("model")),
            project=_project(raw),
            assistant_name="Claude",
            is_starred=raw.get("is_starred") is True,
            news=dict(news),
            extra=_extra(raw, is_design=is_design),
        )


CLAUDE_AI = ClaudeAiImporter()


def _project(raw: Raw) -> str:
    """By its name; some exports know its id only."""
    project = dict_in(raw.get("project"))
    named = text_in(project.get("name")) or text_in(project.get("uuid"))
    return named or text_in(raw.get("project_uuid"))


def _extra(raw: Raw, *, is_design: bool) -> dict[str, Any]:
    summary = text_in(raw.get("summary")).strip()
    extra: dict[str, Any] = {"summary": summary} if summary else {}
    return extra | {"is_design_chat": True} if is_design else extra


def _title(raw: Raw) -> str:
    for key in ("name", "title", "snapshot_name"):
        if text_in(raw.get(key)).strip():
            return text_in(raw.get(key)).strip()
    return ""


def _messages(raw: Raw, parse: _ParseMessage, news: Counter[str]) -> dict[str, ParsedMessage]:
    by_id = _by_id(raw, news)
    parents = tree.sound_parents(_links(by_id))
    return {
        message_id: parse(message_id, parents[message_id], by_id[message_id], news)
        for message_id in tree.parents_first(parents)
    }


def _by_id(raw: Raw, news: Counter[str]) -> dict[str, Raw]:
    items = dicts_in(raw.get("chat_messages")) or dicts_in(raw.get("messages"))
    if items and all(isinstance(item.get("index"), int) for item in items):
        items = sorted(items, key=lambda item: int(item["index"]))
    by_id: dict[str, Raw] = {}
    for place, item in enumerate(items):
        message_id = text_in(item.get("uuid")) or text_in(item.get("id")) or f"index:{place}"
        if message_id in by_id:
            news["message:repeated id"] += 1
            if by_id[message_id] == item:
                continue
            message_id = f"{message_id}#{place}"
        by_id[message_id] = item
    return by_id


def _links(by_id: Mapping[str, Raw]) -> dict[str, str | None]:
    """The parents that messages name. When none names a known one, the list is the chat. The
    export's own id for "no parent" is a uuid that no message has."""
    named: dict[str, str | None] = {}
    for message_id, item in by_id.items():
        parent = item.get("parent_message_uuid")
        named[message_id] = parent if isinstance(parent, str) and parent in by_id else None
    if any(named.values()):
        return named
    links: dict[str, str | None] = {}
    previous: str | None = None
    for message_id in by_id:
        links[message_id], previous = previous, message_id
    return links


def _shown_line(raw: Raw, messages: Mapping[str, ParsedMessage]) -> Sequence[str]:
    parents = {message_id: message.parent_external_id for message_id, message in messages.items()}
    current = raw.get("current_leaf_message_uuid")
    if isinstance(current, str) and current in parents:
        return tree.line_to(current, parents)
    times = {message_id: message.created_at for message_id, message in messages.items()}
    leaf = tree.newest_leaf(parents, times)
    return tree.line_to(leaf, parents) if leaf is not None else ()


def _parse_message(
    message_id: str, parent_id: str | None, raw: Raw, news: Counter[str]
) -> ParsedMessage:
    blocks = read_blocks(raw.get("content"), news)
    text = "\n\n".join(text for text in blocks.texts if text.strip())
    if not text:
        text = _plain_text(raw, blocks)
    attachments = attachments_in(raw, blocks.attachments)
    sender = raw.get("sender")
    role = _ROLES.get(sender) if isinstance(sender, str) else None
    if role is Role.ASSISTANT:
        text = without_tags(text, blocks.asides)
    if role is None:
        news[f"sender:{sender}"] += 1
    is_said = bool(text.strip() or (attachments and role is Role.USER))
    return ParsedMessage(
        external_id=message_id,
        parent_external_id=parent_id,
        role=role or Role.SYSTEM,
        kind=_kind(is_said and role is not None, blocks.asides),
        text=text.strip("\n"),
        created_at=time_in(raw.get("created_at")),
        model=text_in(raw.get("model")),
        attachments=attachments,
        asides=tuple(blocks.asides),
        citations=tuple(blocks.citations.values()),
        has_weak_id=not (text_in(raw.get("uuid")) or text_in(raw.get("id"))),
    )


def _plain_text(raw: Raw, blocks: Blocks) -> str:
    """`text`, when there are no text blocks, without what is known to stand aside."""
    text = without_placeholders(text_in(raw.get("text")))
    for aside in blocks.asides:
        if aside.text and aside.kind != "unknown":
            text = text.replace(aside.text, "")
    return text if text.strip() else ""


def _kind(is_said: bool, asides: Sequence[Aside]) -> MessageKind:
    if is_said:
        return MessageKind.DIALOGUE
    kinds = {aside.kind for aside in asides}
    if kinds & {"tool_call", "tool_result", "artifact"}:
        return MessageKind.TOOL
    return MessageKind.REASONING if "reasoning" in kinds else MessageKind.HIDDEN
