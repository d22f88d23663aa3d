"""What a call costs, in whole millionths of the currency."""

import math
import re
import tomllib
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files

from backread.llm.language.model import Usage
from backread.settings import Settings

# A version of a model that its maker has frozen: gpt-4o-mini-2024-07-18, claude-…-20250929.
_FROZEN = re.compile(r"-(?:20\d\d-\d\d-\d\d|20\d{6}|latest|preview)$")


@dataclass(frozen=True, slots=True)
class Price:
    """In the currency per million tokens, which is millionths of the currency per token."""

    per_million_in: float
    per_million_out: float
    currency: str

    def cost_micros(self, usage: Usage) -> int:
        """Rounded up."""
        spent = usage.tokens_in * self.per_million_in + usage.tokens_out * self.per_million_out
        return math.ceil(round(spent, 6))


@dataclass(frozen=True, slots=True)
class PriceTable:
    """List prices on the day `as_of`."""

    version: int
    as_of: date
    currency: str
    prices: dict[str, tuple[float, float]]

    def find(self, model: str) -> Price | None:
        """By the model's own name, with or without its maker's before it and a date behind."""
        name = model.lower().rsplit("/", 1)[-1]
        found = self.prices.get(name) or self.prices.get(_FROZEN.sub("", name))
        return None if found is None else Price(*found, self.currency)


@cache
def price_table() -> PriceTable:
    text = files("backread.llm.language").joinpath("prices.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
    return PriceTable(
        version=int(table["version"]),
        as_of=table["as_of"],
        currency=str(table["currency"]),
        prices={name: (float(each[0]), float(each[1])) for name, each in table["prices"].items()},
    )


def price_of(settings: Settings) -> Price | None:
    """The configured model's price: the settings' own when they name one, else the table's, else
    None, which means unknown and not free."""
    if settings.llm_price_in is not None or settings.llm_price_out is not None:
        return Price(
            settings.llm_price_in or 0.0, settings.llm_price_out or 0.0, settings.llm_currency
        )
    return price_table().find(settings.llm_model)


def money(micros: int | None, currency: str) -> str:
    """Such as "1.20 USD"; small amounts keep two digits that say something."""
    if micros is None:
        return "price unknown"
    amount = micros / 1_000_000
    if micros == 0 or amount >= 0.1:
        return f"{amount:,.2f} {currency}"
    if micros < 100:
        return f"under 0.0001 {currency}"
    return f"{amount:.4f} {currency}"
