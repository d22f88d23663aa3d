import shutil
import threading
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select, update

from backread.domain import Principal
from backread.indexing import VectorWriter
from backread.jobs import JobCancelled, JobStopped, LeaseLost, Progress, enqueue, run_pending
from backread.jobs.runner import run_job as run_one
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.models import Bucket, Conversation, IndexRemoval, Memory, Passage
from backread.store.repositories.indexed import KINDS
from backread.store.repositories.passages import PassageRow, delete_passages, replace_passages
from backread.vectors.index import Collection, IndexFilter, IndexQuery
from ingest.indexing import (
    EMBED_MEMORIES,
    EMBED_PASSAGES,
    enqueue_catch_up,
    index_lexical,
    reindex,
)

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def store_chat(kernel: Kernel, owner: Principal, chat: str, texts: Sequence[str]) -> list[int]:
    """A conversation whose passages say `texts`, one an hour; returns the passages' ids."""
    with kernel.store.write() as session:
        if session.get(Conversation, chat) is None:
            session.add(
                Conversation(
                    id=chat,
                    account_id=owner.account_id,
                    platform="chatgpt",
                    external_id=chat,
                    capture_id="capture",
                    parser_version=1,
                    title="A chat",
                )
            )
            session.flush()
        rows = [
            PassageRow(
                message_id=f"{chat}-{n}",
                start_offset=0,
                end_offset=len(text),
                role="user",
                heading="A chat",
                text=text,
                token_count=len(text) // 4,
                occurred_at=NOON + timedelta(hours=n),
            )
            for n, text in enumerate(texts)
        ]
        replace_passages(session, chat, owner.account_id, rows)
        query = select(Passage.id).where(Passage.conversation_id == chat).order_by(Passage.position)
        return list(session.scalars(query))


def run_job(kernel: Kernel, owner: Principal, name: str) -> list[tuple[int, int]]:
    """Runs the job; returns the progress that it reported."""
    reported: list[Progress] = []
    with kernel.store.write() as session:
        enqueue(session, name, account_id=owner.account_id)
    run_pending(kernel, names=[name], on_progress=reported.append)
    return [(each.done, each.total) for each in reported]


def by_words(kernel: Kernel, owner: Principal, words: str) -> list[int]:
    query = IndexQuery(IndexFilter(owner.account_id), 10, words=words)
    return [each.id for each in kernel.index.search(Collection.PASSAGES, [query])[0]]


def by_meaning(
    kernel: Kernel, owner: Principal, text: str, collection: Collection = Collection.PASSAGES
) -> list[int]:
    vector = kernel.embedder.embed_queries([text])[0].tolist()
    query = IndexQuery(IndexFilter(owner.account_id), 10, vector=vector)
    return [each.id for each in kernel.index.search(collection, [query])[0]]


def test_new_passages_are_found_by_their_words(kernel: Kernel, principal: Principal) -> None:
    first, second = store_chat(kernel, principal, "chat", ["green tea", "rye bread"])

    assert index_lexical(kernel, principal.account_id) == 2
    assert index_lexical(kernel, principal.account_id) == 0

    assert by_words(kernel, principal, "bread") == [second]
    assert by_words(kernel, principal, "tea") == [first]


def test_only_the_accounts_own_passages_are_indexed(
    kernel: Kernel, principal: Principal, stranger: Principal
) -> None:
    store_chat(kernel, principal, "chat-a", ["green tea"])
    store_chat(kernel, stranger, "chat-b", ["green tea"])

    assert index_lexical(kernel, principal.account_id) == 1

    assert kernel.index.count(Collection.PASSAGES, stranger.account_id) == 0


def test_passages_that_changed_or_went_are_taken_out_of_the_index(
    kernel: Kernel, principal: Principal
) -> None:
    first, _ = store_chat(kernel, principal, "chat", ["green tea", "rye bread"])
    index_lexical(kernel, principal.account_id)

    kept, changed = store_chat(kernel, principal, "chat", ["green tea", "wheat bread"])
    index_lexical(kernel, principal.account_id)

    assert kept == first
    assert by_words(kernel, principal, "bread") == [changed]
    assert kernel.index.count(Collection.PASSAGES, principal.account_id) == 2
    with kernel.store.read() as session:
        assert session.scalars(select(IndexRemoval)).all() == []


