"""Grok: the account export of grok.com, and what its website's own interface returns.

A conversation and its `responses` lie beside each other. Responses make a tree by
`parent_response_id`; where there are none, their order is the chat.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import orjson

from backread.domain import Attachment, MessageKind, ParsedConversation, Platform, Role
from backread.errors import UnreadableImport
from ingest.importers.base import Raw, dict_in, dicts_in, list_in, text_in, time_in
from ingest.importers.claude_blocks import as_json
from ingest.importers.drafts import Draft, digest_id, free_id, in_a_tree

_CARD = re.compile(r"<grok:render\b.*?</grok:render>", re.DOTALL)


class GrokImporter:
    """Guarantees: parents before children; one id per response; the shown line never empty while
    there is a response."""

    slug = Platform.GROK.value
    version = 2

    def recognises(self, raw: Any) -> bool:
        """`responses` of which one has a `sender`, beside a `conversation` or its fields."""
        if not isinstance(raw, dict) or not isinstance(raw.get("responses"), list):
            return False
        responses = _responses(raw)
        if isinstance(raw.get("conversation"), dict):
            return not responses or any("sender" in each for each in responses)
        return any("sender" in each for each in responses)

    def identify(self, raw: Raw) -> str:
        """The conversation's id, which every response repeats; else that of its beginning."""
        about = _about(raw)
        for key in ("id", "conversation_id", "conversationId"):
            if text_in(about.get(key)):
                return text_in(about.get(key))
        for response in _responses(raw):
            named = _named(response, "conversation_id", "conversationId")
            if named:
                return named
        first = next(iter(_responses(raw)), about)
        return f"first:{digest_id(str(about.get('create_time')), str(first))}" if first else ""

    def parse(self, raw: Raw) -> ParsedConversation:
        external_id = self.identify(raw)
        if not external_id:
            raise UnreadableImport("The conversation has neither an id nor a message.")
        about = _about(raw)
        news: Counter[str] = Counter()
        drafts = _drafts(_responses(raw), news)
        leaf = _named(about, "leaf_response_id", "leafResponseId")
        thread = in_a_tree(drafts, leaf=leaf)
        created_at, updated_at = thread.times
        has_address = not external_id.startswith("first:")
        summary = text_in(about.get("summary"))
        return ParsedConversation(
            platform=Platform.GROK,
            external_id=external_id,
            title=text_in(about.get("title")).strip() or thread.first_words,
            messages=thread.messages,
            shown_line=thread.shown_line,
            created_at=_time(about.get("create_time", about.get("createTime"))) or created_at,
            updated_at=_time(about.get("modify_time", about.get("modifyTime"))) or updated_at,
            url=f"https://grok.com/c/{external_id}" if has_address else "",
            model=thread.model,
            assistant_name="Grok",
            is_starred=about.get("starred") is True,
            news=dict(news),
            extra=({"summary": summary} if summary else {})
            | ({"is_temporary": True} if about.get("temporary") is True else {}),
        )


GROK = GrokImporter()


def _about(raw: Raw) -> dict[str, Any]:
    return dict_in(raw.get("conversation")) or dict(raw)


def _responses(raw: Raw) -> list[dict[str, Any]]:
    items = dicts_in(raw.get("responses"))
    return [dict_in(item.get("response")) or item for item in items]


def _named(holder: Raw, *keys: str) -> str:
    return next((text_in(holder[key]) for key in keys if text_in(holder.get(key))), "")


def _time(value: Any) -> Any:
    """ISO, or MongoDB's extended JSON: `{"$date": {"$numberLong": "ms"}}`."""
    if isinstance(value, dict):
        inner = value.get("$date", value.get("$numberLong"))
        return _time(inner)
    return time_in(value)


