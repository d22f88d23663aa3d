from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from backread.domain import Principal
from backread.jobs import run_pending
from backread.kernel import Kernel
from backread.llm.language.openai_compatible import OpenAICompatibleModel
from backread.metering import StoreLedger
from backread.settings import Settings
from backread.store.models import Conversation, StoredSummary
from backread.store.repositories.summaries import find_summary
from recall.summarising import making, planning
from tests.ingest.exports import claude, import_files, write
from tests.language_model_server import LanguageModelServer, language_model_server
from tests.recall.chats import Chat, keep
from tests.recall.summarising.models import sensible

LATER = datetime(2024, 4, 1, tzinfo=UTC)


@pytest.fixture
def server() -> Iterator[LanguageModelServer]:
    with language_model_server() as server:
        server.answer = sensible
        yield server


@pytest.fixture
def settings(settings: Settings, server: LanguageModelServer) -> Settings:
    """With a language model."""
    return settings.model_copy(
        update={
            "llm_model": "test-model",
            "llm_base_url": server.base_url,
            "llm_price_in": 1.0,
            "llm_price_out": 4.0,
        }
    )


@pytest.fixture
def kernel(settings: Settings) -> Iterator[Kernel]:
    kernel = kernel_of(settings)
    yield kernel
    kernel.close()


def kernel_of(settings: Settings) -> Kernel:
    """Whose language model waits for nothing between two tries."""
    kernel = Kernel(settings)
    kernel.__dict__["language_model"] = OpenAICompatibleModel(
        settings, StoreLedger(kernel.store, settings), sleep=lambda seconds: None
    )
    return kernel


def boat(weeks: int = 70, title: str = "The boat", *, turns: Sequence[str] = ()) -> Chat:
    """A conversation of about 110 tokens a week."""
    said = [
        f"In week {number} the boat needs coat {number} of varnish on the hull. The harbour master "
        f"wants the papers for mooring {number} before the tide table changes again. "
        + "Nobody has seen the old anchor since the storm in the outer bay, and the rope is worn. "
        * 3
        for number in range(weeks)
    ]
    return Chat(title, [*said, *turns], LATER)


def imported(kernel: Kernel, principal: Principal, folder: Path, chat: Chat) -> str:
    """Brings the chat in as an export does, which may be a longer copy of one that is there."""
    import_files(kernel, principal, write(folder / "c.json", [claude("c", list(chat.turns))]))
    with kernel.store.read() as session:
        return session.scalars(select(Conversation.id)).one()


def accept(kernel: Kernel, principal: Principal) -> None:
    """Agrees to what is offered, and has it done."""
    status = planning.summary_status(kernel, principal)
    assert status is not None
    assert status.offer is not None
    planning.accept_estimate(kernel, principal, status.offer.until)
    run_pending(kernel, names=[making.SUMMARISE])


def summarise(kernel: Kernel, principal: Principal, *chats: Chat) -> list[str]:
    """Stores the chats and has them summarised."""
    ids = keep(kernel, principal, *chats, index=False)
    accept(kernel, principal)
    return ids


def stored(kernel: Kernel, principal: Principal, conversation_id: str) -> StoredSummary | None:
    with kernel.store.read() as session:
        return find_summary(session, principal.account_id, conversation_id)


def run_summaries(kernel: Kernel, principal: Principal) -> None:
    """Asks for summaries as an import does, and has them made."""
    with kernel.store.write() as session:
        making.after_change(kernel, session, principal.account_id)
    run_pending(kernel, names=[making.SUMMARISE])


@pytest.fixture
def travel(monkeypatch: pytest.MonkeyPatch) -> Callable[[timedelta], None]:
    """Lets time pass for plans and budgets."""
    offset = [timedelta()]

    def now() -> datetime:
        return datetime.now(UTC) + offset[0]

    for module in ("recall.summarising.planning", "recall.summarising.making", "backread.metering"):
        monkeypatch.setattr(f"{module}.utcnow", now)

    def pass_time(span: timedelta) -> None:
        offset[0] += span

    return pass_time
