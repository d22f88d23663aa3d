"""A change of the embedding model loses nothing, whatever goes wrong in it."""

import shutil
import threading
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from backread.domain import Principal
from backread.errors import Conflict, InvalidInput
from backread.indexing import switching, vectors
from backread.indexing.switching import SwitchStatus, switch_status
from backread.jobs import Progress, run_pending
from backread.jobs.retrying import MAX_FAILURES
from backread.jobs.runner import run_job as run_one
from backread.kernel import Kernel
from backread.settings import Settings
from backread.store.base import utcnow
from backread.store.models import EmbeddingModel, Job, Memory, Passage
from backread.vectors.index import Collection, IndexFilter, IndexQuery
from ingest import tasks  # noqa: F401 - registers the job
from ingest.indexing import EMBED_MEMORIES, EMBED_PASSAGES, enqueue_catch_up
from tests.contract.embeddings_endpoint import (
    EmbeddingsEndpoint,
    embeddings_endpoint,
    vectors_answer,
    well_behaved,
)
from tests.ingest.test_indexing import run_job, store_chat, store_memory

OTHER = "openai:other"
THIRD = "openai:third"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[EmbeddingsEndpoint]:
    with embeddings_endpoint() as opened:
        yield opened


@pytest.fixture
def settings(settings: Settings, endpoint: EmbeddingsEndpoint) -> Settings:
    endpoint.answer = well_behaved
    endpoint.asked.clear()
    return settings.model_copy(update={"embedding_base_url": endpoint.base_url})


@pytest.fixture
def passages(kernel: Kernel, principal: Principal) -> list[int]:
    """Ten passages that the index has, words and vectors."""
    switching.settle(kernel)
    stored = store_chat(kernel, principal, "chat", [f"entry {n} of tea" for n in range(10)])
    run_job(kernel, principal, EMBED_PASSAGES)
    return stored


def meant(kernel: Kernel, owner: Principal, text: str, collection: Collection) -> list[int]:
    """What a question finds by its meaning, asked as every part of the product asks."""
    embedder = kernel.embedder
    vector = embedder.embed_queries([text])[0].tolist()
    query = IndexQuery(IndexFilter(owner.account_id), 20, vector=vector, model=embedder.signature)
    return [each.id for each in kernel.index.search(collection, [query])[0]]


def found(kernel: Kernel, owner: Principal) -> set[int]:
    return set(meant(kernel, owner, "tea", Collection.PASSAGES))


def texts_sent(endpoint: EmbeddingsEndpoint) -> list[str]:
    return [text for asked in endpoint.asked for text in asked["input"] if "tea" in text]


def status(kernel: Kernel) -> SwitchStatus:
    return switch_status(kernel)


def change_job(kernel: Kernel) -> str:
    with kernel.store.read() as session:
        query = select(Job.id).where(Job.name == switching.CHANGE_MODELS, Job.state == "queued")
        return session.scalars(query).one()


def test_questions_are_answered_with_the_new_model_once_all_vectors_are_made(
    kernel: Kernel, principal: Principal, passages: list[int], endpoint: EmbeddingsEndpoint
) -> None:
    memory = store_memory(kernel, principal, "likes tea")
    run_job(kernel, principal, EMBED_MEMORIES)

    switching.begin_switch(kernel, OTHER)

    assert status(kernel).is_building
    assert kernel.embedder.signature == "hashing-v1-384"
    assert found(kernel, principal) == set(passages)
    run_pending(kernel)
    assert (status(kernel).serving, status(kernel).next) == (OTHER, "")
    assert kernel.embedder.signature == OTHER
    assert found(kernel, principal) == set(passages)
    assert meant(kernel, principal, "likes tea", Collection.MEMORIES) == [memory]
    assert len(texts_sent(endpoint)) == 10 + 1 + 2, "each text once, and two questions"


def test_words_find_everything_all_the_while(
    kernel: Kernel, principal: Principal, passages: list[int]
) -> None:
    switching.begin_switch(kernel, OTHER)
    run_pending(kernel)

    query = IndexQuery(IndexFilter(principal.account_id), 20, words="tea")
    answers = kernel.index.search(Collection.PASSAGES, [query])[0]
    assert {each.id for each in answers} == set(passages)