def _drafts(responses: Sequence[Raw], news: Counter[str]) -> list[Draft]:
    taken: set[str] = set()
    drafts: list[Draft] = []
    has_links = any(_parent(each) for each in responses)
    for place, response in enumerate(responses):
        named = _named(response, "_id", "response_id", "responseId", "id")
        draft = _draft(free_id(named or f"index:{place}", taken), response, news)
        if has_links:
            draft.parent = _parent(response) or None
        elif drafts:
            draft.parent = drafts[-1].external_id
        drafts.append(draft)
    return drafts


def _parent(response: Raw) -> str:
    return _named(response, "parent_response_id", "parentResponseId")


def _draft(external_id: str, response: Raw, news: Counter[str]) -> Draft:
    sender = text_in(response.get("sender"))
    draft = Draft(external_id, _role(sender, news))
    draft.created_at = _time(response.get("create_time", response.get("createTime")))
    draft.texts.append(_CARD.sub("", text_in(response.get("message"))))
    if draft.role is Role.ASSISTANT:
        is_model = sender.lower().startswith("grok-")
        draft.model = text_in(response.get("model")) or (sender if is_model else "")
    draft.aside("reasoning", text_in(response.get("thinking_trace")))
    for trace in dicts_in(response.get("agent_thinking_traces")):
        thought = text_in(trace.get("thinking_trace")) or text_in(trace.get("text"))
        draft.aside("reasoning", thought)
    _steps(draft, response)
    for key in ("web_search_results", "cited_web_search_results"):
        for result in dicts_in(response.get(key)):
            draft.cite(text_in(result.get("url")), text_in(result.get("title")))
    for post in list_in(response.get("xpost_ids")):
        if text_in(post).isdigit():
            draft.cite(f"https://x.com/i/status/{text_in(post)}")
    _files(draft, response)
    error = response.get("error")
    if error and not draft.text:
        words = as_json(error) if isinstance(error, dict) else text_in(error)
        draft.aside("unknown", words, "error")
        draft.kind = MessageKind.HIDDEN
    return draft


def _role(sender: str, news: Counter[str]) -> Role:
    name = sender.lower()
    if name in ("human", "user"):
        return Role.USER
    if name in ("assistant", "model") or name.startswith("grok"):
        return Role.ASSISTANT
    news[f"sender:{sender or 'none'}"] += 1
    return Role.SYSTEM


def _steps(draft: Draft, response: Raw) -> None:
    for step in dicts_in(response.get("steps")):
        text = step.get("text")
        lines = [text] if isinstance(text, str) else list_in(text)
        draft.aside("reasoning", "\n".join(text_in(line) for line in lines if line))
        for use in dicts_in(step.get("tool_usage_results")) + dicts_in(step.get("tool_usages")):
            draft.aside("tool_call", as_json(use), "tool")
    query = text_in(response.get("query"))
    if query and query != draft.text:
        draft.aside("tool_call", query, text_in(response.get("query_type")) or "search")


def _files(draft: Draft, response: Raw) -> None:
    """Files that were sent, pictures that were made; a picture may be the whole answer."""
    for item in list_in(response.get("file_attachments")):
        holder = dict_in(item)
        name = _named(holder, "file_name", "fileName", "name") or "file"
        external_id = text_in(item) or _named(holder, "file_metadata_id", "id")
        mime_type = _named(holder, "file_mime_type", "mime_type")
        draft.attachments.append(Attachment(name, external_id, mime_type))
    for url in list_in(response.get("generated_image_urls")):
        if text_in(url):
            draft.attachments.append(Attachment("image", text_in(url)[:400], "image/jpeg"))
    for card in list_in(response.get("card_attachments_json")):
        value = _card(card)
        draft.cite(text_in(value.get("url")), text_in(value.get("title")))
    if draft.attachments and not draft.text and draft.role is Role.ASSISTANT:
        draft.kind = MessageKind.DIALOGUE


def _card(value: Any) -> dict[str, Any]:
    if not isinstance(value, str):
        return dict_in(value)
    try:
        return dict_in(orjson.loads(value))
    except orjson.JSONDecodeError:
        return {}