def test_embedding_makes_passages_findable_by_meaning_and_reports_progress(
    kernel: Kernel, principal: Principal
) -> None:
    ids = store_chat(kernel, principal, "chat", [f"entry number {n}" for n in range(150)])
    last = store_chat(kernel, principal, "other", ["a walk by the river"])

    progress = run_job(kernel, principal, EMBED_PASSAGES)

    assert by_meaning(kernel, principal, "walk along the river")[0] == last[0]
    assert progress[-1] == (151, 151)
    assert [done for done, _ in progress] == sorted(done for done, _ in progress)
    with kernel.store.read() as session:
        marks = set(session.scalars(select(Passage.dense_with).where(Passage.id.in_(ids))))
    assert marks == {kernel.dense_signature}


def test_the_newest_passages_are_embedded_first(
    kernel: Kernel, principal: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    embed = kernel.embedder.embed_passages
    store_chat(kernel, principal, "chat", [f"entry {n}" for n in range(100)])

    def watched(texts: Sequence[str]) -> object:
        seen.extend(texts)
        return embed(texts)

    monkeypatch.setattr(kernel.embedder, "embed_passages", watched)
    run_job(kernel, principal, EMBED_PASSAGES)

    assert [text.rsplit(" ", 1)[1] for text in seen] == [str(n) for n in range(99, -1, -1)]


def test_a_chat_that_comes_in_meanwhile_is_embedded_before_older_ones(
    kernel: Kernel, principal: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backread.indexing.vectors.NOTE_SECONDS", 0.0)
    seen: list[str] = []
    embed = kernel.embedder.embed_passages
    store_chat(kernel, principal, "chat", [f"entry {n}" for n in range(200)])

    def watched(texts: Sequence[str]) -> object:
        if not seen:
            late = store_chat(kernel, principal, "late", ["a walk by the river"])
            with kernel.store.write() as session:
                newest = update(Passage).where(Passage.id.in_(late))
                session.execute(newest.values(occurred_at=NOON + timedelta(days=99)))
        seen.extend(texts)
        return embed(texts)

    monkeypatch.setattr(kernel.embedder, "embed_passages", watched)
    run_job(kernel, principal, EMBED_PASSAGES)

    assert len(seen) == 201
    assert [place for place, text in enumerate(seen) if text.endswith("river")] == [64]


def test_embedding_again_does_nothing(kernel: Kernel, principal: Principal) -> None:
    store_chat(kernel, principal, "chat", ["green tea"])
    run_job(kernel, principal, EMBED_PASSAGES)

    assert run_job(kernel, principal, EMBED_PASSAGES)[-1] == (0, 0)


def test_a_vector_is_not_lost_to_a_later_lexical_pass(kernel: Kernel, principal: Principal) -> None:
    (first,) = store_chat(kernel, principal, "chat", ["green tea"])
    run_job(kernel, principal, EMBED_PASSAGES)

    (second,) = store_chat(kernel, principal, "other", ["black tea"])
    index_lexical(kernel, principal.account_id)

    assert by_meaning(kernel, principal, "green tea") == [first]
    assert set(by_words(kernel, principal, "tea")) == {first, second}


def test_after_the_index_was_lost_everything_is_indexed_again(
    kernel: Kernel, settings: Settings, principal: Principal
) -> None:
    (passage,) = store_chat(kernel, principal, "chat", ["green tea"])
    memory = store_memory(kernel, principal, "likes green tea")
    run_job(kernel, principal, EMBED_PASSAGES)
    run_job(kernel, principal, EMBED_MEMORIES)
    kernel.close()
    shutil.rmtree(settings.index_dir)
    again = Kernel(settings)

    run_job(again, principal, EMBED_PASSAGES)
    run_job(again, principal, EMBED_MEMORIES)

    assert by_words(again, principal, "tea") == [passage]
    assert by_meaning(again, principal, "green tea") == [passage]
    assert by_meaning(again, principal, "green tea", Collection.MEMORIES) == [memory]
    again.close()


def test_a_server_that_starts_asks_for_what_any_account_lacks_and_for_nothing_else(
    kernel: Kernel, settings: Settings, principal: Principal, stranger: Principal
) -> None:
    (passage,) = store_chat(kernel, principal, "chat", ["green tea"])
    memory = store_memory(kernel, stranger, "likes green tea")
    for owner in (principal, stranger):
        run_job(kernel, owner, EMBED_PASSAGES)
        run_job(kernel, owner, EMBED_MEMORIES)
    assert catch_up(kernel) == 1, "all is indexed"
    kernel.close()
    shutil.rmtree(settings.index_dir)
    again = Kernel(settings)

    assert catch_up(again) == 3, "one job for what each account lacks"

    assert by_meaning(again, principal, "green tea") == [passage]
    assert by_meaning(again, stranger, "green tea", Collection.MEMORIES) == [memory]
    again.close()


def catch_up(kernel: Kernel) -> int:
    """As a server's start does; returns how many jobs ran."""
    with kernel.store.write() as session:
        enqueue_catch_up(session)
    return run_pending(kernel)


def test_another_embedding_model_embeds_everything_again(
    kernel: Kernel, principal: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_chat(kernel, principal, "chat", ["green tea"])
    run_job(kernel, principal, EMBED_PASSAGES)
    with kernel.store.write() as session:
        session.execute(update(Passage).values(dense_with="another-model@another-index"))

    assert run_job(kernel, principal, EMBED_PASSAGES)[-1] == (1, 1)


def test_reindexing_builds_the_index_from_the_database(
    kernel: Kernel, principal: Principal, stranger: Principal
) -> None:
    (passage,) = store_chat(kernel, principal, "chat", ["green tea"])
    store_chat(kernel, stranger, "foreign", ["green tea"])
    run_job(kernel, principal, EMBED_PASSAGES)
    run_job(kernel, stranger, EMBED_PASSAGES)
    kernel.index.delete_account(principal.account_id)

    assert reindex(kernel, principal.account_id) == 1
    assert by_words(kernel, principal, "tea") == [passage]
    run_pending(kernel)

    assert by_meaning(kernel, principal, "green tea") == [passage]
    assert kernel.index.count(Collection.PASSAGES, stranger.account_id) == 1


def test_deleted_conversations_leave_the_index(kernel: Kernel, principal: Principal) -> None:
    store_chat(kernel, principal, "chat", ["green tea"])
    index_lexical(kernel, principal.account_id)
    with kernel.store.write() as session:
        delete_passages(session, principal.account_id, ["chat"])

    index_lexical(kernel, principal.account_id)

    assert by_words(kernel, principal, "tea") == []


def store_memory(kernel: Kernel, owner: Principal, text: str) -> int:
    with kernel.store.write() as session:
        bucket = Bucket(account_id=owner.account_id, name=f"bucket {text}")
        session.add(bucket)
        session.flush()
        memory = Memory(
            account_id=owner.account_id,
            bucket_id=bucket.id,
            text=text,
            text_hash=text,
            point_id=abs(hash(text)) % 2**62,
        )
        session.add(memory)
        session.flush()
        return memory.point_id


def test_memories_are_found_by_meaning_in_their_bucket(
    kernel: Kernel, principal: Principal, stranger: Principal
) -> None:
    memory = store_memory(kernel, principal, "is allergic to nuts")
    store_memory(kernel, stranger, "is allergic to nuts and milk")

    run_job(kernel, principal, EMBED_MEMORIES)

    assert by_meaning(kernel, principal, "allergic to nuts", Collection.MEMORIES) == [memory]
    assert kernel.index.count(Collection.MEMORIES, stranger.account_id) == 0


@pytest.mark.parametrize(("ended_by", "noted"), [(JobCancelled, 2), (LeaseLost, 0)])
def test_what_was_put_in_is_noted_however_a_job_ends_unless_another_does_its_work_now(
    kernel: Kernel, principal: Principal, ended_by: type[JobStopped], noted: int
) -> None:
    points = store_chat(kernel, principal, "chat", ["green tea", "black tea"])
    index_lexical(kernel, principal.account_id)
    with (
        suppress(ended_by),
        VectorWriter(kernel, KINDS["passages"], principal.account_id) as writer,
    ):
        writer.put(points)
        raise ended_by("job")
    with kernel.store.read() as reading:
        query = select(Passage.id).where(Passage.dense_with == kernel.dense_signature)
        assert len(reading.scalars(query).all()) == noted


@pytest.mark.parametrize("done_before", [64, 192])
def test_a_job_that_was_interrupted_goes_on_with_what_is_left(
    kernel: Kernel, principal: Principal, done_before: int
) -> None:
    store_chat(kernel, principal, "chat", [f"entry {n}" for n in range(200)])
    with kernel.store.write() as session:
        job_id = enqueue(session, EMBED_PASSAGES, account_id=principal.account_id)
    stopping = threading.Event()

    def stop_after_some_batches(progress: Progress) -> None:
        if progress.done == done_before:
            stopping.set()

    run_one(kernel, job_id, stopping=stopping, on_progress=stop_after_some_batches)
    with kernel.store.read() as reading:
        query = select(Passage.id).where(Passage.dense_with == kernel.dense_signature)
        done = len(reading.scalars(query).all())
    assert done == done_before
    reported: list[Progress] = []
    run_pending(kernel, on_progress=reported.append)

    assert (reported[-1].done, reported[-1].total) == (200 - done, 200 - done)
