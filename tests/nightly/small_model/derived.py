# ruff: noqa: T201 - a command that people read
"""Categories of memories and the overview, written by the model, looked at sentence by sentence."""

from collections.abc import Iterator

from backread.domain import Principal
from backread.jobs import run_pending
from backread.kernel import Kernel
from backread.store.models import Category, Conversation
from backread.text.language import language_of
from benchmarks.categories.run import read_memories
from recall.categories.asking import CATEGORISE_BUCKET
from recall.categories.reading import bucket_categories, category_memories
from recall.memories.buckets import find_bucket
from recall.memories.keeping import keep_memories
from recall.overview.asking import REFRESH_OVERVIEW, enqueue_overview
from recall.overview.reading import chat_history_overview
from recall.summarising.support import Evidence, check


def categories(kernel: Kernel, principal: Principal, count: int) -> Iterator[str]:
    """Stores so many invented memories of four topics and has them sorted and named."""
    topics: dict[str, list[str]] = {}
    for each in read_memories("en"):
        topics.setdefault(each.topic, []).append(each.text)
    texts = [text for found in list(topics.values())[:4] for text in found[: count // 4]]
    with kernel.store.write() as session:
        bucket = find_bucket(session, principal, None)
        keep_memories(session, principal, bucket, texts)
        bucket_id = bucket.id
    run_pending(kernel, names=[CATEGORISE_BUCKET])
    listed = bucket_categories(kernel, principal, bucket_id)
    print(f"categories of {listed.memory_count} memories: {listed.state}")
    if listed.state != "ready" or not listed.categories:
        yield f"the bucket is {listed.state}, with {len(listed.categories)} categories"
    for category in listed.categories:
        inside = category_memories(kernel, principal, bucket_id, category.category_id)
        known = {each.memory_id: each.text for each in inside.memories}
        with kernel.store.read() as session:
            row = session.get(Category, category.category_id)
            by = "nobody" if row is None else row.written_by or "Backread"
        print(f"  {category.name} ({category.memory_count}), by {by}")
        if not category.sentences:
            yield f"the category {category.name} has no summary"
        for sentence in category.sentences:
            print(f"    - {sentence.text}")
            if not sentence.memory_ids or not known.keys() >= set(sentence.memory_ids):
                yield "a category's sentence cites a memory that is not in it"
                continue
            evidence = [Evidence(known[each]) for each in sentence.memory_ids]
            yield from _unsupported(sentence.text, evidence)


def overview(kernel: Kernel, principal: Principal) -> Iterator[str]:
    """Has the portrait made anew and told in the model's words."""
    with kernel.store.write() as session:
        enqueue_overview(session, principal.account_id)
    run_pending(kernel, names=[REFRESH_OVERVIEW])
    portrait = chat_history_overview(kernel, principal).portrait
    print(
        f"overview: {portrait.state}, {len(portrait.topics)} topics, "
        f"{len(portrait.sentences)} sentences by {portrait.written_by or 'nobody'}"
    )
    if portrait.state != "ready" or portrait.is_empty:
        yield f"the overview is {portrait.state}"
    for sentence in portrait.sentences:
        print(f"    - {sentence.text}")
        if not sentence.cited:
            yield f"a sentence of the overview cites nothing: {sentence.text}"
    with kernel.store.read() as session:
        for cited in {each.conversation_id for one in portrait.sentences for each in one.cited}:
            if session.get(Conversation, cited) is None:
                yield "the overview cites a conversation that is not there"


def _unsupported(text: str, evidence: list[Evidence]) -> Iterator[str]:
    verdict = check(text, evidence, language=language_of(text).code)
    if not verdict.is_supported:
        yield f"a category's sentence was kept without support ({verdict.why}): {text}"
