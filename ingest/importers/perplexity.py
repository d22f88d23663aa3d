"""Perplexity: threads as browser extensions save them, in two shapes; there is no official
export. An entry is a question with its answer."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

from backread.domain import Attachment, ParsedConversation, Platform, Role
from backread.errors import UnreadableImport
from ingest.importers.base import Raw, dict_in, dicts_in, list_in, text_in, time_in
from ingest.importers.drafts import Draft, digest_id, in_a_line

_TITLE_CHARS = 500  # a thread's title can be its whole first question


class PerplexityImporter:
    """Guarantees: each question before its answer, in the order of the thread."""

    slug = Platform.PERPLEXITY.value
    version = 1

    def recognises(self, raw: Any) -> bool:
        """`metadata` of a thread with `conversations`, or `entries` with `query_str`."""
        if not isinstance(raw, dict):
            return False
        metadata = dict_in(raw.get("metadata"))
        if isinstance(raw.get("conversations"), list):
            return any(key.startswith("thread_") for key in metadata)
        return any("query_str" in entry for entry in dicts_in(raw.get("entries")))

    def identify(self, raw: Raw) -> str:
        """The thread's id or address; else that of its first entry; else what that says."""
        about = _about(raw)
        for key in ("thread_id", "context_uuid", "slug", "thread_url_slug"):
            if text_in(about.get(key)):
                return text_in(about.get(key))
        entries = _entries(raw)
        for key in ("context_uuid", "thread_url_slug", "backend_uuid", "uuid"):
            if entries and text_in(entries[0].get(key)):
                return text_in(entries[0].get(key))
        drafts = islice(_drafts(entries[:1], Counter()), 2)
        said = [draft.text for draft in drafts]
        return f"first:{digest_id(*said)}" if said else ""

    def parse(self, raw: Raw) -> ParsedConversation:
        external_id = self.identify(raw)
        if not external_id:
            raise UnreadableImport("The thread has neither an id nor an entry.")
        about = _about(raw)
        news: Counter[str] = Counter()
        thread = in_a_line(_drafts(_entries(raw), news))
        created_at, updated_at = thread.times
        title = text_in(about.get("thread_title")) or text_in(about.get("title"))
        title = title or next((text_in(e.get("thread_title")) for e in _entries(raw)), "")
        url = text_in(about.get("thread_url"))
        return ParsedConversation(
            platform=Platform.PERPLEXITY,
            external_id=external_id,
            title=" ".join(title.split())[:_TITLE_CHARS] or thread.first_words,
            messages=thread.messages,
            shown_line=thread.shown_line,
            created_at=created_at,
            updated_at=updated_at,
            url=url if url.startswith("https://") else "",
            model=thread.model,
            project=text_in(dict_in(about.get("collection")).get("title")),
            assistant_name="Perplexity",
            news=dict(news),
        )


PERPLEXITY = PerplexityImporter()


def _about(raw: Raw) -> dict[str, Any]:
    return dict_in(raw.get("metadata")) or dict_in(raw.get("thread_metadata"))


def _entries(raw: Raw) -> list[dict[str, Any]]:
    return dicts_in(raw.get("conversations")) or dicts_in(raw.get("entries"))


def _question(entry: Raw) -> str:
    return text_in(entry.get("query")) or text_in(entry.get("query_str"))


def _drafts(entries: list[dict[str, Any]], news: Counter[str]) -> Iterator[Draft]:
    for place, entry in enumerate(entries):
        own_id = text_in(entry.get("uuid")) or text_in(entry.get("backend_uuid"))
        own_id = own_id or f"index:{place}"
        keys = ("timestamp", "created_at", "entry_created_datetime", "updated_datetime")
        at = next((time_in(entry[key]) for key in keys if entry.get(key)), None)
        asked = Draft(f"{own_id}:q", Role.USER, texts=[_question(entry)], created_at=at)
        for item in list_in(entry.get("attachments")):
            address = text_in(item) or text_in(dict_in(item).get("url"))
            name = address.split("?", 1)[0].rsplit("/", 1)[-1]
            asked.attachments.append(Attachment(name or "file", address[:400]))
        answer = Draft(f"{own_id}:a", Role.ASSISTANT, created_at=at)
        answer.model = text_in(entry.get("model")) or text_in(entry.get("display_model"))
        answer.texts.append(text_in(entry.get("answer")))
        for block in dicts_in(entry.get("blocks")):
            _block(answer, block, news)
        for source in dicts_in(entry.get("sources")) + dicts_in(entry.get("web_results")):
            answer.cite(text_in(source.get("url")), text_in(source.get("title")))
        yield from (draft for draft in (asked, answer) if not draft.is_empty)


def _block(answer: Draft, block: Raw, news: Counter[str]) -> None:
    markdown = dict_in(block.get("markdown_block"))
    if markdown:
        chunks = [text_in(chunk) for chunk in list_in(markdown.get("chunks"))]
        text = text_in(markdown.get("answer")) or "".join(chunks)
        if text.strip() and text.strip() not in answer.text:
            answer.texts.append(text)
        return
    results = dict_in(block.get("web_result_block")) or dict_in(block.get("sources_mode_block"))
    for key in ("web_results", "rows"):
        for result in dicts_in(results.get(key)):
            found = dict_in(result.get("web_result")) or result
            answer.cite(text_in(found.get("url")), text_in(found.get("name")))
    plan = dict_in(block.get("plan_block")) or dict_in(block.get("reasoning_plan_block"))
    for goal in dicts_in(plan.get("goals")):
        answer.aside("reasoning", text_in(goal.get("description")))
    if not results and not plan:
        usage = text_in(block.get("intended_usage"))
        news[f"block:{usage or next(iter(block), 'empty')}"] += 1
