"""What a call costs, as far as anybody knows."""

import pytest

from backread.llm.language.model import Usage
from backread.llm.language.pricing import money, price_of, price_table
from backread.settings import Settings


def priced(settings: Settings, model: str, **values: float | str) -> int | None:
    changed = settings.model_copy(update={"llm_model": model} | values)
    price = price_of(changed)
    return None if price is None else price.cost_micros(Usage(1_000_000, 100_000))


@pytest.fixture
def settings() -> Settings:
    return Settings()


@pytest.mark.parametrize(
    "name", ["gpt-4o-mini", "openai/gpt-4o-mini", "GPT-4o-mini", "gpt-4o-mini-2024-07-18"]
)
def test_a_well_known_model_has_its_list_price(settings: Settings, name: str) -> None:
    assert priced(settings, name) == 150_000 + 60_000


@pytest.mark.parametrize("name", ["smollm2", "gpt-4o-mini-but-mine", "qwen3:8b", ""])
def test_of_any_other_the_price_is_unknown_and_not_zero(settings: Settings, name: str) -> None:
    assert priced(settings, name) is None


def test_the_settings_own_price_goes_first(settings: Settings) -> None:
    assert priced(settings, "gpt-4o-mini", llm_price_in=0.0, llm_price_out=0.0) == 0
    assert priced(settings, "smollm2", llm_price_in=2.0) == 2_000_000


def test_the_table_says_when_it_was_made() -> None:
    table = price_table()
    assert table.version >= 1
    assert table.as_of.year >= 2026
    assert all(len(each) == 2 and min(each) > 0 for each in table.prices.values())


@pytest.mark.parametrize(
    ("micros", "text"),
    [
        (None, "price unknown"),
        (0, "0.00 USD"),
        (50, "under 0.0001 USD"),
        (42_800, "0.0428 USD"),
        (1_234_567_890, "1,234.57 USD"),
    ],
)
def test_sums_are_written_so_that_they_say_something(micros: int | None, text: str) -> None:
    assert money(micros, "USD") == text
