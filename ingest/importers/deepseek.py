"""DeepSeek: data exports, and what its website's own interface returns.

An export has ChatGPT's file name and its key `mapping`, but messages made of `fragments` (older:
`content` and `reasoning_content`) and no `current_node`: the newest leaf ends the shown line.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from backread.domain import Attachment, ParsedConversation, Platform, Role
from backread.errors import UnreadableImport
from ingest.importers import tree
from ingest.importers.base import Raw, dict_in, dicts_in, list_in, size_in, text_in, time_in
from ingest.importers.drafts import Draft, digest_id, free_id, in_a_tree

_CITATION = re.compile(r"\s?\[citation:\d+\]")
_NODES_LOOKED_AT = 50
_ROLES = {
    "USER": Role.USER,
    "ASSISTANT": Role.ASSISTANT,
    "SYSTEM": Role.SYSTEM,
    "REQUEST": Role.USER,
}


class DeepSeekImporter:
    """Guarantees: parents before children; one id per node; the shown line never empty while
    there is a message."""

    slug = Platform.DEEPSEEK.value
    version = 2

    def recognises(self, raw: Any) -> bool:
        """`mapping` whose messages have `fragments` or DeepSeek's `inserted_at`; from the
        website a `chat_session` with `chat_messages` whose `message_id` is a number."""
        if not isinstance(raw, dict):
            return False
        if isinstance(raw.get("mapping"), dict):
            messages = [dict_in(n.get("message")) for n in _nodes(raw["mapping"])]
            own = ("fragments", "reasoning_content")
            return "inserted_at" in raw or any(key in m for m in messages for key in own)
        messages = dicts_in(_website(raw).get("chat_messages"))
        return any(isinstance(message.get("message_id"), int) for message in messages)

    def identify(self, raw: Raw) -> str:
        """The chat's id; copies without one go by their first message."""
        for holder in (raw, dict_in(_website(raw).get("chat_session"))):
            for key in ("id", "conversation_id"):
                if text_in(holder.get(key)):
                    return text_in(holder.get(key))
        for node in _nodes(dict_in(raw.get("mapping"))):
            message = dict_in(node.get("message"))
            if message:
                return f"first:{digest_id(str(message.get('inserted_at')), str(message))}"
        return ""

    def parse(self, raw: Raw) -> ParsedConversation:
        external_id = self.identify(raw)
        if not external_id:
            raise UnreadableImport("The conversation has neither an id nor a message.")
        news: Counter[str] = Counter()
        if isinstance(raw.get("mapping"), dict):
            about, drafts = raw, _from_mapping(raw["mapping"], news)
            leaf = text_in(raw.get("current_node"))
        else:
            website = _website(raw)
            about = dict_in(website.get("chat_session"))
            drafts = _from_website(dicts_in(website.get("chat_messages")), news)
            leaf = str(about.get("current_message_id"))
        thread = in_a_tree(drafts, leaf=leaf)
        created_at, updated_at = thread.times
        has_address = not external_id.startswith("first:")
        return ParsedConversation(
            platform=Platform.DEEPSEEK,
            external_id=external_id,
            title=text_in(about.get("title")).strip() or thread.first_words,
            messages=thread.messages,
            shown_line=thread.shown_line,
            created_at=_time(about, "inserted_at", "create_time") or created_at,
            updated_at=_time(about, "updated_at", "update_time") or updated_at,
            url=f"https://chat.deepseek.com/a/chat/s/{external_id}" if has_address else "",
            model=thread.model,
            assistant_name="DeepSeek",
            is_starred=about.get("pinned") is True,
            news=dict(news),
        )


DEEPSEEK = DeepSeekImporter()


def _website(raw: Raw) -> dict[str, Any]:
    """The website's answer, with or without what it is wrapped in."""
    inner = dict_in(dict_in(raw.get("data")).get("biz_data"))
    found = inner or dict(raw)
    return found if isinstance(found.get("chat_session"), dict) else {}


def _time(holder: Raw, *keys: str) -> Any:
    return next((time_in(holder[key]) for key in keys if holder.get(key)), None)