def test_other_processes_follow_within_moments(
    kernel: Kernel,
    principal: Principal,
    passages: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other_process = Kernel(kernel.settings)
    monkeypatch.setitem(other_process.__dict__, "index", kernel.index)
    assert other_process.embedder.signature == "hashing-v1-384"
    switching.begin_switch(kernel, OTHER)
    run_pending(kernel)

    vector = other_process.embedder.embed_queries(["tea"])[0].tolist()
    late = IndexQuery(IndexFilter(principal.account_id), 20, vector=vector, model="hashing-v1-384")
    answers = kernel.index.search(Collection.PASSAGES, [late])[0]
    assert {each.id for each in answers} == set(passages), "the former vectors are still there"
    other_process.models.look_again()
    assert other_process.embedder.signature == OTHER
    monkeypatch.undo()
    other_process.close()


def test_the_setting_is_acted_on_at_the_next_start_and_once(
    kernel: Kernel, principal: Principal, passages: list[int]
) -> None:
    settings = kernel.settings
    kernel.close()
    changed = Kernel(settings.model_copy(update={"embedding_model": OTHER}))

    start(changed)

    assert changed.embedder.signature == OTHER
    assert found(changed, principal) == set(passages)
    switching.begin_switch(changed, "hashing")
    run_pending(changed)
    start(changed)
    assert changed.embedder.signature == "hashing-v1-384", "the later choice outlives a restart"
    changed.close()


def start(kernel: Kernel) -> None:
    """As a server's start does."""
    with kernel.store.write() as session:
        enqueue_catch_up(session)
    run_pending(kernel)


def test_a_model_that_there_is_not_is_refused_at_once(kernel: Kernel) -> None:
    with pytest.raises(InvalidInput, match="no-such-model"):
        switching.begin_switch(kernel, "no-such-model")
    with pytest.raises(Conflict, match="already"):
        switching.begin_switch(kernel, "hashing")
    assert status(kernel).next == ""


def test_a_setting_that_names_no_model_leaves_the_former_one(
    kernel: Kernel, principal: Principal, passages: list[int]
) -> None:
    settings = kernel.settings
    kernel.close()
    changed = Kernel(settings.model_copy(update={"embedding_model": "no-such-model"}))

    start(changed)

    assert found(changed, principal) == set(passages)
    assert "no-such-model" in status(changed).next_error
    changed.close()


def out_of_order(_asked: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    return 401, {"error": {"message": "wrong key"}}


def other_length(asked: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    length = 3 if len(asked["input"]) > 1 else 5
    rows = [[1.0] * length for _ in asked["input"]]
    return 200, vectors_answer(
        [{"object": "embedding", "index": n, "embedding": row} for n, row in enumerate(rows)]
    )


def test_a_model_that_does_not_answer_is_given_up_and_says_why(
    kernel: Kernel, principal: Principal, passages: list[int], endpoint: EmbeddingsEndpoint
) -> None:
    endpoint.answer = out_of_order

    switching.begin_switch(kernel, OTHER)
    run_pending(kernel)

    assert "401" in status(kernel).next_error
    assert found(kernel, principal) == set(passages)
    endpoint.answer = well_behaved
    switching.begin_switch(kernel, OTHER)
    run_pending(kernel)
    assert status(kernel).serving == OTHER, "and can be tried again"


def test_a_model_that_changes_the_length_of_its_vectors_is_given_up(
    kernel: Kernel, principal: Principal, passages: list[int], endpoint: EmbeddingsEndpoint
) -> None:
    endpoint.answer = other_length
    switching.begin_switch(kernel, OTHER)

    run_until_given_up(kernel)

    assert "cannot be used" in status(kernel).next_error
    assert found(kernel, principal) == set(passages)


def run_until_given_up(kernel: Kernel) -> None:
    """Lets the job fail once, and then for the last time."""
    job_id = change_job(kernel)
    assert run_one(kernel, job_id) == "queued"
    assert not status(kernel).next_error, "it may get better"
    with kernel.store.write() as session:
        session.execute(update(Job).values(run_after=utcnow(), failures=MAX_FAILURES - 1))
    run_one(kernel, job_id)


def stop_in_the_middle(kernel: Kernel) -> None:
    """Ends the job after its first batch, as a worker that goes down does."""
    stopping = threading.Event()

    def stop(progress: Progress) -> None:
        if progress.done:
            stopping.set()

    run_one(kernel, change_job(kernel), stopping=stopping, on_progress=stop)


def test_a_change_that_was_stopped_goes_on_with_what_is_left(
    kernel: Kernel, principal: Principal, endpoint: EmbeddingsEndpoint
) -> None:
    switching.settle(kernel)
    stored = store_chat(kernel, principal, "chat", [f"entry {n} of tea" for n in range(150)])
    run_job(kernel, principal, EMBED_PASSAGES)
    switching.begin_switch(kernel, OTHER)

    stop_in_the_middle(kernel)

    first = len(texts_sent(endpoint))
    assert 0 < first < 150
    assert (status(kernel).done, status(kernel).total) == (first, 150)
    assert kernel.embedder.signature == "hashing-v1-384"
    run_pending(kernel)
    assert kernel.embedder.signature == OTHER
    assert len(texts_sent(endpoint)) == 150, "none was sent twice"
    assert len(found(kernel, principal)) == 20
    assert set(stored) == marked(kernel, OTHER)


def marked(kernel: Kernel, model: str) -> set[int]:
    """Passages that the database says have a vector of the model."""
    mark = f"{model}@{kernel.index.lexical_signature}"
    with kernel.store.read() as session:
        query = select(Passage.id).where(
            (Passage.dense_with == mark) | (Passage.beside_with == mark)
        )
        return set(session.scalars(query))


def test_a_crash_between_index_and_database_repeats_a_batch_and_loses_none(
    kernel: Kernel, principal: Principal, passages: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    switching.begin_switch(kernel, OTHER)
    monkeypatch.setattr(vectors, "mark_vectors", crash)
    job_id = change_job(kernel)
    run_one(kernel, job_id)
    assert kernel.embedder.signature == "hashing-v1-384"
    assert marked(kernel, OTHER) == set()
    monkeypatch.undo()
    with kernel.store.write() as session:
        session.execute(update(Job).values(state="queued", run_after=utcnow(), failures=0))
        session.execute(update(EmbeddingModel).values(error=""))

    run_pending(kernel)

    assert kernel.embedder.signature == OTHER
    assert found(kernel, principal) == set(passages)


def crash(*_: object, **__: object) -> None:
    raise OSError("no space left on device")


def test_what_is_imported_during_a_change_is_found_before_and_after(
    kernel: Kernel, principal: Principal, passages: list[int]
) -> None:
    switching.begin_switch(kernel, OTHER)
    fresh = store_chat(kernel, principal, "fresh", ["new tea"])
    run_job(kernel, principal, EMBED_PASSAGES)
    assert found(kernel, principal) == {*passages, *fresh}

    run_pending(kernel)

    assert kernel.embedder.signature == OTHER
    assert found(kernel, principal) == {*passages, *fresh}


def test_what_is_not_embedded_when_models_change_gets_its_vector_afterwards(
    kernel: Kernel, principal: Principal, passages: list[int]
) -> None:
    switching.begin_switch(kernel, OTHER)
    (fresh,) = store_chat(kernel, principal, "fresh", ["new tea"])

    run_pending(kernel)

    assert kernel.embedder.signature == OTHER
    assert fresh in found(kernel, principal)


def test_a_memory_that_is_edited_during_a_change_keeps_no_vector_of_its_old_text(
    kernel: Kernel, principal: Principal
) -> None:
    switching.settle(kernel)
    memory = store_memory(kernel, principal, "likes tea")
    run_job(kernel, principal, EMBED_MEMORIES)
    switching.begin_switch(kernel, OTHER)
    with kernel.store.write() as session:
        session.execute(
            update(Memory).values(
                text="rides a bicycle", dense_with="", updated_at=utcnow() + timedelta(seconds=1)
            )
        )
    run_job(kernel, principal, EMBED_MEMORIES)

    run_pending(kernel)

    assert kernel.embedder.signature == OTHER
    assert score(kernel, principal, "rides a bicycle", memory) > 0.99


def score(kernel: Kernel, owner: Principal, text: str, memory: int) -> float:
    vector = kernel.embedder.embed_queries([text])[0].tolist()
    query = IndexQuery(IndexFilter(owner.account_id), 20, vector=vector)
    answers = kernel.index.search(Collection.MEMORIES, [query])[0]
    return {each.id: each.score for each in answers}[memory]


def test_going_back_takes_effect_at_once_and_embeds_only_what_is_new(
    kernel: Kernel, principal: Principal, passages: list[int], endpoint: EmbeddingsEndpoint
) -> None:
    switching.begin_switch(kernel, OTHER)
    run_pending(kernel)
    fresh = store_chat(kernel, principal, "fresh", ["new tea"])
    run_job(kernel, principal, EMBED_PASSAGES)

    switching.roll_back(kernel)

    assert kernel.embedder.signature == "hashing-v1-384"
    assert found(kernel, principal) == set(passages)
    run_pending(kernel)
    assert found(kernel, principal) == {*passages, *fresh}
    endpoint.asked.clear()
    switching.begin_switch(kernel, OTHER)
    run_pending(kernel)
    assert found(kernel, principal) == {*passages, *fresh}
    assert texts_sent(endpoint) == ["tea"], "forward again, all vectors were still there"


def test_former_vectors_are_removed_when_the_change_is_confirmed(
    kernel: Kernel, principal: Principal, passages: list[int]
) -> None:
    switching.begin_switch(kernel, OTHER)
    run_pending(kernel)
    assert marked(kernel, "hashing-v1-384") == set(passages)

    switching.keep(kernel)
    run_pending(kernel)

    assert marked(kernel, "hashing-v1-384") == set()
    assert marked(kernel, OTHER) == set(passages)
    assert vectors_of(kernel, principal, "hashing-v1-384") == []
    with pytest.raises(Conflict, match="No former model"):
        switching.roll_back(kernel)
    switching.begin_switch(kernel, "hashing")
    run_pending(kernel)
    assert found(kernel, principal) == set(passages), "made anew"


def vectors_of(kernel: Kernel, owner: Principal, model: str) -> list[int]:
    query = IndexQuery(IndexFilter(owner.account_id), 20, vector=[0.1] * 384, model=model)
    return [each.id for each in kernel.index.search(Collection.PASSAGES, [query])[0]]


def test_former_vectors_are_removed_after_some_days(
    kernel: Kernel, principal: Principal, passages: list[int]
) -> None:
    switching.begin_switch(kernel, OTHER)
    run_pending(kernel)
    switching.end_of_grace(kernel)
    assert status(kernel).former == "hashing"
    with kernel.store.write() as session:
        past = utcnow() - timedelta(seconds=1)
        session.execute(
            update(EmbeddingModel).where(EmbeddingModel.until.is_not(None)).values(until=past)
        )

    switching.end_of_grace(kernel)
    run_pending(kernel)

    assert status(kernel).former == ""
    assert vectors_of(kernel, principal, "hashing-v1-384") == []


def test_a_second_change_before_the_first_has_ended_replaces_it(
    kernel: Kernel, principal: Principal, endpoint: EmbeddingsEndpoint
) -> None:
    switching.settle(kernel)
    stored = store_chat(kernel, principal, "chat", [f"entry {n} of tea" for n in range(100)])
    run_job(kernel, principal, EMBED_PASSAGES)
    switching.begin_switch(kernel, OTHER)
    stop_in_the_middle(kernel)

    switching.begin_switch(kernel, THIRD)
    run_pending(kernel)

    assert kernel.embedder.signature == THIRD
    assert marked(kernel, THIRD) == set(stored)
    assert marked(kernel, OTHER) == set(), "what was made of the other model is gone"
    assert len(found(kernel, principal)) == 20


def test_two_changes_one_after_the_other_keep_the_model_between(
    kernel: Kernel, principal: Principal, passages: list[int]
) -> None:
    for name in (OTHER, THIRD):
        switching.begin_switch(kernel, name)
        run_pending(kernel)
        assert found(kernel, principal) == set(passages)

    assert (status(kernel).serving, status(kernel).former) == (THIRD, OTHER)
    assert vectors_of(kernel, principal, "hashing-v1-384") == []
    switching.roll_back(kernel)
    assert found(kernel, principal) == set(passages)


def test_a_change_can_be_called_off(
    kernel: Kernel, principal: Principal, passages: list[int]
) -> None:
    switching.begin_switch(kernel, OTHER)
    switching.call_off(kernel)
    run_pending(kernel)

    assert (status(kernel).serving, status(kernel).next) == ("hashing", "")
    assert found(kernel, principal) == set(passages)
    with pytest.raises(Conflict, match="No change"):
        switching.call_off(kernel)


def test_an_index_that_is_lost_during_a_change_is_filled_for_the_serving_model_first(
    kernel: Kernel, principal: Principal, passages: list[int]
) -> None:
    settings = kernel.settings
    switching.begin_switch(kernel, OTHER)
    stop_at_first_report(kernel)
    kernel.close()
    shutil.rmtree(settings.index_dir)
    again = Kernel(settings)

    start(again)

    assert again.embedder.signature == OTHER
    assert found(again, principal) == set(passages)
    again.close()


def stop_at_first_report(kernel: Kernel) -> None:
    stopping = threading.Event()
    stopping.set()
    run_one(kernel, change_job(kernel), stopping=stopping)


def test_nobody_elses_passages_are_touched(
    kernel: Kernel, principal: Principal, stranger: Principal, passages: list[int]
) -> None:
    theirs = store_chat(kernel, stranger, "theirs", ["their tea"])
    run_job(kernel, stranger, EMBED_PASSAGES)

    switching.begin_switch(kernel, OTHER)
    run_pending(kernel)

    assert found(kernel, principal) == set(passages)
    assert found(kernel, stranger) == set(theirs)


def order_of(texts: Sequence[str]) -> list[int]:
    return [int(text.split("entry ", 1)[1].split()[0]) for text in texts]


def test_the_newest_texts_are_embedded_first(
    kernel: Kernel, principal: Principal, passages: list[int], endpoint: EmbeddingsEndpoint
) -> None:
    switching.begin_switch(kernel, OTHER)
    run_pending(kernel)

    assert order_of(texts_sent(endpoint)) == list(range(9, -1, -1))
