"""ChatGPT: data exports of both layouts, and raw API conversations as browser exporters save them.

A conversation is a tree, `mapping`. What ChatGPT shows is `current_node` and its parents; edits
and regenerated answers are the other branches.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from backread.domain import MessageKind, ParsedConversation, ParsedMessage, Platform, Role
from backread.errors import UnreadableImport
from ingest.importers import tree
from ingest.importers.base import Raw, dict_in, dicts_in, list_in, text_in, time_in
from ingest.importers.chatgpt_canvas import with_canvas_ids
from ingest.importers.chatgpt_memories import memories_in
from ingest.importers.chatgpt_message import asset_id, parse_message
from ingest.importers.envelopes import with_key

# Key under which a capture keeps what the archive's list of asset names said about its files.
_NAMES_KEY = "backread_asset_names"
_PROJECT_PREFIX = "g-p-"
_NODES_LOOKED_AT = 50
_MOST_PLUGINS = 50


class ChatGptImporter:
    """Guarantees: parents before children; one id per node; the shown line never empty while the
    tree has a message."""

    slug = Platform.CHATGPT.value
    version = 3

    def recognises(self, raw: Any) -> bool:
        """`mapping` with `current_node`, or with messages that have an `author`. DeepSeek has
        the same key and file name, but writes `fragments`."""
        if not isinstance(raw, dict) or not isinstance(raw.get("mapping"), dict):
            return False
        messages = list(_some_messages(raw["mapping"]))
        if any("fragments" in message for message in messages) or "inserted_at" in raw:
            return False
        if "current_node" in raw:
            return True
        return any("author" in message for message in messages)

    def identify(self, raw: Raw) -> str:
        """The conversation's id; without one, its first node that belongs to no other chat."""
        for key in ("conversation_id", "id"):
            if text_in(raw.get(key)):
                return text_in(raw.get(key))
        for node_id, node in dict_in(raw.get("mapping")).items():
            if dict_in(node).get("message") and node_id != "client-created-root":
                return f"node:{node_id}"
        return ""

    def parse(self, raw: Raw) -> ParsedConversation:
        external_id = self.identify(raw)
        if not external_id:
            raise UnreadableImport("The conversation has neither an id nor a message.")
        mapping = {
            node_id: node
            for node_id, node in dict_in(raw.get("mapping")).items()
            if isinstance(node, dict)
        }
        news: Counter[str] = Counter()
        messages = _messages(mapping, dict_in(raw.get(_NAMES_KEY)), news)
        messages = with_canvas_ids(messages, mapping)
        line = _shown_line(raw, mapping, messages)
        has_address = not external_id.startswith("node:")
        return ParsedConversation(
            platform=Platform.CHATGPT,
            external_id=external_id,
            title=text_in(raw.get("title")).strip(),
            messages=tuple(messages.values()),
            shown_line=tuple(line),
            created_at=time_in(raw.get("create_time")),
            updated_at=time_in(raw.get("update_time")),
            url=f"https://chatgpt.com/c/{external_id}" if has_address else "",
            model=text_in(raw.get("default_model_slug")) or _last_model(messages.values()),
            project=_project(raw),
            assistant_name="ChatGPT",
            is_starred=raw.get("is_starred") is True,
            is_archived=raw.get("is_archived") is True,
            memories=memories_in(mapping, time_in(raw.get("create_time"))),
            news=dict(news),
            extra=_extra(raw),
        )


CHATGPT = ChatGptImporter()


def with_asset_names(raw: dict[str, Any], body: bytes, names: Mapping[str, str]) -> bytes:
    """The capture with the names of those of its files that only the archive's list knows.

    They go into the capture itself, so that it can be parsed again without the archive.
    """
    wanted = {}
    for message in _messages_in(dict_in(raw.get("mapping"))):
        for pointer in _pointers(message):
            name = names.get(f"{pointer}.dat") or names.get(pointer)
            if name:
                wanted[pointer] = name
    if not wanted:
        return body
    raw[_NAMES_KEY] = wanted
    return with_key(body, _NAMES_KEY, wanted)


