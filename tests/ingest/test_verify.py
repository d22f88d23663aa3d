from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, update

from backread.domain import Principal
from backread.indexing import enqueue_embedding
from backread.jobs import run_pending
from backread.kernel import Kernel
from backread.store.models import Capture, Companion, Conversation, Import, Message, Passage
from backread.vectors.index import Collection, IndexFilter, IndexQuery
from ingest.indexing import reindex
from ingest.verify import verify_account
from tests.ingest.companions.exports import memories
from tests.ingest.exports import chatgpt, import_files, write
from tests.ingest.test_indexing import store_chat, store_memory

_INJURIES: list[tuple[str, Any]] = [
    ("does not add up", update(Import).values(found=99)),
    ("has changed", update(Capture).values(content_hash="0" * 64)),
    ("has changed", update(Capture).values(body=b"junk")),
    ("Companion", update(Companion).values(body=b"junk")),
    ("capture is missing", update(Conversation).values(capture_id="none")),
    ("one that is missing", update(Message).where(Message.position == 1).values(parent_id="gone")),
    ("gaps or repeats", update(Message).where(Message.position == 1).values(position=7)),
    ("current message", update(Conversation).values(current_message_id="other")),
    ("count of messages", update(Conversation).values(message_count=9)),
    ("its message's words", update(Passage).where(Passage.position == 0).values(text="other")),
    ("cannot be found", delete(Passage).where(Passage.position == 1)),
    ("gaps or repeats", update(Passage).where(Passage.position == 1).values(position=5)),
    (
        "no message on the shown line",
        update(Passage).where(Passage.position == 1).values(message_id="x"),
    ),
]


def test_a_sound_account_has_no_problems_and_everything_was_looked_at(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    import_files(kernel, principal, write(tmp_path / "c.json", [chatgpt("a"), chatgpt("b")]))
    result = verify_account(kernel, principal.account_id)
    assert result.problems == []
    assert (result.conversations, result.messages, result.passages) == (2, 4, 4)
    assert (result.captures, result.imports) == (2, 1)


@pytest.mark.parametrize(("words", "injury"), _INJURIES)
def test_each_injury_is_found_and_told(
    kernel: Kernel,
    principal: Principal,
    stranger: Principal,
    tmp_path: Path,
    words: str,
    injury: Any,
) -> None:
    companion = write(tmp_path / "m.json", [memories()])
    import_files(kernel, principal, write(tmp_path / "c.json", [chatgpt()]), companion)
    with kernel.store.write() as session:
        session.execute(injury)
    problems = verify_account(kernel, principal.account_id).problems
    assert any(words in problem for problem in problems)
    assert verify_account(kernel, stranger.account_id).problems == []


@pytest.mark.parametrize("collection", [Collection.PASSAGES, Collection.MEMORIES])
def test_what_the_index_has_lost_is_told_for_every_kind(
    kernel: Kernel, principal: Principal, collection: Collection
) -> None:
    store_chat(kernel, principal, "chat", ["green tea", "rye bread"])
    store_memory(kernel, principal, "likes tea")
    with kernel.store.write() as session:
        enqueue_embedding(session, principal.account_id)
    run_pending(kernel)
    assert index_problems(kernel, principal) == []

    points = [
        each.id
        for each in kernel.index.search(
            collection, [IndexQuery(IndexFilter(principal.account_id), 1, words="tea")]
        )[0]
    ]
    kernel.index.delete(collection, principal.account_id, points)

    (problem,) = index_problems(kernel, principal)
    assert collection.value in problem
    assert "backread reindex" in problem
    reindex(kernel, principal.account_id)
    run_pending(kernel)
    assert index_problems(kernel, principal) == []


def index_problems(kernel: Kernel, owner: Principal) -> list[str]:
    problems = verify_account(kernel, owner.account_id).problems
    return [each for each in problems if "search index" in each]
