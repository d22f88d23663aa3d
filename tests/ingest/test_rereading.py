"""Reading again is resumable: what was read is not read twice."""

from pathlib import Path

from sqlalchemy import func, select, update

from backread.domain import Principal
from backread.jobs import JobInterrupted, Progress, run_pending
from backread.kernel import Kernel
from backread.store.models import Conversation
from ingest.rereading import READ_AGAIN, request_rereading, reread_outdated, rereading_state
from ingest.verify import verify_account
from tests.ingest.exports import as_zip, claude, import_files


def _old(kernel: Kernel) -> int:
    with kernel.store.read() as session:
        count = select(func.count()).where(Conversation.parser_version == 0)
        return session.scalar(count) or 0


def test_reading_again_goes_on_where_it_was_stopped(
    kernel: Kernel, principal: Principal, tmp_path: Path
) -> None:
    raw = [claude(f"c{n}") for n in range(90)]
    import_files(kernel, principal, as_zip({"c.json": raw}, tmp_path / "c.zip"))
    with kernel.store.write() as session:
        session.execute(update(Conversation).values(parser_version=0, title="garbled"))
        request_rereading(session, principal)
    left: list[int] = []

    def stop(progress: Progress) -> None:
        assert progress.total == 90 or left
        left.append(_old(kernel))
        raise JobInterrupted

    while _old(kernel):
        run_pending(kernel, names=[READ_AGAIN], on_progress=stop)
        assert len(left) < 10
    assert left == sorted(left, reverse=True)
    assert left[0] < 90
    run_pending(kernel, names=[READ_AGAIN])
    with kernel.store.read() as reading:
        assert rereading_state(reading, principal).outdated == 0
        assert set(reading.scalars(select(Conversation.title))) == {"Kiln"}
    assert verify_account(kernel, principal.account_id).problems == []
    assert reread_outdated(kernel, principal.account_id) == 0
