from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from backread.llm.language.gate import Gate
from backread.llm.language.openai_compatible import OpenAICompatibleModel
from backread.llm.language.prompt import Data, Prompt
from backread.metering import StoreLedger
from backread.settings import Settings
from backread.store.engine import Store
from backread.store.repositories.usage import Spent, spent_since
from tests.language_model_server import LanguageModelServer, language_model_server


class Note(BaseModel):
    """The shape that these tests ask for."""

    text: str


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self.moment = 1000.0

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.moment += seconds

    def now(self) -> float:
        return self.moment


Connect = Callable[..., OpenAICompatibleModel]


@pytest.fixture
def server() -> Iterator[LanguageModelServer]:
    with language_model_server() as server:
        yield server


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def connect(server: LanguageModelServer, settings: Settings, store: Store, clock: Clock) -> Connect:
    """A model behind the scripted server, with further settings."""

    def connected(**changes: Any) -> OpenAICompatibleModel:
        values = {"llm_model": "test-model", "llm_base_url": server.base_url} | changes
        changed = settings.model_copy(update=values)
        return OpenAICompatibleModel(
            changed,
            StoreLedger(store, changed),
            sleep=clock.sleep,
            gate=Gate(changed.llm_concurrency, now=clock.now),
        )

    return connected


def prompt_with(*texts: str) -> Prompt:
    return Prompt("summarise_part", values=VALUES, data=[Data(text, "message 1") for text in texts])


VALUES: dict[str, str | int] = {"language": "English", "sentences": 5}


def spent(store: Store, account_id: str) -> Spent:
    with store.read() as session:
        return spent_since(session, account_id, "2000-01-01")
