from pathlib import Path
from typing import Any

from sqlalchemy import delete, select, update

from backread.domain import Principal
from backread.kernel import Kernel
from backread.store.models import Capture, Conversation, Message, Passage
from ingest.indexing import index_lexical
from ingest.rebuild import rebuild_account
from ingest.verify import verify_account
from tests.ingest.exports import chatgpt, claude, import_files, write


def _rows(kernel: Kernel, table: Any) -> list[tuple[Any, ...]]:
    left_out = {"changed_at", "imported_at"}
    with kernel.store.read() as session:
        columns = [each for each in table.__table__.columns if each.name not in left_out]
        return [tuple(row) for row in session.execute(select(*columns).order_by(table.id))]


def _import_some(kernel: Kernel, principal: Principal, folder: Path) -> None:
    """Two chats, one of which came as an old, a new and an older copy."""
    old = claude("b", ("a", "b", "gone later"))
    new = claude("b", ("a", "b, edited"), updated_at="2024-06-01T00:00:00Z")
    for name, content in {"1": [chatgpt("a"), old], "2": [new], "3": [old | {"x": 1}]}.items():
        import_files(kernel, principal, write(folder / f"{name}.json", content))


def test_a_rebuild_comes_to_what_the_imports_came_to(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    _import_some(kernel, principal, tmp_path)
    index_lexical(kernel, principal.account_id)
    before = [_rows(kernel, table) for table in (Conversation, Message, Passage)]
    result = rebuild_account(kernel, principal.account_id)
    assert (result.conversations, result.changed, result.failed) == (2, 0, 0)
    assert [_rows(kernel, table) for table in (Conversation, Message, Passage)] == before


def test_a_rebuild_restores_what_was_lost_or_changed_with_the_same_ids(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    _import_some(kernel, principal, tmp_path)
    before = [_rows(kernel, table) for table in (Conversation, Message)]
    with kernel.store.write() as session:
        session.execute(update(Message).values(text="garbled"))
        session.execute(update(Conversation).values(title="garbled", parser_version=0))
        session.execute(delete(Message).where(Message.external_id == "b-m1"))
    assert verify_account(kernel, principal.account_id).problems
    result = rebuild_account(kernel, principal.account_id)
    assert (result.conversations, result.changed, result.failed) == (2, 2, 0)
    assert [_rows(kernel, table) for table in (Conversation, Message)] == before
    assert verify_account(kernel, principal.account_id).problems == []


def test_a_capture_that_cannot_be_read_leaves_its_conversation_as_it_is(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    import_files(kernel, principal, write(tmp_path / "c.json", [chatgpt("a"), chatgpt("b")]))
    with kernel.store.write() as session:
        session.execute(
            update(Capture).where(Capture.external_id == "a").values(body=b"no zstd at all")
        )
    before = _rows(kernel, Message)
    result = rebuild_account(kernel, principal.account_id)
    assert (result.conversations, result.changed, result.failed) == (2, 0, 1)
    assert _rows(kernel, Message) == before


def test_a_rebuild_is_one_accounts(
    kernel: Kernel, principal: Principal, stranger: Principal, tmp_path: Path
) -> None:
    import_files(kernel, stranger, write(tmp_path / "c.json", [chatgpt()]))
    assert rebuild_account(kernel, principal.account_id).conversations == 0