def _nodes(mapping: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [node for node in list(mapping.values())[:_NODES_LOOKED_AT] if isinstance(node, dict)]


def _from_mapping(mapping: Mapping[str, Any], news: Counter[str]) -> list[Draft]:
    nodes = {key: node for key, node in mapping.items() if isinstance(node, dict)}
    above = {
        child: key
        for key, node in nodes.items()
        for child in list_in(node.get("children"))
        if isinstance(child, str)
    }
    parents = {
        key: node["parent"] if isinstance(node.get("parent"), str) else above.get(key)
        for key, node in nodes.items()
    }
    kept = tree.without(
        tree.sound_parents(parents), lambda key: isinstance(nodes[key].get("message"), dict)
    )
    return [_draft(key, parent, nodes[key]["message"], news) for key, parent in kept.items()]


def _from_website(messages: Sequence[Raw], news: Counter[str]) -> list[Draft]:
    taken: set[str] = set()
    drafts = []
    for place, message in enumerate(messages):
        number = message.get("message_id")
        external_id = free_id(str(number) if number is not None else f"index:{place}", taken)
        parent = message.get("parent_id")
        drafts.append(_draft(external_id, None if parent is None else str(parent), message, news))
    return drafts


def _draft(external_id: str, parent: str | None, message: Raw, news: Counter[str]) -> Draft:
    draft = Draft(external_id, Role.ASSISTANT, parent, model=text_in(message.get("model")))
    draft.created_at = _time(message, "inserted_at", "create_time")
    fragments = dicts_in(message.get("fragments"))
    for fragment in fragments:
        _fragment(draft, fragment, news)
    if not fragments:
        _flat(draft, message)
    named = text_in(message.get("role")).upper()
    has_request = any(fragment.get("type") == "REQUEST" for fragment in fragments)
    if named:
        if named not in _ROLES:
            news[f"role:{named}"] += 1
        draft.role = _ROLES.get(named, Role.SYSTEM)
    elif has_request or (not fragments and _is_asked(message, external_id)):
        draft.role = Role.USER
    if draft.role is Role.USER:
        draft.model = ""
    for item in dicts_in(message.get("files")):
        name = text_in(item.get("file_name")) or text_in(item.get("name")) or "file"
        size = size_in(item.get("file_size"))
        text = text_in(item.get("content"))
        draft.attachments.append(Attachment(name, text_in(item.get("id")), "", size, text))
    return draft


def _is_asked(message: Raw, external_id: str) -> bool:
    """Older exports name no role: nodes are numbered, and questions have the odd numbers."""
    if message.get("reasoning_content"):
        return False
    return external_id.isdigit() and int(external_id) % 2 == 1


def _fragment(draft: Draft, fragment: Raw, news: Counter[str]) -> None:
    kind = text_in(fragment.get("type"))
    text = text_in(fragment.get("content"))
    if kind in ("REQUEST", "RESPONSE"):
        draft.texts.append(_CITATION.sub("", text))
    elif kind == "THINK":
        draft.aside("reasoning", text)
    elif kind in ("SEARCH", "READ_LINK", "TOOL_SEARCH", "TOOL_OPEN"):
        _results(draft, dicts_in(fragment.get("results")) or [dict_in(fragment.get("result"))])
        draft.aside("tool_result", text, "search")
    elif kind == "TIP":
        draft.aside("injected", text)
    else:
        news[f"fragment:{kind or 'none'}"] += 1
        draft.aside("unknown", text, kind)


def _flat(draft: Draft, message: Raw) -> None:
    draft.aside("reasoning", text_in(message.get("reasoning_content")))
    draft.aside("reasoning", text_in(message.get("thinking_content")))
    draft.texts.append(_CITATION.sub("", text_in(message.get("content"))))
    _results(draft, dicts_in(message.get("search_results")))


def _results(draft: Draft, results: Sequence[Raw]) -> None:
    for result in results:
        draft.cite(text_in(result.get("url")), text_in(result.get("title")))