def _pointers(message: Raw) -> Iterable[str]:
    for part in dicts_in(dict_in(message.get("content")).get("parts")):
        for holder in (part, dict_in(part.get("audio_asset_pointer"))):
            pointer = asset_id(holder.get("asset_pointer"))
            if pointer:
                yield pointer
    for attachment in dicts_in(dict_in(message.get("metadata")).get("attachments")):
        if not attachment.get("name") and text_in(attachment.get("id")):
            yield text_in(attachment.get("id"))


def _messages_in(mapping: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    for node in mapping.values():
        if isinstance(node, dict) and isinstance(node.get("message"), dict):
            yield node["message"]


def _some_messages(mapping: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    for count, message in enumerate(_messages_in(mapping)):
        if count == _NODES_LOOKED_AT:
            return
        yield message


def _links(mapping: Mapping[str, dict[str, Any]]) -> dict[str, str | None]:
    """`parent` where there is one; some exports only have `children`, some neither."""
    from_children: dict[str, str] = {}
    for node_id, node in mapping.items():
        for child in list_in(node.get("children")):
            if isinstance(child, str):
                from_children.setdefault(child, node_id)
    links: dict[str, str | None] = {}
    for node_id, node in mapping.items():
        parent = node.get("parent")
        known = isinstance(parent, str) and parent in mapping
        links[node_id] = parent if known else from_children.get(node_id)
    has_links = any(links.values()) or any("parent" in node for node in mapping.values())
    if not has_links:
        previous: str | None = None
        for node_id in links:
            links[node_id], previous = previous, node_id
    return links


def _messages(
    mapping: Mapping[str, dict[str, Any]], asset_names: Raw, news: Counter[str]
) -> dict[str, ParsedMessage]:
    sound = tree.sound_parents(_links(mapping))
    parents = tree.without(sound, lambda node: isinstance(mapping[node].get("message"), dict))
    return {
        node_id: parse_message(
            node_id, parents[node_id], mapping[node_id]["message"], asset_names, news
        )
        for node_id in tree.parents_first(parents)
    }


def _shown_line(
    raw: Raw, mapping: Mapping[str, dict[str, Any]], messages: Mapping[str, ParsedMessage]
) -> list[str]:
    parents = {node_id: message.parent_external_id for node_id, message in messages.items()}
    current = raw.get("current_node")
    if isinstance(current, str) and current in mapping:
        if current not in parents:  # a node without a message: the nearest above that has one
            sound = tree.sound_parents(_links(mapping))
            above = reversed(tree.line_to(current, sound))
            current = next((node for node in above if node in parents), None)
        if current is not None:
            return tree.line_to(current, parents)
    times = {node_id: message.created_at for node_id, message in messages.items()}
    shown = [n for n, message in messages.items() if message.kind is MessageKind.DIALOGUE]
    leaf = tree.newest_leaf(parents, times, shown) or tree.newest_leaf(parents, times)
    return tree.line_to(leaf, parents) if leaf is not None else []


def _last_model(messages: Iterable[ParsedMessage]) -> str:
    models = [m.model for m in messages if m.role is Role.ASSISTANT and m.model]
    return models[-1] if models else ""


def _project(raw: Raw) -> str:
    """Exports name a project by its id only."""
    for key in ("conversation_template_id", "gizmo_id"):
        value = text_in(raw.get(key))
        if value.startswith(_PROJECT_PREFIX):
            return value
    return text_in(raw.get("gizmo_id")) if raw.get("gizmo_type") == "snorlax" else ""


def _extra(raw: Raw) -> dict[str, Any]:
    extra: dict[str, Any] = {}
    gizmo = text_in(raw.get("gizmo_id"))
    if gizmo and gizmo != _project(raw):
        extra["custom_gpt"] = gizmo
    for key in ("is_do_not_remember", "is_study_mode"):
        if raw.get(key) is True:
            extra[key] = True
    if time_in(raw.get("pinned_time")):
        extra["is_pinned"] = True
    plugins = [text_in(each) for each in list_in(raw.get("plugin_ids")) if text_in(each)]
    if plugins:
        extra["plugins"] = plugins[:_MOST_PLUGINS]
    for key in ("memory_scope", "conversation_origin", "voice"):
        if text_in(raw.get(key)):
            extra[key] = text_in(raw.get(key))
    return extra
